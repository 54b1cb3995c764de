"""What the workers of one crawl do together, when its frontier is in Redis."""
