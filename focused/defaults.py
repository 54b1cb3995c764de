"""Every FOCUSED_* setting, its default, and what it does.

`read` is the one way to read them: it gives the type of the default, in any Scrapy project, also one whose
settings module does not know ours.
"""

from __future__ import annotations

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
}


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
