"""Reads the crawl of a job folder from its records."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from focused.arrays import Damaged
from focused.defaults import DEFAULTS
from focused.files import identity
from focused.frontier.combining import score_all
from focused.frontier.evidence import EvidenceReader, leading_to, read_blocks
from focused.frontier.inbox import LETTERS, FileInbox
from focused.frontier.layout import MODELS, is_sound, numbers_of
from focused.frontier.records import (
    FILE,
    check_records,
    damaged,
    file_in,
    lock_holder,
    read_items,
    read_records,
    rows_in,
)
from focused.frontier.steering import STEERING, Steering, fitting, lifted
from focused.frontier.store import SEED_RANK, JobRefused, Outcome, State
from focused.pages.evidence import Evidence
from focused.pages.urls import url_to_key
from focused.prioritizers.base import Prioritizer
from focused.report.job_status import JobStatus, last_pages, read_job_status
from focused.report.marks import told_to
from focused.report.now import Now, read_now
from focused.report.reader import CrawlReader, LinkLine, PageLine, PageTable, WaitingLinks
from focused.report.status import MOST_HOSTS
from focused.report.words import WordTable
from focused.safety.patterns import Patterns
from focused.scheduling.starts import noted, noted_number, read_about, read_starts
from focused.visits.training import MODEL

# With the columns of `LinkLine` and of `PageLine`.
_LINK = f"""
SELECT l.id AS number, l.url, coalesce(h.name, '') AS host, coalesce(l.depth, 0) AS depth, l.state, l.outcome,
    coalesce(l.detail, '') AS detail, coalesce(l.base = {SEED_RANK}, 0) AS is_seed, coalesce(l.target, 0) AS target
FROM links l LEFT JOIN hosts h ON h.id = l.host WHERE """  # noqa: S608  # a number of ours
_PAGES = """
SELECT link, seq AS "order", url, coalesce(title, '') AS title, relevance, coalesce(class, '') AS best_class,
    outcome = 2 AS is_duplicate, json_extract(item, '$.score') AS score, coalesce(CASE outcome WHEN 2 THEN
        (SELECT first.url FROM pages first WHERE first.digest = pages.digest AND first.outcome = 1) END, '') AS same_as,
    coalesce(said, '') AS said, coalesce(who, '') AS who
