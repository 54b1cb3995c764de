"""Teaching prioritizers before a crawl."""
