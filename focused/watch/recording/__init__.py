"""Paths that somebody shows by browsing: pages without their scripts, what is said of them, and what follows."""
