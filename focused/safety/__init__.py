"""What keeps a crawl where it belongs: which links and addresses it may follow, and how hosts are spared."""
