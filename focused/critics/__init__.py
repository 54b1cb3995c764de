"""Judges of pages."""
