"""Every FOCUSED_* setting: what it takes, its default, and the argument of the spider that sets it.

`read` reads one in any Scrapy project, also where the settings module does not know ours. The tables in
docs/settings.md and docs/topics.md are made from this module and its ``#:`` comments (``python scripts/reference.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from msgspec import Meta

from focused.problems import Problems, ProblemsError
from focused.schema import (
    AMOUNT,
    COUNT,
    DRY,
    FILE,
    HOSTS,
    INNER,
    NAMES,
    PATTERNS,
    POSITIVE,
    SHARE,
    SWITCH,
    TEXT,
    VECTORS,
    Kind,
    named,
    typed,
)

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

T = TypeVar("T")
CRITIC_NAME, PRIORITIZER_NAME = named("critic"), named("prioritizer")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting; ``argument`` is the spider's argument that sets it, if there is one."""

    kind: Kind
    default: Any
    argument: str = ""

    def convert(self, value: Any, where: str, problems: Problems) -> Any:
        """A value of it, converted; what is wrong with it goes to the problems."""
        return self.default if value in (None, self.default) else self.kind.convert(value, where, problems)


SETTINGS = {
    # Topic, critic and prioritizer
    #: The topic, for a spider of your own that has none; the spider `focused` takes it as an argument
    "FOCUSED_TOPIC": Setting(TEXT, ""),
    #: Whether topic files may set any setting, name your classes and read any file. `False` is for services to which
    #: strangers upload topic files ([Topics](topics.md#topic-files-of-strangers))
    "FOCUSED_TOPICS_TRUSTED": Setting(SWITCH, True),
    #: Folder of the trained critics, with a folder for each topic. Only use one that you trust: joblib files run
    #: code. Can also come from the environment
    "FOCUSED_MODELS": Setting(TEXT, "models"),
    #: The judge of pages: a short name ([Critics](critics.md)) or a dotted path. Empty: the critic that the topic
    #: names, or the one that fits the topic
    "FOCUSED_CRITIC": Setting(CRITIC_NAME, "", "critic"),
    #: A table of word vectors, with which a name finds what is called otherwise: a file that `scrapy vectors` made, or
    #: the installed package `wordllama` ([Word vectors](critics.md#word-vectors)). Empty: none
    "FOCUSED_VECTORS": Setting(VECTORS, ""),
    #: The judge of links: a short name ([Prioritizers](prioritizers.md)) or a dotted path. Empty: the prioritizer
    #: that the topic names, or `focused`
    "FOCUSED_PRIORITIZER": Setting(PRIORITIZER_NAME, "", "prioritizer"),
    #: A file with what the prioritizer of an earlier crawl has learned (`scrapy export --learned`), to begin with
    "FOCUSED_LEARNED": Setting(FILE, "", "learned"),
    # A teacher
    #: Asked about pages of the crawl, whether they are wanted: the dotted path of a function ([Teacher](teacher.md)).
    #: Empty: nobody is asked
    "FOCUSED_TEACHER": Setting(named("teacher"), ""),
    #: The most pages that the teacher is asked about, over all starts of the job and all workers of a crawl
    "FOCUSED_TEACHER_ANSWERS": Setting(POSITIVE, 40),
    #: The teacher is asked about at most this many pages at once
    "FOCUSED_TEACHER_AT_ONCE": Setting(POSITIVE, 5),
    #: Seconds after which the teacher is not waited for any more; what it was asked then counts as not asked
    "FOCUSED_TEACHER_TIMEOUT": Setting(typed(Annotated[float, Meta(gt=0)]), 60.0),
    # Pages
    #: The most links taken from one page; what these three limits leave out is counted in `focused/page/left_out/*`
    "FOCUSED_PAGE_LINKS": Setting(POSITIVE, 2_000),
    #: The most leaves taken from one page
    "FOCUSED_PAGE_LEAVES": Setting(POSITIVE, 20_000),
    #: The most words taken from one page
    "FOCUSED_PAGE_WORDS": Setting(POSITIVE, 100_000),
    # Learning and the frontier
    #: The prioritizer learns after this many pages, or after a hundredth of all pages so far if that is more. 0: the
    #: prioritizer's own default, 1 for `focused`, 10 for the others
    "FOCUSED_TRAIN_EVERY": Setting(COUNT, 0),
    #: What was learned is saved in the job after this many batches, and at the end
    "FOCUSED_SAVE_EVERY": Setting(POSITIVE, 20),
    #: Pieces of evidence kept for one waiting link: the first, the best, and a random sample of the others
    "FOCUSED_EVIDENCE_PIECES": Setting(POSITIVE, 8),
    #: Also learn from new links to pages that were already fetched, from at most this many per page. 0: none, as in the
    #: paper, which learns only from links seen before their page. -1: the prioritizer's own default, 5 for `focused`, 0
    #: for the others
    "FOCUSED_LATE_LESSONS": Setting(typed(Annotated[int, Meta(ge=-1)]), -1),
    #: When the critic has learned from the pages of the crawl and judges many of them otherwise, the prioritizer is
    #: taught anew, by the lessons of at most so many pages, the newest ones
    "FOCUSED_LESSONS_ANEW": Setting(POSITIVE, 5_000),
    #: A link whose score is below this share of the best score that waits for its host is not fetched yet. 0: from
    #: each free host the best link is fetched, however poor, which gives the most pages per hour. Towards 1: fewer
    #: pages per hour, a better harvest
    "FOCUSED_PATIENCE": Setting(SHARE, 0.5),
    #: Pieces of evidence that may be scored again per fetched page, on average. While the evidence of all links not yet
    #: fetched fits in memory (48 MB, about 5,000 pages), all of it is always scored again
    "FOCUSED_RESCORE_PER_PAGE": Setting(COUNT, 3_000),
    #: A page is given up if it was being parsed and judged this many times when the crawl died. The first death does
    #: not count: only after it are the pages that were in progress fetched one by one, to find the culprit
    "FOCUSED_DEATHS": Setting(POSITIVE, 3),
    #: A link may be postponed this many times (its host is asleep, robots.txt cannot be reached) before it is given up
    "FOCUSED_POSTPONED_TIMES": Setting(COUNT, 5),
    #: Whether to follow the links of a page whose content was fetched before (as with login and consent walls)
    "FOCUSED_FOLLOW_DUPLICATES": Setting(SWITCH, False),
    #: The links of a page are followed only if its relevance, when it was fetched, is at least this; the same holds for
    #: seeds. 0: the links of all pages. (In the paper's figures 1 and 2 the relevance has to be "large enough".)
    "FOCUSED_FOLLOW_FROM": Setting(SHARE, 0.0),
    # Several workers on one crawl
    #: Where the frontier is kept: `sqlite` is a file in the JOBDIR, for one process; `redis` is a Redis server, for any
    #: number of processes
    "FOCUSED_FRONTIER": Setting(named("frontier"), "sqlite"),
    #: The name of the crawl in Redis; processes that give the same name share the crawl. Empty: named after the topic
    "FOCUSED_CRAWL": Setting(TEXT, ""),
    #: Keys that the `meta` of a pushed seed may hold, besides `depth`. Keys of Scrapy and of middlewares (`proxy`,
    #: `dont_obey_robotstxt`) let whoever pushes seeds decide how they are fetched
    "FOCUSED_SEED_META": Setting(NAMES, []),
    #: A worker that has given no sign of life for this many seconds is considered dead, and its links go to other
    #: workers. At least 2: a worker gives a sign of life each second, and a slow page must not make it look dead
    "FOCUSED_LEASE_SECONDS": Setting(typed(Annotated[float, Meta(ge=2, le=1_000_000_000)]), 60.0),
    #: If Redis does not answer, a worker waits this many seconds before it gives up
    "FOCUSED_REDIS_PATIENCE": Setting(AMOUNT, 600.0),
    #: At most this many links wait in Redis; beyond that, the worst are dropped. 0: any number
    "FOCUSED_MOST_WAITING": Setting(COUNT, 0),
    # When to stop, and what to write
    #: Stop after this many pages fetched completely. 0: never
    "FOCUSED_STOP_PAGES": Setting(COUNT, 0, "pages"),
    #: Stop after this many relevant pages (relevance 0.5 or more); pages in progress then may add a few. 0: never
    "FOCUSED_STOP_FOUND": Setting(COUNT, 0, "found"),
    #: Stop when less than this share of the last k pages was found, written `share/k`: `0.05/200`; `0.05` alone looks
    #: at 200 pages. Empty: never
    "FOCUSED_STOP_DRY": Setting(DRY, "", "dry"),
    #: Fetch at most this many pages of one host (with several workers, plus those that the others have in progress).
    #: Links that still wait for a host that is full end as denied, for the whole job. 0: any number
    "FOCUSED_STOP_PER_HOST": Setting(COUNT, 0, "per_host"),
    #: Write only items whose relevance is at least this; the job keeps all of them
    "FOCUSED_OUTPUT_RELEVANT": Setting(SHARE, 0.0, "relevant"),
    #: Write the pages as WARC into this folder, or to files with this name (`crawl.warc.gz`: `crawl-00000.warc.gz`,
    #: …). Empty: no archive
    "FOCUSED_ARCHIVE": Setting(TEXT, ""),
    #: A new archive file is begun after about this many bytes
    "FOCUSED_ARCHIVE_SIZE": Setting(COUNT, 1_000_000_000),
    #: Archive every response, including those to requests for robots.txt
    "FOCUSED_ARCHIVE_ALL": Setting(SWITCH, False),
    #: Write the final statistics to this file, as JSON
    "FOCUSED_STATS_FILE": Setting(TEXT, ""),
    #: Where the report is written at the end: a path, or `job` for report.html in the JOBDIR, if there is one. Empty:
    #: no report
    "FOCUSED_REPORT": Setting(TEXT, "job"),
    #: Seconds between two progress lines in the log (a terminal has a live line instead). 0: no such lines
    "FOCUSED_PROGRESS_EVERY": Setting(AMOUNT, 30.0),
    # Where a crawl may go
    #: Crawl only these hosts and their subdomains, seeds included; topic, argument and setting add up. Empty: all hosts
    "FOCUSED_SCOPE_ALLOWED_HOSTS": Setting(HOSTS, [], "allow_hosts"),
    #: Never crawl these hosts and their subdomains, seeds included
    "FOCUSED_SCOPE_DENIED_HOSTS": Setting(HOSTS, [], "deny_hosts"),
    #: Follow only addresses in which one of these regular expressions is found. Empty: all addresses
    "FOCUSED_SCOPE_ALLOW": Setting(PATTERNS, [], "allow"),
    #: Follow no address in which one of these regular expressions is found
    "FOCUSED_SCOPE_DENY": Setting(PATTERNS, [], "deny"),
    #: Follow links at most this far from the seeds, which have depth 0. 0: any depth
    "FOCUSED_SCOPE_DEPTH": Setting(COUNT, 0, "depth"),
    # Traps
    #: The most characters in an address. 0: any number
    "FOCUSED_TRAP_LENGTH": Setting(COUNT, 1_000),
    #: The most segments in the path of an address. 0: any number
    "FOCUSED_TRAP_SEGMENTS": Setting(COUNT, 20),
    #: A run of path segments that occurs this many times in a row is a loop. 0: nothing is a loop
    "FOCUSED_TRAP_REPEATS": Setting(COUNT, 3),
    #: The most parameters in the query of an address. 0: any number
    "FOCUSED_TRAP_PARAMETERS": Setting(COUNT, 8),
    #: The most addresses with a date in them that differ only in their numbers (calendars). 0: any number
    "FOCUSED_TRAP_DATES": Setting(COUNT, 500),
    #: The most addresses that differ only in the values of their parameters; with three or more parameters, a tenth of
    #: this. 0: any number
    "FOCUSED_TRAP_QUERIES": Setting(COUNT, 5_000),
    #: The most addresses of one host that may enter the frontier. 0: any number
    "FOCUSED_TRAP_HOST_LINKS": Setting(COUNT, 100_000),
    # Safety and politeness
    #: What happens to addresses of inner networks (loopback, private, link-local…): `refuse` or `allow`. See
    #: [Safety](safety.md)
    "FOCUSED_INNER_ADDRESSES": Setting(typed(Literal["refuse", "allow"]), "refuse"),
    #: Inner addresses to allow: addresses, networks (`10.0.0.0/8`) or names, each with or without `:port`
    "FOCUSED_INNER_ALLOWED": Setting(INNER, []),
    #: Seconds after which robots.txt is fetched again
    "FOCUSED_ROBOTS_AGE": Setting(AMOUNT, 86_400.0),
    #: The longest wait, in seconds, before a robots.txt that could not be read is requested again; the first wait is a
    #: minute
    "FOCUSED_ROBOTS_RETRY": Setting(AMOUNT, 3_600.0),
    #: A host is refused after this many failed attempts to read its robots.txt
    "FOCUSED_ROBOTS_TRIES": Setting(POSITIVE, 4),
    #: The number of hosts whose rules are remembered
    "FOCUSED_ROBOTS_HOSTS": Setting(POSITIVE, 10_000),
    #: Crawl-delay in robots.txt is honoured up to this many seconds
    "FOCUSED_CRAWL_DELAY_MAX": Setting(AMOUNT, 60.0),
    #: A host is left alone for a while after this many failed connections in a row
    "FOCUSED_BACKOFF_FAILURES": Setting(POSITIVE, 4),
    #: The first of these pauses, in seconds; each one after it is twice as long
    "FOCUSED_BACKOFF_FIRST": Setting(AMOUNT, 30.0),
    #: The longest of these pauses, in seconds
    "FOCUSED_BACKOFF_LONGEST": Setting(AMOUNT, 900.0),
    #: A host is given up after this many pauses
    "FOCUSED_BACKOFF_TIMES": Setting(COUNT, 5),
    #: A host that asks for a longer wait than this, in seconds (Retry-After), is given up
    "FOCUSED_BACKOFF_LONGEST_ASKED": Setting(AMOUNT, 3_600.0),
    #: The most requests a second to all hosts of one registrable domain: as many as eight hosts give with a delay of a
    #: second, more than the pages of one owner are worth to others' hosts. Never less than `DOWNLOAD_DELAY` gives a
    #: single host; with a delay of 0, and with 0 here: any number
    "FOCUSED_DOMAIN_RATE": Setting(AMOUNT, 8.0),
    #: The most requests out at once to all hosts of one registrable domain: half of `CONCURRENT_REQUESTS`, so that a
    #: domain whose servers keep requests hanging leaves the other half to others. 0: any number
    "FOCUSED_DOMAIN_AT_ONCE": Setting(COUNT, 8),
    #: The most hosts of one registrable domain that are met in a minute and have no relevant page so far. Those that
    #: have one do not count: the hosts of an encyclopedia or of a hoster of blogs come in as fast as they are found. 0:
    #: any number
    "FOCUSED_DOMAIN_NEW_HOSTS": Setting(COUNT, 30),
    #: The most requests a second to all hosts at one address (IPv4, or a network /64 of IPv6): twice that of a domain,
    #: because sites of many owners share a server. 0: any number
    "FOCUSED_ADDRESS_RATE": Setting(AMOUNT, 16.0),
    #: The most requests out at once to all hosts at one address. 0: any number
    "FOCUSED_ADDRESS_AT_ONCE": Setting(COUNT, 12),
    #: The most hosts at one address that are met in a minute and have no relevant page so far. 0: any number
    "FOCUSED_ADDRESS_NEW_HOSTS": Setting(COUNT, 60),
    # Replay and experiments
    #: A recorded web (WARC files, separated by `:`) that `focused.lab.replay.handler` serves, without sockets
    "FOCUSED_REPLAY_WEB": Setting(TEXT, ""),
    #: A file in which that handler logs every answer
    "FOCUSED_REPLAY_LOG": Setting(TEXT, ""),
    #: For experiments: stop after this many pages, not counting the ignored ones. 0: never
    "FOCUSED_LAB_PAGES": Setting(COUNT, 0),
    #: For experiments: a file of addresses that are not counted, one a line
    "FOCUSED_LAB_IGNORED": Setting(TEXT, ""),
    #: For experiments: a file of the addresses that are wanted, one a line, for `focused.lab.labels.LabelTeacher`
    "FOCUSED_LAB_WANTED": Setting(TEXT, ""),
}
DEFAULTS = {name: setting.default for name, setting in SETTINGS.items()}
RENAMED = {"FOCUSED_APPRENTICE": "FOCUSED_LEARNED", "apprentice": "learned"}
"""Settings and arguments of the past, and what they are called now."""


def read(settings: BaseSettings, name: str) -> Any:
    """The value of one of our settings, converted. ProblemsError, a ValueError, if the setting does not take it."""
    problems = Problems()
    value = SETTINGS[name].convert(settings.get(name), name, problems)
    problems.raise_as(ProblemsError)
    return value


def read_all(kind: type[T], settings: BaseSettings, *groups: str) -> T:
    """A dataclass of settings: the field ``depth`` is ``FOCUSED_GROUP_DEPTH``, of whichever group has one."""
    values = {}
    for field in fields(kind):  # type: ignore[arg-type]  # a dataclass, which no bound of T can say
        names = (f"FOCUSED_{group}_{field.name.upper()}" for group in groups)
        values[field.name] = read(settings, next(name for name in names if name in SETTINGS))
    return kind(**values)
