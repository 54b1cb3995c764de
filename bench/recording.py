"""Ways recorded on the page of ``scrapy paths record``, in Chromium, by somebody who knows which pages are goals.

    python -m bench.recording WEB.warc.gz LABELS.tsv TOPICS.json course@texas paths.jsonl

From the root of a site it clicks its way to goals, says what each page on the way is, and tries as many pages beside
these ways that are no goals. Which ones is drawn by ``--seed``.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright
from scrapy.http import TextResponse

from focused.pages.page import PageLimits
from focused.papers.paths.topics import read_labels
from focused.papers.paths.visited import LONGEST_WAY
from focused.responses import response_to_page_now
from focused.teaching.gathering import responses_of
from focused.warc.web import Web, normal_form

_FURTHEST = 5
_NAMES = ("department", "faculty", "staff", "student", "project")


class Site:
    """What somebody knows of a site: its pages within some clicks of the root, and what they are."""

    def __init__(self, web: Web, labels: dict[str, list[str]], root: str) -> None:
        self._web = web
        self._labels = {normal_form(url): each for url, each in labels.items()}
        self._links: dict[str, list[str]] = {}
        self.before: dict[str, str] = {}
        far, queue = {root: 0}, deque([root])
        while queue:
            page = queue.popleft()
            for url in self.links(page) if far[page] < _FURTHEST else ():
                if url not in far and web.find(url) >= 0:
                    far[url], self.before[url] = far[page] + 1, page
                    queue.append(url)
        self.pages = list(far)

    def links(self, url: str) -> list[str]:
        """The links of a page, as our page numbers them."""
        if url not in self._links:
            response = responses_of(self._web, url)[-1]
            found: list[str] = []
            if isinstance(response, TextResponse) and response.status == 200:
                found = response_to_page_now(response, PageLimits()).links.urls
            self._links[url] = list(dict.fromkeys(found))
        return self._links[url]

    def is_page(self, url: str) -> bool:
        """Can it be shown?"""
        response = responses_of(self._web, url)[-1]
        return isinstance(response, TextResponse) and response.status == 200

    def label(self, url: str) -> str:
        """What a page is; nothing if that is not known."""
        every = {name for one in responses_of(self._web, url) for name in self._labels.get(normal_form(one.url), ())}
        return next(iter(sorted(every)), "")

    def way_to(self, url: str) -> list[str]:
        """A shortest way from the root."""
        way = [url]
        while way[-1] in self.before:
            way.append(self.before[way[-1]])
        return way[::-1][:LONGEST_WAY]


class Person:
    """Clicks in the frame, presses keys beside it."""

    def __init__(self, tab: Tab, site: Site, root: str) -> None:
        self._tab, self._site, self._root = tab, site, root
        self._said: set[str] = set()

    def _state(self) -> Any:
        return self._tab.context.request.get(self._tab.url + "api/state").json()

    def _do(self, act: Callable[[], object]) -> Any:
        """What is to be seen after a click or a key; it is lost if the frame is just being filled."""
        before, waits = self._state()["number"], 0
        act()
        while (state := self._state())["number"] == before or state["fetching"]:
            self._tab.wait_for_timeout(20)
            waits += 1
            if waits % 50 == 0 and not state["fetching"]:
                act()
        self._tab.locator(f'body[data-number="{state["number"]}"]').wait_for()
        return state

    def walk(self, way: list[str], last: str) -> bool:
        """Follow a way from the root; the last page is said to be this."""
        self._tab.fill("#address", self._root)
        self._do(lambda: self._tab.press("#address", "Enter"))
        for here, there in pairwise(way):
            self._name(here)
            link = self._tab.frame_locator("#page").locator(f'a[href="{self._site.links(here).index(there)}"]').first
            if self._do(link.click)["problem"]:
                return False
        self._tab.locator("#bar").focus()
        if self._state()["label"]:
            return False
        self._do(lambda: self._tab.keyboard.press(last))
        return True

    def _name(self, url: str) -> None:
        name = self._site.label(url)
        if name in _NAMES and url not in self._said and not self._state()["label"]:
            self._said.add(url)
            self._tab.locator("#bar").focus()
            self._tab.keyboard.press("m")
            self._tab.fill("#name", name)
            self._do(lambda: self._tab.press("#name", "Enter"))


def main() -> None:
    """Record, and say how much."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("web", "labels", "topics", "topic", "out"):
        parser.add_argument(name)
    parser.add_argument("--each", type=int, default=6, help="ways to goals, and as many that fail")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    given = parser.parse_args()
    topic = json.loads(Path(given.topics).read_text("utf-8"))[given.topic]
    root, (goal, *_) = topic["seeds_root"][0], topic["focus"]
    site = Site(Web.open(given.web), read_labels(given.labels), root)
    drawn = random.Random(given.seed)
    targets = {normal_form(url) for url in topic["target_urls"]}
    goals = [url for url in site.pages if normal_form(url) in targets]
    drawn.shuffle(goals)
    command = [sys.executable, "-m", "scrapy", "paths", "record", goal, "--start", root, "--web", given.web]
    process = subprocess.Popen([*command, "--out", given.out, "--port", "0"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().split()[1]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.goto(address)
        tab.wait_for_url("**/")
        tab.locator("#url").get_by_text(root).wait_for()
        person, ways = Person(tab, site, root), list[list[str]]()
        for url in goals:
            if len(ways) < given.each and person.walk(site.way_to(url), "g"):
                ways.append(site.way_to(url))
        on_ways, failed = {url for way in ways for url in way}, 0
        while failed < given.each:
            way = drawn.choice(ways)[:-1]
            here = drawn.randrange(len(way))
            beside = [url for url in site.links(way[here]) if url not in on_ways and site.is_page(url)]
            beside = [url for url in beside if site.label(url) != goal]
            if beside:
                failed += person.walk([*way[: here + 1], drawn.choice(beside)], "n")
        tab.click("#finish")
        print(process.stdout.read(), end="")
        browser.close()
    process.wait(60)


if __name__ == "__main__":
    main()
