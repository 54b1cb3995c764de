"""What a job tells of itself: charts, the report, and why a page was fetched."""
