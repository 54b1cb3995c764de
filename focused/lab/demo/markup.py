"""HTML of the generated webs."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

Anchor = tuple[str, str]


def link(url: str, text: str) -> str:
    """An anchor."""
    return f'<a href="{escape(url)}">{escape(text)}</a>'


def bullets(links: Iterable[Anchor], kind: str = "") -> str:
    """A list of links."""
    items = "".join(f"<li>{link(url, text)}</li>\n" for url, text in links)
    return f'<ul class="{kind}">\n{items}</ul>' if kind else f"<ul>\n{items}</ul>"


def bar(links: Iterable[Anchor]) -> str:
    """A navigation bar in one line."""
    return f'<div id="nav">{" | ".join(link(url, text) for url, text in links)}</div>'


def table(links: Iterable[Anchor]) -> str:
    """A navigation bar as tables were once used for it."""
    cells = "".join(f"<td>{link(url, text)}</td>" for url, text in links)
    return f'<table width="100%" border="0"><tr>{cells}</tr></table>'


def paragraphs(texts: Iterable[str]) -> str:
    """Paragraphs of plain text."""
    return "\n".join(f"<p>{escape(text)}</p>" for text in texts)


def document(title: str, body: str, *, language: str = "en", charset: str = "utf-8") -> str:
    """A whole page."""
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head><meta charset="{charset}"><title>{escape(title)}</title>'
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )
