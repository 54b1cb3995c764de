"""Judges of links."""
