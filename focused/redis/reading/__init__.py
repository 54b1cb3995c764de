"""What is read of a crawl in Redis: the reader that `scrapy status`, `report`, `why` and `export` go through."""
