"""The command of the page to watch crawls: ``scrapy watch``."""
