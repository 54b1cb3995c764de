"""The page in Chromium: ways are browsed and labelled by keys, and no page breaks out of its frame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, FrameLocator, Page, expect
from uvicorn import Server

from focused.lab.replay.write import write_web
from focused.lab.site.reply import html
from focused.lab.site.server import SiteServer
from focused.papers.paths.path import FAIL, GOAL
from focused.papers.paths.reading import read_paths
from focused.watch.guard import Guard
from focused.watch.recording.app import make_app
from focused.watch.recording.clicks import ShownClicks
from focused.watch.recording.session import Session
from focused.watch.serving import bind, config_of
from tests.watch.asking import TOKEN
from tests.watch.recording.pages import COURSES, UNIVERSITY, FewPages, U
from tests.watch.recording.recorder import FAST, Recording, recording
from tests.watch.served import chromium

LONG = 12_000
PHONE = {"width": 390, "height": 800}
KEY = "a-key-of-the-frame-that-only-we-know-01"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1300, "height": 800})
    opened = context.new_page()
    opened.set_default_timeout(LONG)
    yield opened
    context.close()


def framed(page: Page) -> FrameLocator:
    return page.frame_locator("#page")


def follow(page: Page, link: str, title: str) -> None:
    """Click in the frame; the page around it says where one is, and takes the keys."""
    framed(page).get_by_role("link", name=link, exact=True).click()
    expect(page.locator("#title")).to_have_text(title)
    expect(page.locator("#bar")).to_be_focused()


def press(page: Page, key: str, title: str, label: str) -> None:
    page.keyboard.press(key)
    expect(page.locator("#title")).to_have_text(title)
    expect(page.locator("#label")).to_have_text(label)
    expect(page.locator("#bar")).to_be_focused()


def show_three_ways(page: Page, server: Recording) -> None:
    page.goto(server.address)
    expect(page.locator("#title")).to_have_text("Home")
    assert server.token not in page.url
    follow(page, "Department", "CS")
    page.keyboard.press("m")
    page.keyboard.type("department")
    page.keyboard.press("Enter")
    expect(page.locator("#label")).to_have_text("· department")
    follow(page, "Ann", "Ann")
    follow(page, "CS 1", "CS 1")
    press(page, "g", "CS 1", "· goal")
    for title, label in (("Ann", ""), ("CS", "· department")):
        press(page, "b", title, label)
    # As the browser's own button does it.
    framed(page).get_by_role("link", name="Ann").wait_for()
    page.evaluate("history.back()")
    expect(page.locator("#title")).to_have_text("Ann")
    press(page, "b", "CS", "· department")
    follow(page, "Bob", "Bob")
    follow(page, "CS 2", "CS 2")
    press(page, "g", "CS 2", "· goal")
    page.fill("#address", f"{U}/")
    page.press("#address", "Enter")
    follow(page, "News", "News")
    press(page, "n", "Home", "")
    expect(page.locator("#counts")).to_contain_text("2 to goals, 1 that failed")
    follow(page, "Jobs", "Jobs")
    press(page, "n", "Home", "")
    expect(page.locator("#ways > li")).to_have_count(4)
    press(page, "u", "Jobs", "")
    expect(page.locator("#ways > li")).to_have_count(3)


@pytest.mark.parametrize("is_recorded", [False, True])
def test_three_ways_are_browsed_and_teach_a_prioritizer(page: Page, scrapy, tmp_path: Path, is_recorded: bool) -> None:
    topic, out, web = tmp_path / "courses.toml", tmp_path / "paths.jsonl", tmp_path / "web.warc.gz"
    topic.write_text(COURSES)
    write_web(web, UNIVERSITY)
    pages = {url: html(text) for url, text in UNIVERSITY.items()}
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        complaints.append(message.text)

    page.on("console", note)
    options = ("--start", f"{U}/", *(("--web", str(web)) if is_recorded else FAST))
    with SiteServer(pages) as site, recording(topic, out, *options, proxy=site.url) as server:
        show_three_ways(page, server)
        if is_recorded:
            for size in (page.viewport_size, PHONE):
                page.set_viewport_size(size)
                found = Axe().run(page)
                assert found.violations_count == 0, str(found.response["violations"])[:2_000]
        page.click("#finish")
        expect(page.locator("#said")).to_contain_text("Finished")
        said = server.end()
    assert bool(site.visits) is not is_recorded
    assert complaints == []
    assert said[1].startswith("3 paths (2 to goal, 1 to fail) of 2 to 4 steps, over 7 different pages")
    assert said[2] == "milestones: department"
    steps = [[(step.url.removeprefix(U), step.label) for step in path.steps] for path in read_paths(out)]
    assert steps == [
        [("/", ""), ("/cs", "department"), ("/ann", ""), ("/cs1", GOAL)],
        [("/", ""), ("/cs", "department"), ("/bob", ""), ("/cs2", GOAL)],
        [("/", ""), ("/news", FAIL)],
    ]
    command, *arguments = said[3].removeprefix("teach a prioritizer with them: ").split()
    assert (command, arguments[0]) == ("scrapy", "teach")
    taught = scrapy(*arguments, *(() if is_recorded else ("--web", web)), "-s", f"FOCUSED_MODELS={tmp_path}/models")
    assert taught.returncode == 0, taught.stderr
    assert "3, with 7 pages" in taught.stdout
    assert (tmp_path / "models" / "courses" / "crf.npz").exists()


def ways_out(evil: str, ours: str) -> dict[str, str]:
    """What pages try that do not want to be in a frame, or want to know who looks, by what it is."""
    run = f"top.document.title='out';fetch('{evil}/fetched')"
    return {
        "script": f"<script>{run}</script>",
        "script of its own": f'<script src="{evil}/script"></script><script src="{ours}/static/record.js"></script>',
        "handlers": f'<img src=x onerror="{run}"><body onload="{run}"><input autofocus onfocus="{run}">',
        "details": f'<details open ontoggle="{run}">x</details><video src=x onerror="{run}"></video>',
        "svg": f'<svg onload="{run}"><script>{run}</script><use href="{evil}/svg#x"/></svg>',
        "math": f'<math><mtext><table><mglyph><style><!--</style><img title="--><img src=x onerror={run}>">',
        "refresh": f'<meta http-equiv="refresh" content="0; url={evil}/refreshed">',
        "refresh by a script": f'<meta http-equiv="refresh" content="0; url=javascript:{run}">',
        "frame": f'<iframe src="{evil}/frame"></iframe><iframe srcdoc="<script>{run}</script>"></iframe>',
        "frame of ours": f'<iframe src="{ours}/"></iframe>',
        "object": f'<object data="{evil}/object"></object><embed src="{evil}/embed">',
        "image": f'<img src="{evil}/image"><img srcset="{evil}/set 1x"><body background="{evil}/background">',
        "style": f'<style>@import "{evil}/import"; body {{ background: url({evil}/url) }}</style>',
        "style of a tag": f'<p style="background: url({evil}/inline)">x</p><link rel=stylesheet href="{evil}/sheet">',
        "font": f"<style>@font-face {{ font-family: x; src: url({evil}/font) }} p {{ font-family: x }}</style><p>x</p>",
        "before it is asked": f'<link rel=prefetch href="{evil}/pre"><link rel=preload as=image href="{evil}/load">',
        "sound": f'<audio src="{evil}/audio" autoplay></audio><video poster="{evil}/poster"></video>',
        "link": f'<a id=way href="{evil}/link">x</a>',
        "link to the top": f'<a id=way target=_top href="{evil}/top">x</a>',
        "link to the parent": f'<base target=_parent href="{evil}/"><a id=way href="base">x</a>',
        "link to a window": f'<a id=way target=_blank href="{evil}/window">x</a>',
        "link to our page": f'<a id=way target=_top href="{ours}/?token={TOKEN}">x</a>',
        "link into our page": f'<a id=way href="{ours}/">x</a>',
        "link that finishes": f'<a id=way href="{ours}/api/finish">x</a>',
        "link that runs": f'<a id=way href="javascript:{run}">x</a>',
        "link to the top that runs": f'<a id=way target=_top href="javascript:{run}">x</a>',
        "link to data": f'<a id=way href="data:text/html,<script>{run}</script>">x</a>',
        "link that saves": f'<a id=way download href="{evil}/saved">x</a>',
        "link that tells": f'<a id=way ping="{evil}/ping" href="#x">x</a>',
        "form": f'<form action="{evil}/form" target=_top><button id=way>x</button></form>',
        "form of ours": f'<form method=post action="{ours}/api/finish"><button id=way>x</button></form>',
        "button that runs": f'<form><button id=way formaction="javascript:{run}">x</button></form>',
    }


class Framing:
    """Our page in this process, around whatever page it is told to show."""

    def __init__(self, out: Path) -> None:
        self.pages, self.finished = FewPages({"": ""}), 0
        self.session = Session(ShownClicks(out), self.pages)

    def finish(self) -> None:
        self.finished += 1

    def show(self, text: str) -> None:
        """Have it shown as it is: as if nothing had been taken out of it."""
        self.pages.html = text
        self.session._shown.clear()


@contextmanager
def framing(out: Path) -> Iterator[tuple[Framing, str]]:
    with bind("127.0.0.1", 0) as listening:
        made = Framing(out)
        app = make_app(made.session, KEY, made.finish, lambda: server.should_exit)
        server = Server(config_of(Guard(app, TOKEN, listening.getsockname()[1], frame_key=KEY)))
        thread = Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            with closing(made.session._clicks):
                yield made, f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)


def test_no_page_breaks_out_even_if_nothing_were_taken_out_of_it(page: Page, tmp_path: Path) -> None:
    with (
        SiteServer({"/": html("evil")}, missing=html("evil")) as evil,
        framing(tmp_path / "paths.jsonl") as (ours, url),
    ):
        dialogs, windows, downloads = [], [], []
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        page.on("popup", lambda window: windows.append(window.url))
        page.on("download", lambda download: downloads.append(download.url))
        page.goto(f"{url}/?token={TOKEN}")
        page.wait_for_url(f"{url}/")
        answered: list[str] = []
        page.context.on("response", lambda one: answered.append(f"{one.request.method} {one.url}"))
        for name, text in ways_out(evil.url.replace("127.0.0.1", "localhost"), url).items():
            ours.show(f"<p id=there>{name}</p>{text}")
            page.fill("#address", f"{U}/")
            page.press("#address", "Enter")
            framed(page).locator("#there").get_by_text(name, exact=True).wait_for()
            way = framed(page).locator("#way")
            if way.count():
                way.click(no_wait_after=True)
            page.wait_for_timeout(60)
            assert page.url == f"{url}/", name
            assert page.title() == "Record paths – Focused", name
            assert page.locator("#goal").count() == 1, name
            inside = [frame.url for frame in page.frames[1:]]
            assert [one for one in inside if one.startswith((evil.url, f"{url}/?"))] == [], name
            assert not any(frame.locator("#goal").count() for frame in page.frames[1:]), name
            assert (evil.visits, dialogs, windows, downloads, ours.finished) == ([], [], [], [], 0), name
        assert set(answered) & {f"POST {url}/api/finish"} == set(), "forms are not sent at all"
        assert [one for one in answered if url not in one] == []


def test_what_is_taken_out_of_a_page_is_not_missed_and_is_out(page: Page, tmp_path: Path) -> None:
    """The same ways out, by the page that somebody would see."""
    with SiteServer({}, missing=html("evil")) as evil:
        # A crawler goes where a page sends it; whatever is there is guarded and shown like this.
        tries = "".join(text for name, text in ways_out(evil.url, U).items() if "refresh" not in name)
        web, topic, out = tmp_path / "web.warc.gz", tmp_path / "courses.toml", tmp_path / "paths.jsonl"
        topic.write_text(COURSES)
        write_web(web, {f"{U}/": f"<title>Home</title><a href={U}/cs>on</a>{tries}", f"{U}/cs": "<title>CS</title>"})
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        with recording(topic, out, "--start", f"{U}/", "--web", str(web)) as server:
            page.goto(server.address)
            framed(page).get_by_text("on", exact=True).wait_for()
            inside = framed(page).locator("html")
            found = inside.locator(
                ":not(html, head, meta, title, style, body, p, a, div, table, tbody, tr, td, details)"
            )
            assert found.count() == 0, found.first.evaluate("one => one.outerHTML")
            follow(page, "on", "CS")
            server.end(interrupt=True)
        assert (evil.visits, complaints) == ([], [])
