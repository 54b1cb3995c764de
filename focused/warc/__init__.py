"""WARC files: reading what was recorded, recording what is fetched."""
