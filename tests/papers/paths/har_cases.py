"""HAR files for tests, as browsers write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ACCEPT = "text/html,application/xhtml+xml,*/*;q=0.8"
U = "https://u.example.org"


def entry(
    url: str,
    *,
    referer: str = "",
    dest: str | None = "document",
    status: int = 200,
    to: str = "",
    html: str | None = None,
    mime: str = "text/html; charset=utf-8",
    method: str = "GET",
    accept: str = ACCEPT,
    **more: Any,
) -> dict[str, Any]:
    """An entry. ``dest`` is Sec-Fetch-Dest; ``to`` where it is redirected; ``more`` are keys of the entry itself."""
    headers = {"Accept": accept, "referer": referer, "Sec-Fetch-Dest": dest}
    content = {"mimeType": mime, "size": 1} | ({} if html is None else {"text": html})
    return {
        "startedDateTime": "2026-11-20T11:47:13.543Z",
        "request": {
            "method": method,
            "url": url,
            "headers": [{"name": name, "value": value} for name, value in headers.items() if value],
        },
        "response": {"status": status, "redirectURL": to, "content": content},
    } | more


def links(*urls: str, title: str = "") -> str:
    """A page with links."""
    return f"<title>{title}</title>" + "".join(f"<a href='{url}'>x</a> " for url in urls)


def write_har(file: Path, entries: Sequence[Any], **log: Any) -> str:
    """A HAR file; its name."""
    file.write_text(json.dumps({"log": {"version": "1.2", "pages": [], "entries": entries} | log}))
    return str(file)


def tour_of_a_university() -> list[dict[str, Any]]:
    """From the home page to the news, back, and over two pages to a course."""
    return [
        entry(f"{U}/", html=links("/news", "/cs", title="Home")),
        entry(f"{U}/news", referer=f"{U}/", html=links(title="News")),
        entry(f"{U}/cs", referer=f"{U}/", status=302, to="/cs/index.html"),
        entry(f"{U}/cs/index.html", referer=f"{U}/", html=links("/ann", title="CS")),
        entry(f"{U}/logo.png", referer=f"{U}/cs/index.html", dest="image", mime="image/png"),
        entry(f"{U}/frame", referer=f"{U}/cs/index.html", dest="iframe", html=links("/x")),
        entry(f"{U}/ann", referer=f"{U}/cs/index.html", html=links("/cs1", title="Ann")),
        entry(f"{U}/cs1", referer=f"{U}/ann", html=links(title="Course 1")),
    ]
