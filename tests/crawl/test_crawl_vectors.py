"""A crawl for a single word, with a table of word vectors: what is called otherwise is found first."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from focused.critics.vectors import WordVectors, write_vectors
from focused.frontier.records import read_records
from focused.pages.tokens import word_to_id

HUB = "http://hub.example/"
ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": False}
SKY, KITCHEN = ("galaxy", "nebula", "telescope", "comet"), ("onion", "butter", "soup", "stew")
EACH = 12


def site() -> dict[str, str]:
    """Half of the pages are about the sky, but none of them says galaxy."""
    pages = {f"{n}": (SKY[1:] if n % 2 else KITCHEN[1:]) for n in range(2 * EACH)}
    links = "".join(f"<li><a href={HUB}{name}>{words[0]} {name}</a>" for name, words in pages.items())
    texts = {f"{HUB}{name}": f"<p>{' '.join(words)} {name} w{name}. " * 9 for name, words in pages.items()}
    return {HUB: f"<p>All that there is.</p>{links}", **texts}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two bundles of words."""
    words = [*SKY, *KITCHEN]
    rows = np.repeat(np.eye(2, 4), len(SKY), axis=0) + np.random.default_rng(1).normal(0, 0.05, (len(words), 4))
    path = tmp_path / "table.npz"
    with path.open("wb") as file:
        write_vectors(WordVectors.of([word_to_id(word) for word in words], rows, "en", "made for a test"), file)
    return path


def test_what_is_called_otherwise_is_fetched_first_and_judged_higher(crawl, table: Path, tmp_path: Path):
    result = crawl(
        site(),
        arguments={"topic": "galaxy", "pages": 1 + EACH},
        settings={**ONE_BY_ONE, "FOCUSED_VECTORS": str(table)},
    )
    assert result.exit_code == 0, result.log
    assert result.log.count("Word vectors: 4 words are near the topic's (made for a test)") == 1
    with closing(read_records(tmp_path / "job")) as records:
        pages = records.execute("SELECT url, relevance FROM pages ORDER BY seq").fetchall()
    assert [int(row["url"].removeprefix(HUB)) % 2 for row in pages[1:]] == [1] * EACH
    assert min(row["relevance"] for row in pages[1:]) > 2 * pages[0]["relevance"]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_table_that_cannot_be_read_is_refused(crawl, tmp_path: Path, is_there: bool):
    path = tmp_path / "bad.npz"
    if is_there:
        path.write_bytes(b"no table")
    result = crawl(site(), settings={"FOCUSED_VECTORS": str(path)})
    assert (result.exit_code, result.visits) == (2, [])
    assert "bad.npz" in result.last_line
    assert result.last_line.endswith("make one with `scrapy vectors`")
    assert "Traceback" not in result.log
