"""One crawl on many machines: the frontier, lessons and model in one Redis."""
