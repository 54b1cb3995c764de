"""The page on other projects: its spider and its commands, word for word, on a small web."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from focused.lab.site.reply import linking
from focused.lab.site.server import SiteServer
from focused.settings import ITEM_PIPELINES
from tests.project.foreign import ROOT, ForeignProject

PAGE = (ROOT / "docs" / "in-your-project.md").read_text("utf-8")
CODE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
LINKS = [f"http://gazette.example/{number}" for number in range(30)]
SITE = {
    "http://gazette.example/": linking(*LINKS, text="a star and a galaxy"),
    **{link: linking(text=f"a star, a galaxy and telescope number {link}") for link in LINKS},
}


def code(start: str) -> str:
    """The example that has a line beginning so."""
    [found] = [one for one in CODE if re.search(rf"^{re.escape(start)}", one, re.MULTILINE)]
    return found


@pytest.fixture
def project(tmp_path: Path) -> ForeignProject:
    project = ForeignProject.make(tmp_path / "news", [], settings=CODE[0])
    (project.folder / "news" / "spiders" / "articles.py").write_text(code("@dataclass"), "utf-8")
    return project


@pytest.fixture
def site():
    with SiteServer(SITE) as server:
        yield server


def test_the_commands_do_what_the_page_says(project: ForeignProject, site: SiteServer):
    [block] = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    crawl, status = [shlex.split(line)[1:] for line in block.splitlines()]
    ran = project.scrapy(*crawl, site=site)
    assert ran.code == 0, ran.log
    items = [json.loads(line) for line in (project.folder / "stars.jsonl").read_text("utf-8").splitlines()]
    assert set(items[0]) == {"url", "heading", "relevance"}
    assert all(0 <= item["relevance"] <= 1 for item in items)
    assert 19 <= len(items) <= 25
    # The commands of an installed distribution come by entry points; here it is not installed.
    shown = project.scrapy(*status, SCRAPY_SETTINGS_MODULE="focused.settings")
    assert shown.code == 0, shown.log
    assert "star, galaxy, telescope" in shown.output


def test_a_callback_reads_the_verdict(project: ForeignProject, site: SiteServer):
    path = project.folder / "news" / "spiders" / "articles.py"
    callback = "\n".join(f"    {line}" for line in code("def parse_article").splitlines())
    path.write_text(path.read_text("utf-8").split("    def parse_article")[0] + callback + "\n", "utf-8")
    ran = project.scrapy("crawl", "articles", "-a", "topic=star, galaxy, telescope", "-O", "stars.jsonl", site=site)
    assert ran.code == 0, ran.log
    assert "Traceback" not in ran.log
    assert (project.folder / "stars.jsonl").read_text("utf-8")


def test_a_pipeline_reaches_the_html_and_adds_a_field(project: ForeignProject, site: SiteServer):
    (project.folder / "news" / "pipelines.py").write_text(code("class LengthPipeline"), "utf-8")
    own = 'ITEM_PIPELINES = {"news.pipelines.LengthPipeline": 500}\n'
    settings = project.folder / "news" / "settings.py"
    settings.write_text(settings.read_text("utf-8") + own, "utf-8")
    arguments = ["-a", "topic=star, galaxy", "-a", "seeds=http://gazette.example/", "-a", "pages=3"]
    ran = project.scrapy("crawl", "focused", *arguments, "-O", "pages.jsonl", "-s", "JOBDIR=job", site=site)
    assert ran.code == 0, ran.log
    assert all(json.loads(line)["bytes"] for line in (project.folder / "pages.jsonl").read_text("utf-8").splitlines())
    exported = project.scrapy("export", "job", "-o", "-", SCRAPY_SETTINGS_MODULE="focused.settings")
    assert all(json.loads(line)["bytes"] for line in exported.output.splitlines())


def test_the_numbers_of_our_pipelines_are_those_of_the_page():
    assert f"ours are {', '.join(map(str, sorted(ITEM_PIPELINES.values())[:-1]))} and 900" in PAGE


def test_the_browser_middleware_leaves_robots_txt_alone():
    from scrapy import Request
    from scrapy.http.request import NO_CALLBACK

    names: dict[str, Any] = {}
    exec(code("class BrowserMiddleware"), names)
    page, robots = Request("http://h.example/"), Request("http://h.example/robots.txt", callback=NO_CALLBACK)
    for request in (page, robots):
        names["BrowserMiddleware"]().process_request(request)
    assert page.meta == {"playwright": True}
    assert robots.meta == {}
