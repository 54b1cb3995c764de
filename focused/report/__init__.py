"""What a user sees of a crawl that has ended."""
