"""A topic may be corrected while its job rests: the job goes on, and says what is judged anew."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from focused.frontier.inbox import FileInbox, Mark
from focused.frontier.records import read_records
from focused.frontier.store import Says
from focused.lab.site.server import SiteServer
from focused.report.job_reader import JobReader
from focused.scheduling.correction import VERSIONS
from focused.scheduling.starts import noted
from focused.topics.marked import Marked, add_examples
from tests.crawl.test_crawl_marks import HUB, TOPIC, small_site, start


def corrected(folder: Path, pages: int, **settings: Any) -> tuple[int, str, dict[str, float]]:
    """The exit code, the log, and R of all pages after one more start."""
    with SiteServer(small_site()) as site:
        # A critic that was taught for the topic as it was is refused: `scrapy teach` takes its place.
        models = folder / f"models-{pages}"
        crawler = start(folder, site, FOCUSED_STOP_PAGES=pages, FOCUSED_MODELS=models, **settings)
        code = crawler.wait()
    with JobReader.open(folder / "job") as reader:
        table = reader.page_table()
        return code, crawler.log, {page.url: page.relevance for page in reader.pages(table.link.tolist())}


def versions(folder: Path) -> list[Any]:
    with closing(read_records(folder / "job")) as records:
        return json.loads(noted(records, VERSIONS) or "[]")


def test_a_topic_with_other_examples_words_or_critic_goes_on_and_another_topic_does_not(tmp_path: Path) -> None:
    file = tmp_path / "stars.toml"
    file.write_text(TOPIC)
    code, log, before = corrected(tmp_path, 20)
    assert code == 0, log
    assert versions(tmp_path) == []

    # The marks go into its examples.
    stars, soups = ([url for url in before if url != HUB and int(url.rpartition("/")[2]) % 2 == odd] for odd in (1, 0))
    add_examples(str(file), [*(Marked(url, True) for url in stars[:3]), *(Marked(url, False) for url in soups[:3])])
    code, log, after = corrected(tmp_path, 22)
    assert code == 0, log
    assert "The topic was corrected, or has another critic. All pages are judged anew" in log
    assert set(before) < set(after)
    assert min(after[url] for url in stars) > max(after[url] for url in soups)
    assert [one["pages"] for one in versions(tmp_path)] == [0, 20]

    # Other words, and another critic: what is kept of pages cannot be judged by them. A mark counts all the same.
    file.write_text(file.read_text().replace('"butter"', '"soup"'))
    FileInbox(tmp_path / "job").append([Mark(url=stars[0], said=Says.NO)])
    code, log, later = corrected(tmp_path, 24, FOCUSED_CRITIC="keywords")
    assert code == 0, log
    assert "The 22 pages fetched before keep their verdicts (what is kept of them is for other words, or " in log
    assert {url: later[url] for url in after} == {**after, stars[0]: later[stars[0]]}
    assert later[stars[0]] < 0.051

    assert [one["pages"] for one in versions(tmp_path)] == [0, 20, 22]

    text = file.read_text()
    file.write_text(text.replace('"wanted"', '"unwanted"'))
    code, log, _ = corrected(tmp_path, 30)
    assert code == 2
    assert "was made with the focus ['wanted'], this crawl has ['unwanted']: other classes are wanted" in log
    file.write_text(text.replace('name = "stars"', 'name = "moons"'))
    code, log, _ = corrected(tmp_path, 30)
    assert code == 2
    assert "was made with topic 'stars (" in log
    assert "give another JOBDIR" in log
    assert len(versions(tmp_path)) == 3
