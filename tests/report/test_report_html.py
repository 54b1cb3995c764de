"""The report is one file that works by itself, and nothing in it is the strangers' to decide."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from importlib import resources
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from lxml import etree, html

from focused.frontier.store import JobRefused
from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.server import SiteServer
from focused.report.html import render_report
from focused.report.job_reader import JobReader
from focused.scheduling.starts import read_starts

LOADS = {"src", "srcset", "data", "action", "formaction", "background", "poster", "xlink:href", "ping"}


@pytest.fixture(scope="module")
def text(crawl: CrawlResult, job: Path) -> str:
    return (job / "report.html").read_text("utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> html.HtmlElement:
    return html.fromstring(text)


def words(page: html.HtmlElement) -> str:
    return " ".join(" ".join(page.itertext()).split())


def test_a_crawl_with_a_job_folder_leaves_its_report_there(text: str, crawl: CrawlResult, job: Path) -> None:
    assert text.startswith("<!doctype html>")
    assert crawl.stats["focused/report/path"] == str(job / "report.html")


def test_it_tells_what_the_crawl_did(page: html.HtmlElement) -> None:
    told = words(page)
    assert "birds <&> beaks" in told
    assert ": 16 pages fetched." in told
    assert "16 pages fetched and judged, 1 of them duplicate" in told
    for words_of_outcome in ("duplicate", "dead", "denied", "not HTML", "redirect"):
        assert words_of_outcome in told
    assert len(page.findall(".//{*}svg")) == 2 * 3, "one for a phone"


def learned(page: html.HtmlElement) -> dict[str, str]:
    """What the table of learned words has for each offset, and for addresses."""
    (table,) = page.find_class("words")
    cells = [" ".join("".join(cell.itertext()).split()) for cell in table[3:]]
    return {where: f"{speak_for} | {against}" for where, speak_for, against in zip(*[iter(cells)] * 3, strict=True)}


def test_it_shows_what_the_prioritizer_learned(page: html.HtmlElement) -> None:
    told = words(page).partition("What the prioritizer learned")[2].partition("Hosts")[0]
    assert told.strip().startswith("What focused learned about words near a link")
    assert "beyond what the critic says of the same words" in told
    lines = learned(page)
    assert list(lines) == ["−5", "−4", "−3", "−2", "−1", "0", "+1", "+2", "+3", "+4", "+5"]
    assert re.search(r"\b(bird|feather|wing)\b", " ".join(lines.values()))


def test_addresses_are_there_only_if_the_prioritizer_reads_them(tmp_path: Path) -> None:
    birds = "".join(
        f"<a href=/nest/{number}>{word} egg</a>" for number, word in enumerate(("red", "old", "new", "odd"))
    )
    pages = {f"http://n.example/nest/{number}": f"<p>bird number{number} w{number}</p>" for number in range(4)}
    with SiteServer({"http://n.example/": birds, **pages}) as nests:
        found = {}
        for name in ("focused", "apprentice"):
            folder = tmp_path / name
            folder.mkdir()
            arguments = {"topic": "bird", "seeds": "http://n.example/", "prioritizer": name}
            run = run_crawl(arguments, folder=folder, site=nests, settings={"FOCUSED_TRAIN_EVERY": 1})
            assert run.exit_code == 0, run.log
            found[name] = learned(html.parse(folder / "job" / "report.html").getroot())
    assert "nest" in found["focused"]["address"]
    assert "address" not in found["apprentice"]
    assert "egg" in found["apprentice"]["0"]


def test_it_loads_nothing_and_runs_only_our_script(text: str, page: html.HtmlElement) -> None:
    assert "default-src 'none'" in text
    assert not [element.tag for element in page.iter("link", "iframe", "object", "img")]
    (script,) = page.iter("script")
    assert script.text == (resources.files("focused.report") / "templates" / "found.js").read_text("utf-8")
    digest = b64encode(sha256(script.text.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    for element in page.iter(etree.Element):
        names = {name.lower() for name in element.attrib}
        assert not names & LOADS
        assert not [name for name in names if name.startswith("on")]
    assert "url(" not in text
    assert "@import" not in text


def test_titles_of_hostile_pages_are_text(text: str) -> None:
    assert text.count("<script") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08]", text)


def test_only_web_addresses_become_links(copy: sqlite3.Connection, copied: JobReader) -> None:
    copy.execute("UPDATE pages SET url = 'javascript:alert(1)', title = '\"><img src=x onerror=y>' || char(27)")
    page = html.fromstring(render_report(copied))
    links = [a.get("href") for a in page.iter("a")]
    assert all(link.startswith("http") for link in links)
    assert not page.findall(".//img")


def found_pages(page: html.HtmlElement) -> list[tuple[float, str]]:
    """Relevance and address of each row of the table."""
    rows = page.get_element_by_id("found").find("tbody").findall("tr")
    return [(float(row[0].text), row.find(".//a").get("href")) for row in rows]


def test_all_found_pages_are_in_a_plain_table_the_best_first(page: html.HtmlElement, crawl: CrawlResult) -> None:
    found = {item["url"]: item["relevance"] for item in crawl.items if item["relevance"] >= 0.5}
    rows = found_pages(page)
    assert {url: pytest.approx(relevance, abs=1e-3) for relevance, url in rows} == found
    assert [relevance for relevance, _ in rows] == sorted((relevance for relevance, _ in rows), reverse=True)
    assert page.get_element_by_id("tools").get("hidden") is not None, "without scripts there is nothing to press"


def test_where_nothing_was_found_the_best_pages_are_shown(copy: sqlite3.Connection, copied: JobReader) -> None:
    copy.execute("UPDATE pages SET relevance = relevance / 10")
    page = html.fromstring(render_report(copied))
    assert "No page has a relevance of 0.5 or more; these are the best." in words(page)
    assert len(found_pages(page)) == 12


def test_of_very_many_found_pages_the_best_are_shown(
    reader: JobReader, monkeypatch: pytest.MonkeyPatch, crawl: CrawlResult
) -> None:
    monkeypatch.setattr("focused.report.html._MOST_FOUND", 3)
    found = sum(item["relevance"] >= 0.5 for item in crawl.items)
    page = html.fromstring(render_report(reader))
    assert f"The 3 most relevant of {found}; scrapy export writes all of them." in words(page)
    assert len(found_pages(page)) == 3


def test_links_of_duplicates_that_were_not_followed_are_counted(copy: sqlite3.Connection, copied: JobReader) -> None:
    told = words(html.fromstring(render_report(copied)))
    assert "1 link was not followed, because its page is a duplicate" in told
    copy.execute("INSERT OR REPLACE INTO meta VALUES ('unfollowed', '7')")
    told = words(html.fromstring(render_report(copied)))
    assert "7 links were not followed, because their pages are duplicates" in told
    assert "FOCUSED_FOLLOW_DUPLICATES=1 follows such links" in told


# Writes which table or chart is wider than its card, in place of the page.
MEASURE = """<script>
const past = [];
for (const card of document.querySelectorAll("section"))
  for (const one of card.querySelectorAll("*"))
    if (one.getBoundingClientRect().right > card.getBoundingClientRect().right + 1)
      past.push(card.querySelector("h2").textContent + ": " + one.tagName);
