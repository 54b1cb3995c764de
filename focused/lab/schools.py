"""Prioritizers taught by paths in separate processes, one school for each set of paths."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from typing import Any

import msgspec
from scrapy.utils.project import get_project_settings

from focused.critics.models import ModelRefused
from focused.lab.jobs import Job
from focused.lab.plan import TaughtEntrant
from focused.papers.paths.path import Path
from focused.papers.prioritizers.taught import NotTaught
from focused.papers.teaching.paths import PathTeaching, addresses_of
from focused.responses import limits_of
from focused.teaching.gathering import pages_of_web
from focused.teaching.plan import CannotTeach
from focused.topics.topic import load_topic
from focused.warc.web import Web

Pupil = tuple[TaughtEntrant, Job]
"""A prioritizer to be taught: its outcome so far, and the crawl that it will lead."""


@dataclass(frozen=True)
class School:
    """Prioritizers that are taught by the same paths, whose pages are in ``web``; ``source`` is where they are from."""

    paths: list[Path]
    web: list[str]
    source: dict[str, str]
    pupils: list[Pupil]


def teach_all(schools: Sequence[School], most: int) -> Iterator[TaughtEntrant]:
    """Teach in at most so many processes, and yield the outcome of each prioritizer when its school has finished."""
    if not schools:
        return
    # Not forked: the threads of libraries that train do not survive it.
    with ProcessPoolExecutor(min(most, len(schools)), mp_context=get_context("spawn")) as pool:
        try:
            for done in as_completed([pool.submit(_teach, school) for school in schools]):
                yield from done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _teach(school: School) -> list[TaughtEntrant]:
    settings = get_project_settings()
    fetched = pages_of_web(addresses_of(school.paths), _open(tuple(school.web)), limits_of(settings))
    source: dict[str, Any] = {**school.source, "web": school.web}
    results = []
    for taught, job in school.pupils:
        settings.setdict(job.settings, priority="cmdline")
        began = time.process_time()
        try:
            teaching = PathTeaching.plan(load_topic(job.arguments["topic"]), settings)
            card = teaching.teach(school.paths, fetched, source, lambda *_: None)
        except (NotTaught, CannotTeach, ModelRefused) as error:
            results.append(msgspec.structs.replace(taught, refused=str(error)))
        else:
            spent = time.process_time() - began
            results.append(msgspec.structs.replace(taught, figures=card.figures, cpu=spent))
    return results


@lru_cache(maxsize=1)
def _open(paths: tuple[str, ...]) -> Web:
    return Web.open(*paths)
