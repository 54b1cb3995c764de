"""Every FOCUSED_* setting, its default, and what it does.

`read` is the one way to read them: it gives the type of the default, in any Scrapy project, also one whose
settings module does not know ours.
"""

from __future__ import annotations

import os
from math import inf
from typing import Any

from scrapy.settings import BaseSettings

DEFAULTS: dict[str, Any] = {
    # Folder of the trained critics, a folder per topic. Also from the environment. Trusted: joblib files run code.
    "FOCUSED_MODELS": "models",
    # Judge of pages: naive-bayes, logistic, keywords, or a dotted path. "" = what the topic says, or what fits it.
    "FOCUSED_CRITIC": "",
    # Judge of links: focused, apprentice, best-first, …, or a dotted path. "" = what the topic says, or focused.
    "FOCUSED_PRIORITIZER": "",
    # The most links, leaves and words taken from one page; the rest is counted in focused/page/left_out/*.
    "FOCUSED_PAGE_LINKS": 2_000,
    "FOCUSED_PAGE_LEAVES": 20_000,
    "FOCUSED_PAGE_WORDS": 100_000,
    # The topic, for projects whose own spider uses the prioritizer middleware (ours takes it as an argument).
    "FOCUSED_TOPIC": "",
    # What an earlier crawl by the same prioritizer has learned (a file of arrays), to begin with.
    "FOCUSED_APPRENTICE": "",
    # Stop after so many pages, after so many relevant ones, or when harvest over the last k pages falls below h
    # ("0.05/200"); 0 and "" = never.
    "FOCUSED_STOP_PAGES": 0,
    "FOCUSED_STOP_FOUND": 0,
    "FOCUSED_STOP_DRY": "",
    # Fetch at most so many pages of one host; 0 = no limit.
    "FOCUSED_STOP_PER_HOST": 0,
    # Only items of this relevance or more are written; the job keeps all.
    "FOCUSED_OUTPUT_RELEVANT": 0.0,
    # A link that was postponed this often (host asleep, robots.txt unreachable) is given up.
    "FOCUSED_POSTPONED_TIMES": 5,
    # What was learned is saved with the job after this many batches, and at the end.
    "FOCUSED_SAVE_EVERY": 20,
    # Lessons are learned after this many pages (or a hundredth of all pages so far, where that is more). 0 = as the
    # prioritizer wants: 1 for focused, 10 for the others.
    "FOCUSED_TRAIN_EVERY": 0,
    # Pieces of evidence kept for one waiting link: the first, the best, a random rest.
    "FOCUSED_EVIDENCE_PIECES": 8,
    # Links to pages fetched before give lessons at once, too (the paper takes only links seen before their page),
    # but at most this many for one of those pages. 0 = as in the paper; -1 = as the prioritizer wants: 5 for focused, 0
    # for the others.
    "FOCUSED_LATE_LESSONS": -1,
    # Pieces of evidence that may be scored again per fetched page, on average; while that of all links not fetched yet
    # is held in memory (48 MB, that of some 5,000 pages) everything is always redone.
    "FOCUSED_RESCORE_PER_PAGE": 3_000,
    # A link below this share of the best score that waits for its host is left for now. 0 = any host that is free gets
    # its best link fetched, however poor: the most pages an hour. Towards 1: fewer pages an hour, a better harvest.
    "FOCUSED_PATIENCE": 0.5,
    # A page that was being parsed and judged at so many deaths of the crawl is given up. (The first death does not
    # count: which of the pages under way it was is only watched from then on.)
    "FOCUSED_DEATHS": 3,
    # Where the frontier is: sqlite = a file in the JOBDIR, for one process; redis = a Redis server, for any number of
    # them (REDIS_URL and the other settings of scrapy-redis say which).
    "FOCUSED_FRONTIER": "sqlite",
    # In Redis, the name of the crawl: processes with the same one share it. "" = after the topic.
    "FOCUSED_CRAWL": "",
    # A worker that gave no sign of life for so many seconds is taken for dead, and its links are given to others.
    "FOCUSED_LEASE_SECONDS": 60.0,
    # When Redis is away, a worker waits for so many seconds before it ends.
    "FOCUSED_REDIS_PATIENCE": 600.0,
    # In Redis, so many links may wait: beyond, the worst are dropped. 0 = no limit.
    "FOCUSED_MOST_WAITING": 0,
    # Which links may enter the frontier, beside what a topic and the command line say: hosts (each with its
    # subdomains) and regular expressions; the greatest depth (seeds have 0). 0 = any.
    "FOCUSED_SCOPE_ALLOWED_HOSTS": [],
    "FOCUSED_SCOPE_DENIED_HOSTS": [],
    "FOCUSED_SCOPE_ALLOW": [],
    "FOCUSED_SCOPE_DENY": [],
    "FOCUSED_SCOPE_DEPTH": 0,
    # Traps; 0 = no limit. Characters of an address, segments of its path, a run of segments that stands so often in
    # a row, parameters of its query.
    "FOCUSED_TRAP_LENGTH": 1_000,
    "FOCUSED_TRAP_SEGMENTS": 20,
    "FOCUSED_TRAP_REPEATS": 3,
    "FOCUSED_TRAP_PARAMETERS": 8,
    # Addresses with a date that differ only in their numbers; addresses that differ only in the values of their
    # parameters (a tenth of it from three parameters on); addresses of one host.
    "FOCUSED_TRAP_DATES": 500,
    "FOCUSED_TRAP_QUERIES": 5_000,
    "FOCUSED_TRAP_HOST_LINKS": 100_000,
    # Addresses of inner networks (loopback, private, link-local…): refuse, or allow all; and those that are allowed
    # all the same: addresses, networks (10.0.0.0/8) or names, each with or without ":port".
    "FOCUSED_INNER_ADDRESSES": "refuse",
    "FOCUSED_INNER_ALLOWED": [],
    # robots.txt: seconds for which it holds; longest wait, in seconds, before one that could not be read is asked for
    # again (the first is a minute); after how many times its host is refused; hosts whose rules are remembered.
    "FOCUSED_ROBOTS_AGE": 86_400.0,
    "FOCUSED_ROBOTS_RETRY": 3_600.0,
    "FOCUSED_ROBOTS_TRIES": 4,
    "FOCUSED_ROBOTS_HOSTS": 10_000,
    # Crawl-delay is honoured up to so many seconds.
    "FOCUSED_CRAWL_DELAY_MAX": 60.0,
    # After so many failed connections in a row a host is left alone, for so many seconds, doubled each time up to the
    # longest; after so many times it is given up. So is one that asks (Retry-After) for more than LONGEST_ASKED.
    "FOCUSED_BACKOFF_FAILURES": 4,
    "FOCUSED_BACKOFF_FIRST": 30.0,
    "FOCUSED_BACKOFF_LONGEST": 900.0,
    "FOCUSED_BACKOFF_TIMES": 5,
    "FOCUSED_BACKOFF_LONGEST_ASKED": 3_600.0,
    # A recorded web (WARC files, apart by ':') that focused.lab.replay.handler answers from, and a file for its log.
    "FOCUSED_REPLAY_WEB": "",
    "FOCUSED_REPLAY_LOG": "",
    # For experiments: stop after so many pages, without counting those whose addresses stand in a file (one a line).
    "FOCUSED_LAB_PAGES": 0,
    "FOCUSED_LAB_IGNORED": "",
    # How often a crawl tells in its log how it goes, in seconds (on a terminal a live line does). 0 = not at all.
    "FOCUSED_PROGRESS_EVERY": 30.0,
    # Where the report is written at the end: "job" = report.html in the JOBDIR if there is one; "" = none.
    "FOCUSED_REPORT": "job",
    # Pages are written as WARC into this folder, or beside this name (crawl.warc.gz gives crawl-00000.warc.gz, …); a
    # file ends at about so many bytes. With ALL every response is written, robots.txt too. "" = no archive.
    "FOCUSED_ARCHIVE": "",
    "FOCUSED_ARCHIVE_SIZE": 1_000_000_000,
    "FOCUSED_ARCHIVE_ALL": False,
    # The final statistics are written to this file, as JSON.
    "FOCUSED_STATS_FILE": "",
}

