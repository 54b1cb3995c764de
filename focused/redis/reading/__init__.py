"""How a crawl in Redis stands, and what it has found."""
