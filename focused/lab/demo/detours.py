"""Links that do not lead straight to the page they name: moved, copied, gone, not a page at all."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from urllib.parse import urlsplit

from focused.lab.demo.web import GeneratedWeb

# Of all links: how many take each detour, which is a method of `Detours`.
_SHARES = {"": 0.885, "moved": 0.03, "chain": 0.015, "copy": 0.02, "dead": 0.03, "paper": 0.015, "loop": 0.005}
_PDF = b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"
THREADS = 12
_SESSIONS = 12


class Detours:
    """Gives the addresses that links are written with, and keeps what they promise.

    ``sessions`` are those that links to the forum carry.
    """

    def __init__(self, web: GeneratedWeb, random: Random) -> None:
        self.random = random
        self._web = web
        self._copies: dict[str, str] = {}
        self.sessions = [f"{random.getrandbits(64):016x}" for _ in range(_SESSIONS)]

    def address(self, url: str) -> str:
        """An address for a link to ``url``: mostly itself."""
        kind = self.random.choices(list(_SHARES), list(_SHARES.values()))[0]
        if not kind:
            return url
        parts = urlsplit(url)
        take: Callable[[str, str, str], str] = getattr(self, f"_{kind}")
        return take(f"{parts.scheme}://{parts.netloc}", parts.path.rpartition("/")[2], url)

    def thread(self) -> str:
        """An address in the forum, with somebody's session in it."""
        return f"/forum/{self.random.randint(1, THREADS)}.php?sid={self.random.choice(self.sessions)}"

    def finish(self) -> None:
        """Make the copies, now that the originals are written."""
        for copy, url in self._copies.items():
            self._web.pages[copy] = self._web.pages[url]
            self._web.label(copy, self._web.classes[url], self._web.titles[url])
            self._web.hidden.add(copy)

    def _moved(self, host: str, name: str, url: str) -> str:
        status = self.random.choice((301, 301, 302))
        self._web.move(f"{host}/go/{status}/{name}", url, status)
        return f"{host}/go/{status}/{name}"

    def _chain(self, host: str, name: str, url: str) -> str:
        self._web.move(f"{host}/1998/{name}", f"{host}/2001/{name}")
        self._web.move(f"{host}/2001/{name}", f"/2009/{name}", 302)
        self._web.move(f"{host}/2009/{name}", url)
        return f"{host}/1998/{name}"

    def _copy(self, host: str, name: str, url: str) -> str:
        self._copies[f"{host}/print/{name}"] = url
        return f"{host}/print/{name}"

    def _dead(self, host: str, name: str, url: str) -> str:
        return f"{host}/gone/{name}"

    def _paper(self, host: str, name: str, url: str) -> str:
        address = f"{host}/papers/{name.removesuffix('.html')}.pdf"
        self._web.add(address, _PDF, kind="application/pdf")
        return address

    def _loop(self, host: str, name: str, url: str) -> str:
        self._web.move(f"{host}/round", f"{host}/and-round", 302)
        self._web.move(f"{host}/and-round", f"{host}/round", 302)
        return f"{host}/round"
