"""Judges of links, from papers and classics."""