document.body.textContent = "measured " + past.join(", ");
</script></body>"""


@pytest.mark.skipif(which("chromium") is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [500, 640, 700, 900, 960, 1100])
def test_nothing_runs_past_its_card(copy: sqlite3.Connection, copied: JobReader, tmp_path: Path, width: int) -> None:
    copy.execute("UPDATE pages SET class = 'some.class.with_a_rather_long_name_' || seq")
    text = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", render_report(copied))
    (tmp_path / "report.html").write_text(text.replace("</body>", MEASURE), "utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},900")
    place = (tmp_path / "report.html").as_uri()
    done = subprocess.run(["chromium", *options, "--dump-dom", place], capture_output=True, text=True, check=True)
    assert re.findall("measured (.*)", done.stdout.partition("<body>")[2].partition("</body>")[0]) == [""]


def test_a_job_without_a_page_has_a_report(empty_job: Path) -> None:
    page = html.fromstring((empty_job / "report.html").read_text("utf-8"))
    assert "Nothing was fetched" in words(page)
    assert not list(page.iter("script"))
    assert "404" in words(page)


def test_a_job_of_an_older_version_has_a_report(copy: sqlite3.Connection, copied: JobReader) -> None:
    copy.execute("DELETE FROM meta WHERE key IN ('about', 'starts')")
    assert "it is not recorded how it ended" in render_report(copied)


def test_each_start_is_told_with_the_reason_for_its_end(
    site: SiteServer, tmp_path: Path, scrapy: Callable[..., Any]
) -> None:
    topic = tmp_path / "birds.toml"
    topic.write_text('name = "b"\nkeywords = ["bird"]\nseeds = ["http://a.example/"]\n')
    killed = run_crawl({"topic": topic}, folder=tmp_path, site=site, settings={"DOWNLOAD_DELAY": 0.05}, kill_after=6)
    assert killed.exit_code < 0
    scrapy("report", tmp_path / "job")
    assert "Not running; it was cut short." in (tmp_path / "job" / "report.html").read_text("utf-8")
    run_crawl({"topic": topic, "pages": 10}, folder=tmp_path, site=site)
    told = words(html.fromstring((tmp_path / "job" / "report.html").read_text("utf-8")))
    assert "it was cut short" in told
    assert ": 10 pages fetched." in told


def test_the_end_of_a_start_is_noted_with_its_requests(records: sqlite3.Connection, crawl: CrawlResult) -> None:
    (start,) = read_starts(records)
    assert start["why"] == "16 pages fetched"
    assert start["requests"] == crawl.stats["downloader/request_count"]


def test_no_job_no_report(tmp_path: Path) -> None:
    with pytest.raises(JobRefused, match="there is no job in"):
        JobReader.open(tmp_path)
    with pytest.raises(JobRefused, match="is not a job folder"):
        JobReader.open(Path("redis://127.0.0.1/0"))


def test_the_command_writes_where_it_is_told(job: Path, tmp_path: Path, scrapy: Callable[..., Any]) -> None:
    run = scrapy("report", job, "--out", tmp_path / "deep" / "r.html")
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == str(tmp_path / "deep" / "r.html")
    assert "birds" in (tmp_path / "deep" / "r.html").read_text("utf-8")


def test_the_command_says_what_is_not_a_job(tmp_path: Path, scrapy: Callable[..., Any]) -> None:
    run = scrapy("report", tmp_path)
    assert run.returncode == 2
    assert "there is no job in" in run.stdout + run.stderr
    assert not list(tmp_path.iterdir()), "nothing is written"


@pytest.mark.parametrize(("setting", "written"), [("", False), ("mine.html", True)])
def test_the_setting_says_where_the_report_goes(site: SiteServer, tmp_path: Path, setting: str, written: bool) -> None:
    topic = tmp_path / "birds.toml"
    topic.write_text('name = "b"\nkeywords = ["bird"]\nseeds = ["http://a.example/"]\n')
    settings = {"FOCUSED_REPORT": setting, "JOBDIR": ""}
    result = run_crawl({"topic": topic, "pages": 3}, folder=tmp_path, site=site, settings=settings)
    assert result.exit_code == 0, result.log
    # Without a JOBDIR, too: the temporary job is there until the report is written.
    assert (tmp_path / "mine.html").exists() == written
    assert not (tmp_path / "job").exists()
    assert json.dumps(result.stats.get("focused/report/path")) == ('"mine.html"' if written else "null")
