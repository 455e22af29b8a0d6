"""Extensions: what runs beside a crawl. One module each; addon.py says which are on."""
