"""Judges of pages, from papers."""
