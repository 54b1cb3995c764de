"""The plan of a comparison and its results: plain data, written to ``results.json``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from focused.files import write_whole
from focused.lab.bounds import ROWS
from focused.lab.calibration import Calibration
from focused.lab.likeness import GAMMAS, Likeness
from focused.lab.measure import CrawlFigures

RESULTS = "results.json"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared with what, where and how. ``starts`` 0 takes the starting pages that the topics file gives.

    ``given`` limits what teaches the critics (`focused.lab.given`), with ``draws`` draws of example pages. Without a
    ``critic`` each topic gets the one that a crawl would choose. With ``answers`` the labels play the teacher
    (`focused.asking`), who is asked about so many pages. ``paths`` (a file, or a folder with one for each topic) teach
    the prioritizers that must be taught; their pages are in ``paths_web``. Without any, paths are drawn from a
    best-first crawl.
    """

    topics: list[str]
    web: list[str]
    prioritizers: list[str]
    pages: int
    out: str
    topics_file: str = ""
    examples: str = ""
    labels: str = ""
    start: str = "on"
    starts: int = 0
    hold_out: str = ""
    critic: str = ""
    given: str = ""
    answers: int = 0
    draws: int = 1
    fast: bool = False
    workers: int = 0
    concurrency: int = 1
    budgets: tuple[int, ...] = (200, 500, 1000)
    gammas: tuple[float, ...] = GAMMAS
    limits: tuple[str, ...] = ROWS
    paths: str = ""
    paths_web: list[str] = []
    settings: dict[str, str] = {}

    @property
    def is_taught_once(self) -> bool:
        """Is a prioritizer taught by paths once for all crawls of a topic?"""
        return bool(self.paths) and self.draws == 1


class OfRow(msgspec.Struct, kw_only=True):
    """What is known of a row in the table of a topic, from one start; ``start`` None: from all.

    With several draws of example pages, ``start`` counts on: draw *d* of *k* starts has the numbers *dk* to *dk+k−1*.
    """

    topic: str
    row: str
    start: int | None

    @property
    def key(self) -> tuple[str, str, int | None]:
        """Topic, row and start."""
        return self.topic, self.row, self.start


class MeasuredCrawl(OfRow, kw_only=True):
    """One crawl, real or on paper, and its figures."""

    figures: CrawlFigures
    likeness: Likeness | None = None
    calibration: Calibration | None = None
    share: float | None = None
    of_two_clicks: float | None = None
    loss_ratio: float | None = None
    cpu_ms: float | None = None
    seconds: float | None = None
    stopped_by: str = ""


class TaughtEntrant(OfRow, kw_only=True):
    """The outcome of teaching a prioritizer by paths; ``refused``: why it failed.

    ``own_pages`` of the pages on its paths are pages that the crawl itself may fetch.
    """

    paths: int
    pages: int
    own_pages: int = 0
    figures: dict[str, float] = {}
    cpu: float = 0.0
    refused: str = ""


def taught_to_text(taught: TaughtEntrant) -> str:
    """The outcome of teaching a prioritizer, in one line."""
    who = f"{taught.topic}{'' if taught.start is None else f', start {taught.start}'}: {taught.row}"
    if taught.refused:
        return f"{who} was not taught: {taught.refused}"
    figures = ", ".join(f"{name} {value:.3g}" for name, value in taught.figures.items())
    # Drawn from the crawl's own records they all are; of given paths it should be known.
    known = taught.own_pages if taught.start is None else 0
    own = f" ({known} of them pages that the crawl may fetch)" if known else ""
    spent = f"{taught.cpu:.1f} s of CPU"
    return f"{who} was taught by {taught.paths} paths with {taught.pages} pages{own}, in {spent}: {figures}"


class Results(msgspec.Struct, kw_only=True):
    """All raw figures of a comparison, and how they were made."""

    command: list[str]
    versions: dict[str, str]
    plan: Plan
    targets: dict[str, int]
    examples: dict[str, int]
    starts: dict[str, list[list[str]]]
    runs: list[MeasuredCrawl]
    taught: list[TaughtEntrant] = []
    critics: dict[str, str] = {}

    def crawls_wanted(self, topics: Iterable[str]) -> int:
        """How many crawls a row has when none is missing."""
        return self.plan.draws * sum(len(self.starts[topic]) for topic in topics)

    def add(self, one: MeasuredCrawl | TaughtEntrant) -> None:
        """Add an outcome; teaching that was tried again replaces its earlier outcome."""
        if isinstance(one, MeasuredCrawl):
            self.runs.append(one)
        else:
            self.taught = [known for known in self.taught if known.key != one.key] + [one]


def read_results(folder: str | Path) -> Results:
    """The results in a comparison's folder. ValueError if there are none that can be read."""
    file = Path(folder) / RESULTS
    try:
        return msgspec.json.decode(file.read_bytes(), type=Results)
    except (OSError, msgspec.DecodeError) as error:
        raise ValueError(f"{file}: cannot be read as the results of a comparison: {error}") from error


def write_results(results: Results, folder: Path) -> None:
    """Write ``results.json``, whole or not at all."""
    with write_whole(folder / RESULTS) as file:
        file.write(msgspec.json.format(msgspec.json.encode(results), indent=1))
