"""How focused a crawl is, measured on webs with known truth."""
