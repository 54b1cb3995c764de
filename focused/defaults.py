"""Every FOCUSED_* setting, its default, and what it does.

`read` is the one way to read them: it gives the type of the default, in any Scrapy project, also one whose
settings module does not know ours.
"""

from __future__ import annotations

import os
from typing import Any

from scrapy.settings import BaseSettings

DEFAULTS: dict[str, Any] = {
    # Folder of the trained critics, a folder per topic. Also from the environment. Trusted: joblib files run code.
    "FOCUSED_MODELS": "models",
    # Judge of pages: naive-bayes, logistic, keywords, or a dotted path. "" = what the topic says, or what fits it.
    "FOCUSED_CRITIC": "",
    # Judge of links: breadth-first, random, best-first, apprentice, or a dotted path. "" = what the topic says.
    "FOCUSED_PRIORITIZER": "",
    # The most links, leaves and words taken from one page; the rest is counted in focused/page/left_out/*.
    "FOCUSED_PAGE_LINKS": 2_000,
    "FOCUSED_PAGE_LEAVES": 20_000,
    "FOCUSED_PAGE_WORDS": 100_000,
    # The topic, for projects whose own spider uses the prioritizer middleware (ours takes it as an argument).
    "FOCUSED_TOPIC": "",
    # A saved apprentice (a file of arrays) to begin with.
    "FOCUSED_APPRENTICE": "",
    # Stop after so many pages, after so many relevant ones, or when harvest over the last k pages falls below h
    # ("0.05/200"); 0 and "" = never.
    "FOCUSED_STOP_PAGES": 0,
    "FOCUSED_STOP_FOUND": 0,
    "FOCUSED_STOP_DRY": "",
    # Only items of this relevance or more are written; the job keeps all.
    "FOCUSED_OUTPUT_RELEVANT": 0.0,
    # A link that was postponed this often (host asleep, robots.txt unreachable) is given up.
    "FOCUSED_POSTPONED_TIMES": 5,
    # What was learned is saved with the job after this many batches, and at the end.
    "FOCUSED_SAVE_EVERY": 20,
    # Lessons are learned after this many pages.
    "FOCUSED_TRAIN_EVERY": 10,
    # Pieces of evidence kept for one waiting link: the first, the best, a random rest.
    "FOCUSED_EVIDENCE_PIECES": 8,
    # Links to pages fetched before give lessons at once (the paper takes only links seen before their page),
    # but at most this many per page. 0 = as in the paper.
    "FOCUSED_LATE_LESSONS": 0,
    # Pieces of evidence that may be scored again per fetched page, on average; small frontiers are always redone.
    "FOCUSED_RESCORE_PER_PAGE": 3_000,
    # A page that was leased this often and never finished is given up.
    "FOCUSED_LEASES": 3,
    # A recorded web (a WARC file) that focused.replay.handler answers from, and a file that notes every answer.
    "FOCUSED_REPLAY_WEB": "",
    "FOCUSED_REPLAY_LOG": "",
    # For experiments: stop after so many pages, without counting those whose addresses stand in a file (one a line).
    "FOCUSED_LAB_PAGES": 0,
    "FOCUSED_LAB_IGNORED": "",
    # The final statistics are written to this file, as JSON.
    "FOCUSED_STATS_FILE": "",
}

_FROM_ENVIRONMENT = ("FOCUSED_MODELS",)


def from_environment() -> dict[str, str]:
    """Settings that may also come from the environment."""
    return {name: os.environ[name] for name in _FROM_ENVIRONMENT if os.environ.get(name)}


def read(settings: BaseSettings, name: str) -> Any:
    """The value of one of our settings, as the type of its default."""
    default = DEFAULTS[name]
    value = settings.get(name)
    if value is None:
        return default
    if isinstance(default, bool):
        return settings.getbool(name)
    if isinstance(default, list):
        return settings.getlist(name)
    return type(default)(value)
