"""Pages as somebody would browse them, without a network."""

from __future__ import annotations

from asyncio import Event
from collections.abc import Mapping

from focused.pages.fetched import NoPage
from focused.watch.recording.browsing import Opened

U = "http://u.example"
COURSES = 'name = "courses"\nkeywords = ["course"]\n'
UNIVERSITY = {
    f"{U}/": '<title>Home</title><a href="/cs">Department</a> <a href="/news">News</a> <a href="/jobs">Jobs</a>',
    f"{U}/cs": '<title>CS</title><a href="/ann">Ann</a> <a href="/bob">Bob</a> <a href="/">Home</a>',
    f"{U}/ann": '<title>Ann</title><a href="/cs1">CS 1</a>',
    f"{U}/bob": '<title>Bob</title><a href="/cs2">CS 2</a>',
    f"{U}/cs1": "<title>CS 1</title><p>A course: lectures and homework.</p>",
    f"{U}/cs2": "<title>CS 2</title><p>A course: exams and grades.</p>",
    f"{U}/news": "<title>News</title><p>A new building.</p>",
    f"{U}/jobs": "<title>Jobs</title><p>An open position.</p>",
}


class FewPages:
    """Pages by name, each with the names of those that it links to; ``held`` ones come when they are let go."""

    def __init__(self, links: Mapping[str, str], html: str = "") -> None:
        self.links, self.html = links, html
        self.asked: list[str] = []
        self.held: dict[str, Event] = {}

    async def get(self, url: str) -> Opened:
        name = url.removeprefix(f"{U}/")
        self.asked.append(name)
        if name in self.held:
            await self.held[name].wait()
        if name not in self.links:
            raise NoPage("the server answered 404")
        links = [f"{U}/{one}" for one in self.links[name].split()]
        return Opened([url], name.title(), self.html or f"<p>{name}</p>", links)
