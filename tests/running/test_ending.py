"""Whether a crawl did what it was asked for, for whoever runs one: the command, and a comparison."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from focused import parts
from focused.running.ending import failure_of


class Crawler:
    """One that has ended, with some of its statistics."""

    def __init__(self, statistics: dict[str, Any]) -> None:
        self.stats = SimpleNamespace(get_value=statistics.get)


WELL = {"finish_reason": "finished", "focused/job/pages": 3, "focused/stopped_by": "no link is left"}
ENDINGS = [
    (WELL, (0, "")),
    (WELL | {"finish_reason": "pages"}, (0, "")),
    (WELL | {"focused/job/pages": 0}, (1, "no link is left")),
    ({"finish_reason": "store_broken", "focused/stopped_by": "the job is gone\x1b[2J"}, (1, "the job is gone[2J")),
    ({"finish_reason": "output_broken"}, (1, "output_broken")),
    ({"finish_reason": "refused"}, (2, "refused")),
]


@pytest.mark.parametrize(("statistics", "code_and_words"), ENDINGS)
def test_how_a_crawl_has_ended(statistics: dict[str, Any], code_and_words: tuple[int, str]) -> None:
    assert failure_of(Crawler(statistics)) == code_and_words


def test_a_job_that_broke_when_it_was_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    crawler = Crawler(WELL | {"focused/stopped_by": "the job cannot be written"})
    broken = SimpleNamespace(frontier=SimpleNamespace(is_broken=True))
    monkeypatch.setattr(parts, "_OF", {crawler: broken})
    assert failure_of(crawler) == (1, "the job cannot be written")
