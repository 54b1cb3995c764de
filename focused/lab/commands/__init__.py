"""The commands of experiments: ``scrapy compare``, ``demo``, ``replay``."""