# What a number must be at least and at most; else at least 0.
_BOUNDS = {
    **dict.fromkeys(("FOCUSED_PAGE_LINKS", "FOCUSED_PAGE_LEAVES", "FOCUSED_PAGE_WORDS"), (1, inf)),
    **dict.fromkeys(("FOCUSED_EVIDENCE_PIECES", "FOCUSED_SAVE_EVERY", "FOCUSED_DEATHS"), (1, inf)),
    **dict.fromkeys(("FOCUSED_ROBOTS_TRIES", "FOCUSED_ROBOTS_HOSTS", "FOCUSED_BACKOFF_FAILURES"), (1, inf)),
    **dict.fromkeys(("FOCUSED_PATIENCE", "FOCUSED_OUTPUT_RELEVANT"), (0, 1)),
    "FOCUSED_LATE_LESSONS": (-1, inf),
}
_CHOICES = {"FOCUSED_INNER_ADDRESSES": ("refuse", "allow")}
_FROM_ENVIRONMENT = ("FOCUSED_MODELS",)


def from_environment() -> dict[str, str]:
    """Settings that may also come from the environment."""
    return {name: os.environ[name] for name in _FROM_ENVIRONMENT if os.environ.get(name)}


def misfit(name: str, value: Any) -> str:
    """Why a value of the right type is none that one of our settings can have; '' if it is."""
    choices = _CHOICES.get(name)
    if choices and value not in choices:
        return f"{value!r}: choose one of {', '.join(choices)}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    least, most = _BOUNDS.get(name, (0, inf))
    if least <= value <= most:
        return ""
    return f"{value!r}: give a number from {least}" + (" on" if most == inf else f" to {most}")


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
