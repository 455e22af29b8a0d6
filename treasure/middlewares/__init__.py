"""Scrapy middlewares: scoring, landing, politeness."""
