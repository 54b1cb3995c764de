"""Where one is: by links, by the way back, and while pages are slow or do not come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from focused.pages.fetched import NoPage
from focused.papers.paths.path import GOAL
from focused.papers.paths.visited import NOT
from focused.watch.recording import session as module
from focused.watch.recording.clicks import ShownClicks
from focused.watch.recording.session import Session
from tests.watch.recording.pages import FewPages, U

HOME, CS, NEWS, GONE = 0, 0, 1, 2


@pytest.fixture
def clicks(tmp_path: Path) -> Iterator[ShownClicks]:
    with closing(ShownClicks(tmp_path / "paths.jsonl")) as opened:
        yield opened


@pytest.fixture
def pages() -> FewPages:
    return FewPages({"": "cs news gone", "cs": "cs1", "cs1": "", "news": ""})


def run(clicks: ShownClicks, pages: FewPages, browse: Callable[[Session], Awaitable[None]]) -> Session:
    session = Session(clicks, pages)

    async def all_of_it() -> None:
        await session.open(f" {U}/ ")
        await browse(session)

    asyncio.run(all_of_it())
    return session


def where(session: Session) -> tuple[str, str]:
    view = session.view()
    return view["url"].removeprefix(f"{U}/"), view["problem"]


def test_links_lead_on_and_back_leads_back(clicks: ShownClicks, pages: FewPages) -> None:
    async def browse(session: Session) -> None:
        await session.follow(0, CS)
        await session.follow(1, 0)
        assert where(session) == ("cs1", "")
        session.label(2, GOAL)
        session.back()
        session.back()
        assert (where(session), session.view()["can_go_back"]) == (("", ""), False)
        session.back()
        assert where(session) == ("", "")
        await session.follow(0, NEWS)
        # What is not it, one does not look at any longer.
        session.label(3, NOT)
        assert where(session) == ("", "")

    view = run(clicks, pages, browse).view()
    ways = [[(step["title"], step["label"]) for step in way["steps"]] for way in view["ways"]]
    assert ways == [[("", ""), ("Cs", ""), ("Cs1", GOAL)], [("", ""), ("News", "fail")]]
    assert (view["goals"], view["failures"], view["can_undo"]) == (1, 1, True)


def test_the_browsers_own_way_back_is_one_too(clicks: ShownClicks, pages: FewPages) -> None:
    async def browse(session: Session) -> None:
        await session.follow(0, CS)
        await session.page(0)
        assert (where(session), session.view()["can_go_back"]) == (("", ""), False)
        await session.page(1)
        assert (where(session), session.view()["can_go_back"]) == (("cs", ""), True)

    run(clicks, pages, browse)
    assert pages.asked == ["", "cs"], "what was fetched is shown again"


def test_a_page_that_does_not_come_is_said_and_back_leads_to_where_one_was(
    clicks: ShownClicks, pages: FewPages
) -> None:
    async def browse(session: Session) -> None:
        await session.follow(0, CS)
        await session.follow(0, GONE)
        assert where(session) == ("cs", f"{U}/gone cannot be shown: the server answered 404")
        with pytest.raises(ValueError, match="another page is shown by now"):
            session.label(1, GOAL)
        session.back()
        assert where(session) == ("cs", "")
        session.label(1, "department")

    run(clicks, pages, browse)
    assert len(clicks.tour.pages) == 2


def test_whoever_goes_elsewhere_does_not_wait_for_a_slow_page(clicks: ShownClicks, pages: FewPages) -> None:
    async def browse(session: Session) -> None:
        async def back() -> None:
            session.back()

        for leave in (lambda: session.follow(0, NEWS), back):
            pages.held["cs"] = asyncio.Event()
            slow = asyncio.create_task(session.follow(0, CS))
            await asyncio.sleep(0)
            assert session.view()["fetching"] == f"{U}/cs"
            await leave()
            was = where(session)
            pages.held["cs"].set()
            await slow
            assert (where(session), session.view()["fetching"]) == (was, "")
            await session.settled()

    run(clicks, pages, browse)
    assert [page.url for page in clicks.tour.pages] == [f"{U}/", f"{U}/news"]


def test_the_first_page_is_waited_for(clicks: ShownClicks, pages: FewPages) -> None:
    async def browse() -> None:
        session = Session(clicks, pages)
        pages.held[""] = asyncio.Event()
        opening = asyncio.create_task(session.open(f"{U}/"))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(session.settled())
        await asyncio.sleep(0)
        assert not waiting.done()
        pages.held[""].set()
        await asyncio.gather(opening, waiting)
        assert session.at == 0

    asyncio.run(browse())


def test_the_same_again_takes_a_label_back_and_undo_shows_its_page(clicks: ShownClicks, pages: FewPages) -> None:
    async def browse(session: Session) -> None:
        session.label(0, GOAL)
        assert session.view()["unreached"] == [f"{U}/"]
        session.label(0, GOAL)
        assert session.view()["label"] == ""
        await session.follow(0, NEWS)
        session.label(1, NOT)
        session.undo()
        assert (where(session), session.view()["label"]) == (("news", ""), "")

    run(clicks, pages, browse)


def test_pages_that_were_forgotten_or_are_from_before_are_fetched_again(
    clicks: ShownClicks, pages: FewPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_KEPT", 10)

    async def browse(session: Session) -> None:
        await session.follow(0, CS)
        await session.follow(0, NEWS)
        assert where(session) == ("news", "")
        for page, link in ((7, 0), (-1, 0)):
            with pytest.raises(NoPage):
                await session.follow(page, link)
        await session.follow(0, 99)
        assert where(session) == ("news", "")

    run(clicks, pages, browse)
    assert pages.asked == ["", "cs", "", "news", ""]
    run(clicks, pages, lambda session: session.follow(1, 0))
    assert [page.title for page in clicks.tour.pages] == ["", "Cs", "News", "Cs1"]


def test_an_address_that_is_none_is_refused(clicks: ShownClicks, pages: FewPages) -> None:
    async def browse(session: Session) -> None:
        for url in ("", "u.example", "javascript:alert(1)", "file:///etc/passwd"):
            with pytest.raises(ValueError, match="is not an http"):
                await session.open(url)

    run(clicks, pages, browse)


def test_a_click_that_cannot_be_kept_is_said(
    clicks: ShownClicks, pages: FewPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    async def browse(session: Session) -> None:
        monkeypatch.setattr(clicks, "visit", full)
        await session.follow(0, CS)
        assert where(session) == ("", f"{U}/cs cannot be shown: [Errno 28] No space left on device")

    run(clicks, pages, browse)
