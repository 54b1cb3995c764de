"""Helpers for tests of crawls: a local web that can misbehave, hostile pages, and a crawl in one call."""
