"""Scrapy's side of the frontier: who hands out requests, and what becomes of them."""
