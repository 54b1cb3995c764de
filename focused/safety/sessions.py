"""Session ids and tracking marks in addresses: what makes many addresses of one page."""

from __future__ import annotations

import re

from focused.pages.urls import join

# Taken out whatever their value is.
_SESSIONS = """
    phpsessid jsessionid aspsessionid asp.net_sessionid cfid cftoken zenid oscsid osicsid sessionid session_id
    gclid gclsrc dclid fbclid msclkid yclid twclid igshid mc_cid mc_eid _ga _gl wickedid
"""
_NAMES = frozenset(_SESSIONS.split())
_PREFIXES = ("utm_", "aspsessionid", "mtm_", "pk_", "hsa_")
# Taken out if the value looks like a session id: the names are used for other things, too.
_DOUBTFUL = frozenset({"sid", "s", "sess", "session", "sessid", "ssid", "psid"})
_ID = re.compile(r"(?=[^&]*\d)(?:[0-9a-f]{16,}|[0-9a-z,_-]{22,})", re.IGNORECASE)
_IN_PATH = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^/?;#]*", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"/\([a-z]\([0-9a-z]{20,}\)\)(?=/|$)|/\([0-9a-z]{24}\)(?=/|$)", re.IGNORECASE)


def clean(url: str) -> str:
    """The address without session ids and tracking marks; nothing else is changed."""
    path, mark, query = url.partition("?")
    if ";" in path or "/(" in path:
        path = _without_sessions(path)
    if not mark:
        return path
    parts = query.split("&")
    kept = [part for part in parts if not _is_mark(part)]
    if len(kept) == len(parts):
        return f"{path}?{query}"
    return f"{path}?{'&'.join(kept)}" if kept else path


def _without_sessions(address: str) -> str:
    # A host may look like a session id, too.
    begin = (address + "/").find("/", len("https://"))
    path = _IN_BRACKETS.sub("", _IN_PATH.sub("", address[begin:]))
    # What is left of "/x/..;sid=1/" leads elsewhere.
    return address if path == address[begin:] else join(address[:begin] + path, "") or address


def _is_mark(part: str) -> bool:
    name, _, value = part.partition("=")
    name = name.lower()
    if name in _NAMES or name.startswith(_PREFIXES):
        return True
    return name in _DOUBTFUL and _ID.fullmatch(value) is not None
