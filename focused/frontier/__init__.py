"""All links of a crawl, in order: what a store promises, and the store in a folder. No Scrapy."""
