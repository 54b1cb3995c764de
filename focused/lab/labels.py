"""The labels of a recorded web in the place of a teacher (`focused.asking`): ``scrapy compare --answers``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from scrapy.crawler import Crawler

from focused.defaults import read
from focused.topics.topic import Topic
from focused.visits.questions import Question
from focused.warc.web import normal_form


class LabelTeacher:
    """Says yes to the pages at some addresses, and no to all others."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self._wanted = {normal_form(url) for url in wanted}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads the addresses from the file ``FOCUSED_LAB_WANTED``."""
        lines = Path(read(crawler.settings, "FOCUSED_LAB_WANTED")).read_text("utf-8").split("\n")
        return cls(line for line in lines if line)

    def __call__(self, pages: Sequence[Question], topic: Topic) -> list[bool]:
        return [normal_form(page.url) in self._wanted for page in pages]
