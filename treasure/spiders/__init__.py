"""Spiders: Scrapy's door to the pages."""
