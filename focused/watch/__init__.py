"""The wing with a page to watch crawls, and to mark pages on it: `scrapy watch`; and one to record paths."""
