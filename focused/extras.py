"""Packages that a small installation leaves out, and which extra brings each."""

from __future__ import annotations

from importlib.util import find_spec

EXTRAS = {
    "fastwarc": "warc",
    "hiredis": "redis",
    "redis": "redis",
    "scrapy_redis": "redis",
    "textblob": "papers",
    "uvloop": "uvloop",
    "warcio": "warc",
}
"""Import name → extra (`project.optional-dependencies` in pyproject.toml)."""


def is_installed(package: str) -> bool:
    """Can an optional package be imported?"""
    return find_spec(package) is not None


def way_out(error: ImportError) -> str:
    """What to install when the import of an optional package failed; nothing if it was another one."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(package)
    return f"the package {package!r} is not installed: pip install 'focused[{extra}]'" if extra else ""
