"""The repository: everything a crawl fetched and measured, in one SQL database."""
