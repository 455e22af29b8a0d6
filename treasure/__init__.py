"""Treasure: a focused web crawler for Scrapy."""

__version__ = "0.1.0"
