"""Packages that a small installation leaves out, and which extra brings each."""

from __future__ import annotations

from importlib.util import find_spec

EXTRAS = {
    "fastwarc": "warc",
    "hiredis": "redis",
    "redis": "redis",
    "scrapy_redis": "redis",
    "starlette": "watch",
    "textblob": "papers",
    "uvicorn": "watch",
    "uvloop": "uvloop",
}
"""Import name → extra (`project.optional-dependencies` in pyproject.toml)."""

VECTORS = "wordllama"
"""The package with word vectors that we can read (`focused.critics.wordllama`). No extra brings it."""


def is_installed(package: str) -> bool:
    """Can an optional package be imported?"""
    return find_spec(package) is not None


def need(package: str, what: str) -> None:
    """ValueError if an optional package is missing that a setting (``what``) needs."""
    if not is_installed(package):
        raise ValueError(f"{what}: {_what_to_install(package)}")


def way_out(error: ImportError) -> str:
    """What to install when the import of an optional package failed; nothing if it was another one."""
    package = (error.name or "").partition(".")[0]
    return _what_to_install(package) if package in EXTRAS else ""


def _what_to_install(package: str) -> str:
    return f"the package {package!r} is not installed: pip install 'focused[{EXTRAS[package]}]'"
