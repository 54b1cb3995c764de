"""What a comparison is asked for, and what comes of it: plain data, written to ``results.json``."""

from __future__ import annotations

import msgspec

from focused.lab.bounds import ROWS
from focused.lab.measure import Figures


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared with what, where and how. ``starts`` 0 takes the starting pages that the topics file gives."""

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
    critic: str = "logistic"
    fast: bool = False
    workers: int = 0
    concurrency: int = 1
    budgets: tuple[int, ...] = (200, 500, 1000)
    limits: tuple[str, ...] = ROWS
    settings: dict[str, str] = {}


class Run(msgspec.Struct, kw_only=True):
    """One crawl, real or on paper, and what it was worth."""

    topic: str
    row: str
    start: int
    figures: Figures
    share: float | None = None
    loss_ratio: float | None = None
    cpu_ms: float | None = None
    seconds: float | None = None
    stopped_by: str = ""


class Results(msgspec.Struct, kw_only=True):
    """All raw figures of a comparison, and how they were made."""

    command: list[str]
    versions: dict[str, str]
    plan: Plan
    targets: dict[str, int]
    examples: dict[str, int]
    starts: dict[str, list[list[str]]]
    runs: list[Run]
