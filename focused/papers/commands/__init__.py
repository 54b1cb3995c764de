"""The command of path models: ``scrapy paths``."""