FROM pages LEFT JOIN (SELECT link, said, who, max(number) FROM answers GROUP BY link) USING (link)
WHERE """

_MODEL = f"SELECT data, seq FROM models WHERE name = :name AND {is_sound(MODELS)}"  # noqa: S608  # our names


class JobReader(CrawlReader):
    """The records of a job, with its folder. Figures of one call are of one moment."""

    def __init__(self, connection: sqlite3.Connection, job: Path) -> None:
        self._open: sqlite3.Connection | None = connection
        self._file = file_in(job)
        self._is = identity(self._file)
        self._folder = self._file.parent
        self._evidence = EvidenceReader(self._execute)
        self.name = self.place = str(job)
        self.report_path = self._folder / "report.html"
        self.inbox = FileInbox(self._folder)

    @classmethod
    def open(cls, job: str | Path) -> Self:
        """The reader of a job folder (or of the file in it); JobRefused if there is no job."""
        path = Path(job)
        connection = read_records(job)
        try:
            check_records(connection, file_in(path))
        except BaseException:
            connection.close()
            raise
        return cls(connection, path)

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            if identity(self._file) != self._is:
                raise JobRefused(f"the job in {self.place!r} is gone: it was deleted, moved or replaced meanwhile")
            self._open = read_records(self._file)
        return self._open

    def close(self) -> None:
        self.rest()

    def rest(self) -> None:
        """The last one who lets go of the file tidies it up, which must be a crawl that ends meanwhile."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, *_: object) -> None:
        """Damage that shows when something is read is damage to a file that has a name."""
        self.close()
        if isinstance(error, sqlite3.DatabaseError):
            raise damaged(self._folder / FILE, error) from error

    # --- how it was made, and its status ----------------------------------------------------------------------

    def status(self, most_hosts: int = MOST_HOSTS) -> JobStatus:
        # Before the records: of a crawl that ends meanwhile they then say that it has.
        pid = lock_holder(self._folder)
        self._connection.execute("BEGIN")
        try:
            return read_job_status(self._connection, self.place, pid, most_hosts, told=told_to(self))
        finally:
            self._connection.rollback()

    def is_running(self) -> bool:
        return lock_holder(self._folder) is not None

    def now(self) -> Now:
        return read_now(self._folder)

    def inbox_place(self) -> int:
        return noted_number(self._connection, LETTERS) or 0

    def steering(self) -> Steering:
        try:
            return Steering.of(noted(self._connection, STEERING))
        except Damaged as error:
            raise damaged(self._folder / FILE, error) from error

    def about(self) -> dict[str, Any]:
        return read_about(self._connection)

    def starts(self) -> list[dict[str, Any]]:
        starts = read_starts(self._connection)
        for start, last_page in zip(starts, last_pages(starts, self.page_count()), strict=False):
            start["why"] = start.get("why") or ("it was cut short" if start is not starts[-1] else "")
            start["pages"] = max(last_page - start["pages_before"], 0)
        return starts

    # --- pages -------------------------------------------------------------------------------------------------

    def page_count(self) -> int:
        (pages,) = self._connection.execute("SELECT count(*) FROM pages").fetchone()
        return int(pages)

    def page_table(self) -> PageTable:
        rows = self._connection.execute(
            "SELECT p.link, p.relevance, p.outcome = 1, coalesce(h.name, ''), coalesce(p.class, '') FROM pages p "
            "JOIN links l ON l.id = p.link LEFT JOIN hosts h ON h.id = l.host ORDER BY p.seq"
        ).fetchall()
        link, relevance, is_new, host, best_class = zip(*rows, strict=True) if rows else [()] * 5
        return PageTable(
            np.array(link, np.int64), np.array(relevance, np.float64), np.array(is_new, np.bool_), host, best_class
        )

    def pages(self, links: Sequence[int]) -> list[PageLine]:
        rows = rows_in(self._connection.execute, f"{_PAGES} link IN ({{}})", links)
        found = {row["link"]: PageLine(**dict(row)) for row in rows}
        return [found[link] for link in links if link in found]

    def pages_after(self, order: int) -> list[PageLine]:
        rows = self._connection.execute(f"{_PAGES} outcome = 1 AND seq > ? ORDER BY seq", (order,))
        return [PageLine(**dict(row)) for row in rows]

    def gists(self, links: Sequence[int]) -> dict[int, bytes]:
        query = "SELECT link, data FROM gists WHERE link IN ({})"
        return dict(map(tuple, rows_in(self._connection.execute, query, links)))

    def items(self) -> Iterator[dict[str, Any]]:
        return read_items(self._connection)

    # --- links -------------------------------------------------------------------------------------------------

    def link_at(self, *urls: str) -> LinkLine | None:
        """A request of a user's own may have another key than that of its address, which takes longer to find."""
        return self._link("l.key", *map(url_to_key, urls)) or self._link("l.url", *urls)

    def link(self, number: int) -> LinkLine | None:
        return self._link("l.id", number)

    def _link(self, column: str, *values: int | str) -> LinkLine | None:
        row = self._row(f"{_LINK} {column} IN ({','.join('?' * len(values))})", *values)
        return LinkLine(**dict(row)) if row else None

    def waiting_links(self, prioritizer: Prioritizer) -> WaitingLinks:
        """Scored by the model that was saved last: the crawl keeps its own scores in memory."""
        preferred = Patterns(self.steering().preferred)
        url = "url" if preferred else "''"
        query = f"SELECT id, host, base, {url} FROM links WHERE state = ?"  # noqa: S608  # ours
        rows = self._connection.execute(query, (State.WAITING.value,)).fetchall()
        links = np.array([row[0] for row in rows], np.int64)
        settings = self.about().get("settings", {})
        most = settings.get("FOCUSED_EVIDENCE_PIECES")
        most = most if isinstance(most, int) and most > 0 else DEFAULTS["FOCUSED_EVIDENCE_PIECES"]
        batches = (Evidence.concat([block for *_, block in blocks]) for blocks in read_blocks(self._connection))
        scores, pieces = score_all(batches, prioritizer, size=int(links.max(initial=0)) + 1, most=most)
        is_preferred = fitting(preferred, [row[3] for row in rows])
        scores = lifted(scores[links], is_preferred & (pieces[links] > 0))
        base = np.array([row[2] or 0.0 for row in rows], np.float32)
        return WaitingLinks(links, np.array([row[1] for row in rows], np.int64), scores, scores + base)

    def details(self, outcome: Outcome, most: int) -> list[tuple[str, int]]:
        rows = self._connection.execute("SELECT detail FROM links WHERE outcome = ? AND detail != ''", (outcome.value,))
        return Counter(detail for (detail,) in rows).most_common(most)

    # --- what was learned --------------------------------------------------------------------------------------

    def learned_state(self) -> tuple[bytes, str] | None:
        sound = {"name": MODEL, **numbers_of(self._connection)}
        row = self._connection.execute(_MODEL, sound).fetchone()
        return (row["data"], f"saved after page {row['seq']:,}") if row else None

    def words(self) -> WordTable:
        rows = self._connection.execute("SELECT id, word FROM words").fetchall()
        return WordTable(np.array([row[0] for row in rows], np.uint32), [row[1] for row in rows])

    def evidence_of(self, *links: int) -> Evidence | None:
        return self._evidence.of([each for link in links for each in leading_to(self._connection.execute, link)])

    def _execute(self, query: str, values: Sequence[Any]) -> sqlite3.Cursor:
        return self._connection.execute(query, values)

    def _row(self, query: str, *values: Any) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self._connection.execute(query, values).fetchone()
        return row
