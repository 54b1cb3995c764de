"""Helpers for tests: a Redis server, several workers."""
