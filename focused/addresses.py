"""Addresses and host names as users write them: checked, and normalised as browsers do."""

from __future__ import annotations

import re

from focused.pages.urls import join, url_to_host

_HOST = re.compile(r"[^\s,;/@?#\\]+")
# An empty label or a wildcard, however it was written: no host has such a name.
_NOBODYS = re.compile(r"^\.|\.\.|\*")


def to_url(text: str) -> str:
    """A normalised http(s) address."""
    url = join(text, text) if re.match(r"https?://", text, re.IGNORECASE) else ""
    if not url or any(mark in url_to_host(url) for mark in ",;"):
        raise ValueError(f"{text!r} is not an http(s) address{_meant(text)}")
    return url


def to_host(text: str) -> str:
    """A host name in lower case, international ones in their ASCII form, as they stand in addresses."""
    name = text.strip().removeprefix("*").removeprefix(".")
    if "://" in name or "/" in name:
        raise ValueError(f"{text!r} is an address: give the host name alone{_host_of(name)}")
    port = re.fullmatch(r"([^:\[\]]+):(\d+)", name)
    if port:
        raise ValueError(f"{text!r} has a port: give the host name alone, {port[1]!r}")
    host = url_to_host(join("http://x/", f"http://{name}/")) if _HOST.fullmatch(name) else ""
    if not host or _NOBODYS.search(host):
        raise ValueError(f"{text!r} is not a host name such as 'example.org'")
    return host


def _meant(text: str) -> str:
    """What an address without its scheme was probably meant for."""
    name = text.partition("/")[0]
    if "://" in text or "." not in name or not _HOST.fullmatch(name) or not join(f"https://{text}", ""):
        return ""
    return f"; did you mean {'https://' + text!r}?"


def _host_of(text: str) -> str:
    host = url_to_host(join("http://x/", text if "://" in text else f"http://{text}"))
    return f", {host!r}" if host else ""
