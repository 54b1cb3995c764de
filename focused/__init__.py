"""A focused crawler: the names that other projects build on."""

__version__ = "0.1.0"
