"""The page in Chromium, with a crawl behind it: it moves, it is used by keys, and strangers' titles stay text."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from focused.frontier.inbox import FileInbox, Mark
from focused.lab.process import LONGEST, OWN_SERVER, CrawlProcess
from focused.lab.site.reply import html
from focused.lab.site.server import SiteServer
from tests.watch.served import LONG, PHONE, WIDE, Served, served
from tests.watch.small_site import ALL, FORMULA, HOSTILE, TOPIC, small_site

HELD = 20


def until(crawl: CrawlProcess, condition: Callable[[], bool]) -> None:
    end = monotonic() + LONGEST
    while not condition():
        assert monotonic() < end, crawl.log[-2_000:]
        assert crawl.is_running, crawl.log[-2_000:]
        sleep(0.05)


def tile(page: Page, words: str) -> Any:
    return page.locator(".tile", has_text=words).locator("b")


def test_a_crawl_is_watched_and_marked_by_keys_while_it_runs_and_when_it_has_ended(page: Page, tmp_path: Path) -> None:
    (tmp_path / "stars.toml").write_text(TOPIC)
    job = tmp_path / "jobs" / "one"
    with SiteServer(small_site()) as site:
        site.answer(HELD)
        settings = {**OWN_SERVER, "JOBDIR": job, "FOCUSED_MODELS": tmp_path / "models", "FOCUSED_STOP_PAGES": ALL - 5}
        crawl = CrawlProcess(
            tmp_path, {"topic": tmp_path / "stars.toml"}, {**settings, "ROBOTSTXT_OBEY": False}, proxy=site.url
        )
        until(crawl, lambda: (job / "job.db").exists() and len(site.visits) > HELD)
        with served(tmp_path / "jobs") as server:
            page.goto(server.address)
            page.click("#crawls a >> text=one")
            expect(page.locator("#state")).to_contain_text("Running", timeout=LONG)
            assert server.token not in page.url
            expect(tile(page, "pages fetched")).to_contain_text(f"of {ALL - 5}")
            before = int(tile(page, "pages fetched").inner_text().split()[0])
            assert before <= HELD
            site.answer(HELD + 15)
            expect(tile(page, "pages fetched")).not_to_have_text(f"{before} of {ALL - 5}", timeout=LONG)
            expect(page.locator("#chart svg polyline")).to_have_count(2, timeout=LONG)

            # The first page of the list, then the second: two marks without a mouse.
            page.locator("#latest li").nth(2).wait_for()
            page.keyboard.press("j")
            first = page.locator("#latest li[aria-current=true]").get_attribute("data-url")
            page.keyboard.press("y")
            second = page.locator("#latest li[aria-current=true]").get_attribute("data-url")
            page.keyboard.press("n")
            page.keyboard.press("k")
            expect(page.locator(f"#latest li[data-url='{second}'] [data-said=no]")).to_have_attribute(
                "aria-pressed", "true"
            )
            until(crawl, lambda: "1 yes" in crawl.log and "1 no" in crawl.log and " taken in: " in crawl.log)
            marks = {
                mark.url: str(mark.said) for mark in FileInbox(job).read_from(0, 9).letters if isinstance(mark, Mark)
            }
            assert marks == {first: "yes", second: "no"}

            page.click("button >> text=Pause")
            expect(page.locator("#state")).to_contain_text("paused", timeout=LONG)
            page.select_option("#order select", "leave-out")
            page.fill("#order input", "far.example")
            page.press("#order input", "Enter")
            expect(page.locator("#orders")).to_contain_text("leave-out far.example", timeout=LONG)
            page.click("#orders button")
            page.click("button >> text=Go on")
            expect(page.locator("#orders")).to_have_text("None.", timeout=LONG)
            expect(page.locator("#state")).not_to_contain_text("paused")

            site.answer()
            assert crawl.wait() == 0, crawl.log
            expect(page.locator("#state")).to_contain_text("Not running; it ended", timeout=LONG)
            expect(page.locator("#next")).to_contain_text("To continue")
            expect(page.locator("#marked")).to_contain_text("1 yes, 1 no")
            shutil.rmtree(job)
            expect(page.locator("#problem")).to_contain_text("is gone", timeout=LONG)
        expect(page.locator("#away")).to_contain_text("does not answer", timeout=LONG)


@pytest.fixture(scope="module")
def rested(ended: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(ended, tmp_path_factory.mktemp("rested") / "stars"))


@pytest.fixture(scope="module")
def server(rested: Path) -> Iterator[Served]:
    with served(rested) as started:
        yield started


def open_all(page: Page, server: Served) -> None:
    """The page, with all that is only shown when it is asked for."""
    page.goto(server.address)
    page.locator("#pages tbody tr").first.wait_for()
    for button, what in (("show-next", "#waiting li"), ("show-learned", "#learned h3"), ("ask", "#questions li")):
        page.click(f"#{button}")
        page.locator(what).first.wait_for()
    page.locator(".near .spoke").first.wait_for()
    page.locator("#made summary").click()
    page.locator("#made dd").first.wait_for()


def test_axe_finds_nothing_on_a_wide_screen_and_a_phone_in_the_light_and_the_dark(page: Page, server: Served) -> None:
    open_all(page, server)
    # Marked either way, and at one of them.
    for number, key in enumerate("yn"):
        page.locator("#latest li").nth(number).focus()
        page.keyboard.press(key)
        page.locator("#latest [aria-pressed=true]").nth(number).wait_for()
    for size in (WIDE, PHONE):
        for scheme in ("light", "dark"):
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page)
            assert found.violations_count == 0, (size, scheme, str(found.response["violations"])[:2_000])
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], "nothing sticks out"


def test_pages_are_searched_and_downloaded_and_strangers_titles_stay_text(
    page: Page, server: Served, tmp_path: Path
) -> None:
    open_all(page, server)
    page.select_option("select[name=least]", "0")
    page.fill("input[name=q]", "img onerror")
    expect(page.locator("#pages tbody tr")).to_have_count(1)
    title = page.locator("#pages tbody td.main a").inner_text()
    assert title.startswith('<img src=x onerror="document.title=1">')
    assert "</title><script>alert(1)</script>" in title
    assert not {"\u202e", "\u2066"} & set(title)
    assert "\u202e" in HOSTILE
    assert page.locator("td img, td script, li img, li script").count() == 0
    assert page.title().endswith("– stars")
    assert page.locator("a[target=_blank]:not([rel~=noreferrer])").count() == 0

    page.fill("input[name=q]", "star")
    page.click("#pages th[data-sort=title] button")
    expect(page.locator("#pages th[data-sort=title]")).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("#pages tbody tr").first.locator("td.main a")).to_have_text(FORMULA)
    with page.expect_download() as download:
        page.click("[data-kind=csv]")
    download.value.save_as(tmp_path / "pages.csv")
    rows = list(csv.DictReader((tmp_path / "pages.csv").open(encoding="utf-8")))
    shown = page.locator("#count").inner_text()
    assert shown.startswith(f"{min(len(rows), 25)} of {len(rows)} shown")
    assert rows[0]["title"] == f"'{FORMULA}"


def test_why_is_told_in_a_dialog_and_keys_go_on_after_it(page: Page, server: Served) -> None:
    open_all(page, server)
    before = page.locator("[aria-pressed=true][data-said]").count()
    page.keyboard.press("w")
    expect(page.locator("#story")).to_contain_text("Verdict: relevance")
    page.keyboard.press("y")
    page.keyboard.press("Escape")
    expect(page.locator("#why")).not_to_be_visible()
    assert page.locator("[aria-pressed=true][data-said]").count() == before, "nothing is marked behind the dialog"


def test_pages_of_other_sites_in_the_same_browser_get_nothing(page: Page, server: Served, rested: Path) -> None:
    open_all(page, server)
    before = FileInbox(rested).end()
    steal = f"""async () => {{
      const told = [];
      for (const options of [
        {{credentials: "include"}}, {{credentials: "include", mode: "no-cors"}},
        {{credentials: "include", mode: "no-cors", method: "POST", body: '{{"marks": []}}'}},
      ]) {{
        for (const path of ["/api/crawls", "/api/crawls/stars/marks"]) {{
          const answer = await fetch("{server.url}" + path, options).catch(() => null);
          told.push(answer ? await answer.text() : "");
        }}
      }}
      return told;
    }}"""
    with SiteServer({"/": html("<title>evil</title><p>Evil.</p>")}) as evil:
        other = page.context.new_page()
        answers: list[int] = []
        other.on("response", lambda answer: answers.append(answer.status) if server.url in answer.url else None)
        other.goto(f"http://localhost:{evil.port}/")
        assert other.evaluate(steal) == [""] * 6
        assert set(answers) <= {401, 403}
        other.set_content(f'<iframe src="{server.url}/"></iframe>')
        frame = other.frames[-1]
        assert frame.locator("#tiles").count() == 0
        other.close()
    assert FileInbox(rested).end() == before
    stranger = page.context.browser.new_context()
    assert stranger.request.get(f"{server.url}/").status == 401
    assert stranger.request.get(f"{server.url}/?token=wrong").status == 401
    assert stranger.request.get(server.address, headers={"Host": "evil.example"}).status == 421
    stranger.close()
    own = page.context.new_page()
    own.goto(server.url)
    script = "const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.head.append(s);"
    assert own.evaluate(f"() => {{ {script} return typeof window.ran; }}") == "undefined"
