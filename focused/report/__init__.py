"""What a user sees of a crawl: its report, its status, why a page was fetched, its items again."""
