"""Where somebody is who browses: the page shown, the way back, what is being fetched and what went wrong."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from focused.addresses import to_url
from focused.pages.fetched import NoPage
from focused.papers.paths.path import FAIL, GOAL, Path
from focused.papers.paths.visited import NOT
from focused.report.text import clean, short
from focused.watch.recording.browsing import Opened
from focused.watch.recording.clicks import ShownClicks

_MOST_KEPT = 32 * 2**20
_MOST_WAYS = 200
_LONGEST = 500


class GetsPages(Protocol):
    """What fetches pages."""

    async def get(self, url: str) -> Opened:
        """The page at an address, or NoPage."""


class Session:
    """One person's browsing, in however many windows; ``number`` grows whenever there is something new to see."""

    def __init__(self, clicks: ShownClicks, pages: GetsPages) -> None:
        self._clicks, self._pages = clicks, pages
        self.number = 0
        self.at = -1
        self.problem = ""
        self._fetching = ""
        self._back: list[int] = []
        # Whoever clicks again does not wait for the page any more that was to come.
        self._turn = 0
        self._settled = asyncio.Event()
        self._settled.set()
        self._shown: dict[int, Opened] = {}

    # --- pages ---------------------------------------------------------------------------------------------------

    async def open(self, text: str) -> None:
        """Begin a way at an address. ValueError if it is none."""
        await self._open(to_url(text.strip()), -1)

    async def follow(self, page: int, link: int) -> None:
        """Follow a link of a page that was visited."""
        if (links := (await self._page(page)).links)[link : link + 1]:
            await self._open(links[link], page)

    async def page(self, number: int) -> Opened:
        """A page that was visited, which is shown from now on. NoPage says why it cannot be."""
        opened = await self._page(number)
        if number != self.at or self.problem or self._fetching:
            self._go(number)
        return opened

    async def settled(self) -> None:
        """Wait for the page that is being fetched, if there is one."""
        await self._settled.wait()

    def back(self) -> None:
        """Return to where the page was reached from; from what is not shown (yet), to the page itself."""
        if not (self.problem or self._fetching) and self._back:
            self.at = self._back.pop()
        self._turn += 1
        self._rest()

    async def _open(self, url: str, before: int) -> None:
        """Fetch a page and go there, unless somebody has gone elsewhere meanwhile."""
        self._turn += 1
        turn = self._turn
        self._fetching, self.problem = url, ""
        self._settled.clear()
        self.number += 1
        try:
            opened = await self._pages.get(url)
            if turn == self._turn:
                number = self._clicks.visit(opened.urls, before, opened.title)
                self._keep(number, opened)
                self._go(number)
        except (NoPage, OSError) as error:
            if turn == self._turn:
                self._rest(f"{short(url, _LONGEST)} cannot be shown: {short(clean(str(error)), _LONGEST)}")

    async def _page(self, number: int) -> Opened:
        """NoPage if it was not visited, or does not come any more."""
        if number in self._shown:
            return self._shown[number]
        if not 0 <= number < len(self._clicks.tour.pages):
            raise NoPage("this page was not visited")
        opened = await self._pages.get(self._clicks.tour.pages[number].url)
        self._keep(number, opened)
        return opened

    def _go(self, number: int) -> None:
        if self._back and self._back[-1] == number:
            self._back.pop()
        elif self.at not in {-1, number}:
            self._back.append(self.at)
        self.at = number
        self._turn += 1
        self._rest()

    def _rest(self, problem: str = "") -> None:
        """Nothing is being fetched any more."""
        self.problem, self._fetching = problem, ""
        self._settled.set()
        self.number += 1

    def _keep(self, number: int, opened: Opened) -> None:
        self._shown[number] = opened
        while len(self._shown) > 1 and sum(len(one.html) for one in self._shown.values()) > _MOST_KEPT:
            del self._shown[next(iter(self._shown))]

    # --- what is said --------------------------------------------------------------------------------------------

    def label(self, page: int, label: str) -> None:
        """Say what the page is that is shown; the same again takes it back. ValueError if that cannot be said."""
        if page != self.at or self.problem:
            raise ValueError("another page is shown by now: look at it first")
        is_again = self._clicks.labels.get(page) == label
        try:
            self._clicks.label(page, "" if is_again else label)
        finally:
            # The click may be kept though the paths could not be written.
            self.number += 1
        if label == NOT and not is_again:
            self.back()

    def undo(self) -> None:
        """Take back what was said last, and show that page. ValueError if nothing was."""
        page = self._clicks.undo()
        if page != self.at:
            self._go(page)
        self.number += 1

    # --- what is to be seen --------------------------------------------------------------------------------------

    def view(self) -> dict[str, Any]:
        """All that is shown beside the page, as plain data."""
        clicks, ways = self._clicks, self._clicks.ways()
        shown = clicks.tour.pages[self.at] if self.at >= 0 else None
        ends = [path.end for path in ways.paths]
        return {
            "number": self.number,
            "at": self.at,
            "url": shown.url if shown else "",
            "title": shown.title if shown else "",
            "label": clicks.labels.get(self.at, ""),
            "problem": self.problem,
            "fetching": self._fetching,
            "can_go_back": bool(self._back or self.problem),
            "can_undo": clicks.can_undo,
            "milestones": clicks.milestones(),
            "goals": ends.count(GOAL),
            "failures": ends.count(FAIL),
            "ways": [self._way(path) for path in ways.paths[-_MOST_WAYS:]],
            "unreached": ways.unreached[-_MOST_WAYS:],
            "file": str(clicks.out),
        }

    def _way(self, path: Path) -> dict[str, Any]:
        titles = {page.url: page.title for page in self._clicks.tour.pages}
        steps = [{"url": one.url, "title": titles.get(one.url, ""), "label": one.label} for one in path.steps]
        return {"end": path.end, "steps": steps}
