"""A local web for tests, however badly it behaves, and a crawl through it in one call."""
