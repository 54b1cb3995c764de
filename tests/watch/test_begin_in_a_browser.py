"""A crawl is begun on the page in Chromium, from words to pages that come in; and the process that tries a topic."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from focused.lab.process import OWN_SERVER, crawl_environment
from focused.lab.site.reply import Reply
from focused.lab.site.server import SiteServer
from tests.watch.served import LONG, PHONE, WIDE, served
from tests.watch.small_site import HUB, small_site

PDF = f"{HUB}tables.bin"
SECONDS, HELD = 60, 20
EXAMPLES = re.compile(re.escape('examples = "stars.topic.tsv"\nfocus = ["wanted"]'))


def check_looks(page: Page) -> None:
    for size in (WIDE, PHONE):
        for scheme in ("light", "dark"):
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page)
            assert found.violations_count == 0, (size, scheme, str(found.response["violations"])[:2_000])
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], "nothing sticks out"
    page.set_viewport_size(WIDE)


def fetched(page: Page) -> Locator:
    return page.locator(".tile", has_text="pages fetched").locator("b")


def relevance(card: Locator) -> float:
    return float(card.locator(".r").inner_text())


def test_from_words_to_a_crawl_that_runs_and_goes_on(page: Page, tmp_path: Path) -> None:
    site = {**small_site(), PDF: Reply(body=b"%PDF-1.4 \x00\x01" * 99, headers={"Content-Type": "application/pdf"})}
    settings = {**OWN_SERVER, "FOCUSED_MODELS": tmp_path / "models", "ROBOTSTXT_OBEY": False}
    options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    jobs = tmp_path / "jobs"
    with SiteServer(site) as web, served(jobs, *options, proxy=web.url) as server:
        page.goto(server.address)
        page.click("text=New crawl")
        try_words(page, web)
        correct_the_sample(page)
        check_looks(page)
        open_again(page)
        assert not jobs.exists(), "nothing is written before the start"
        start(page, web)
        go_on(page)
        page.click("text=All crawls")
        expect(page.locator("#crawls")).to_contain_text("stars")
    assert {path.name for path in jobs.iterdir()} == {"stars", "stars.log", "stars.topic.toml", "stars.topic.tsv"}
    assert len((jobs / "stars.topic.tsv").read_text().splitlines()) == 1 + 3


def try_words(page: Page, web: SiteServer) -> None:
    page.fill("#words", "star, galaxy, C")
    page.fill("#seeds", "hub.example")
    page.click("button >> text=Try it")
    expect(page.locator("#problem")).to_contain_text("is not an http(s) address; did you mean 'https://hub.example'?")
    assert web.visits == []
    page.fill("#seeds", f"{HUB} {PDF}")
    page.fill("#name", "Stars")
    page.click("button >> text=Try it")
    expect(page.locator("#pages li").nth(20)).to_be_visible(timeout=SECONDS * 1_000)
    expect(page.locator("#problem")).to_be_hidden()
    expect(page.locator("#warnings")).to_contain_text(f"Nothing begins at the seed {PDF}: it is not a web page")
    expect(page.locator("#warnings")).to_contain_text("'C' is read as the single character 'c'")
    numbers = [float(text) for text in page.locator("#pages .r").all_inner_texts()]
    assert numbers == sorted(numbers, reverse=True)
    assert page.locator("#pages img, #pages script").count() == 0


def correct_the_sample(page: Page) -> None:
    """Two stars and a soup, by keys; the others are judged anew."""
    cards = page.locator("#pages li")
    before = relevance(cards.nth(2))
    page.keyboard.press("j")
    page.keyboard.press("y")
    page.keyboard.press("y")
    expect(page.locator("#toml")).to_have_value(EXAMPLES, timeout=LONG)
    cards.last.focus()
    page.keyboard.press("n")
    expect(page.locator("#table summary")).to_contain_text("3 pages that you marked", timeout=LONG)
    expect(page.locator("#pages [data-said][aria-pressed=true]")).to_have_count(3)
    assert relevance(cards.nth(2)) > before + 0.05
    expect(page.locator("#said")).to_contain_text("judged otherwise now")
    page.locator("#table summary").click()


def open_again(page: Page) -> None:
    page.reload()
    expect(page.locator("#pages [data-said][aria-pressed=true]")).to_have_count(3, timeout=LONG)
    expect(page.locator("#words")).to_have_value("star, galaxy, C")
    expect(page.locator("#toml")).to_have_value(EXAMPLES, timeout=LONG)
    text = page.input_value("#toml")
    page.fill("#toml", f"{text}colour = 1\n")
    page.click("button >> text=Start the crawl")
    expect(page.locator("#wrong")).to_contain_text("stars.topic.toml: colour: unknown key", timeout=LONG)
    page.fill("#toml", text.replace('    "C",\n', ""))


def start(page: Page, web: SiteServer) -> None:
    web.answer(len(web.visits) + HELD)
    page.fill("#start input[name=pages]", "40")
    page.click("button >> text=Start the crawl")
    page.wait_for_url("**/crawls/stars", timeout=SECONDS * 1_000)
    expect(page.locator("#title")).to_have_text("Stars")
    expect(page.locator("#state")).to_contain_text("Running", timeout=LONG)
    expect(page.locator("#again")).to_be_hidden()
    web.answer()
    expect(page.locator("#state")).to_contain_text("Not running; it ended", timeout=SECONDS * 1_000)
    expect(fetched(page)).to_have_text("40 of 40")


def go_on(page: Page) -> None:
    page.fill("#again input", "50")
    page.click("button >> text=Start it again")
    expect(fetched(page)).to_have_text("50 of 50", timeout=SECONDS * 1_000)
    expect(page.locator("#again")).to_be_visible(timeout=LONG)


def test_the_process_ends_with_the_page_also_while_a_host_is_silent(tmp_path: Path) -> None:
    with SiteServer({HUB: Reply(hang=True)}) as web:
        process = subprocess.Popen(
            [sys.executable, "-m", "focused.watch.sampling"],
            cwd=tmp_path,
            env=crawl_environment(web.url),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            wanted = {
                "name": "x",
                "keywords": ["star"],
                "seeds": [HUB],
                "pages": 5,
                "settings": {"ROBOTSTXT_OBEY": "0"},
            }
            process.stdin.write(json.dumps(wanted).encode() + b"\n")
            process.stdin.flush()
            end = monotonic() + SECONDS
            while not web.visits:
                assert monotonic() < end
                sleep(0.02)
            said, _ = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert (process.returncode, said) == (0, b"")
