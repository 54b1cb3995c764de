"""What a report of a job is made from."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from focused.frontier.records import count_by
from focused.frontier.starts import read_about, read_starts
from focused.frontier.store import JobRefused, Outcome, State
from focused.report.learned import AtOffset, Model, learned_by_offset, read_model
from focused.report.source import ClassLine, Judged, PageLine, Source, StartLine


class JobSource(Source):
    """The records of a job; ``job`` is its folder."""

    def __init__(self, connection: sqlite3.Connection, job: Path) -> None:
        self._connection = connection
        self._job = job
        self.place = str(job)

    def about(self) -> dict[str, Any] | None:
        try:
            return read_about(self._connection)
        except JobRefused:
            return None

    def judged(self) -> Judged:
        rows = self._connection.execute(
            "SELECT p.seq, p.relevance, p.outcome, l.host FROM pages p JOIN links l ON l.id = p.link ORDER BY p.seq"
        ).fetchall()
        names = self._hosts()
        of = {host: i for i, host in enumerate(names)}
        return Judged(
            order=np.array([row[0] for row in rows], np.int64),
            relevance=np.array([row[1] for row in rows], np.float64),
            is_new=np.array([row[2] == Outcome.PAGE for row in rows], np.bool_),
            host=np.array([of[row[3]] for row in rows], np.int64),
            hosts=list(names.values()),
        )

    def page(self, order: int) -> PageLine:
        query = "SELECT seq, url, title, relevance, class FROM pages WHERE seq = ?"
        return PageLine(*self._connection.execute(query, (order,)).fetchone())

    def classes(self, most: int) -> list[ClassLine]:
        rows = self._connection.execute(
            "SELECT class, count(*), avg(relevance) FROM pages WHERE class != '' GROUP BY class "
            "ORDER BY count(*) DESC, class LIMIT ?",
            (most,),
        )
        return [ClassLine(*row) for row in rows]

    def waiting(self) -> int:
        states = count_by(self._connection, "state")
        return states.get(State.WAITING, 0) + states.get(State.LEASED, 0)

    def waiting_by_host(self) -> dict[str, int]:
        names = self._hosts()
        rows = self._connection.execute("SELECT host, count(*) FROM links WHERE state IN (1, 2) GROUP BY host")
        return {names[host]: count for host, count in rows}

    def outcomes(self) -> dict[Outcome, int]:
        return {Outcome(number): count for number, count in count_by(self._connection, "outcome").items() if number}

    def details(self, outcome: Outcome, most: int) -> list[tuple[str, int]]:
        rows = self._connection.execute("SELECT detail FROM links WHERE outcome = ? AND detail != ''", (outcome.value,))
        return Counter(detail for (detail,) in rows).most_common(most)

    def starts(self) -> list[StartLine]:
        """How many pages each fetched is told by the next one, or by the records."""
        starts = read_starts(self._connection)
        (pages,) = self._connection.execute("SELECT count(*) FROM pages").fetchone()
        before = [start["pages_before"] for start in starts] + [pages]
        return [
            StartLine(
                start["began"],
                start.get("ended"),
                start.get("why") or ("it was cut short" if i + 1 < len(starts) else ""),
                start.get("requests"),
                max(before[i + 1] - before[i], 0),
            )
            for i, start in enumerate(starts)
        ]

    def ended(self) -> str:
        starts = self.starts()
        if not starts:
            return "It is not known how this crawl ended."
        if not starts[-1].ended:
            return "This crawl is under way, or it was cut short: the same command goes on with it."
        why = starts[-1].why
        return f"Why it ended: {why}." if why else "The crawl has ended."

    def learned(self) -> tuple[Model, list[AtOffset]] | None:
        try:
            model = read_model(self._connection)
        except JobRefused:
            return None
        return model, learned_by_offset(self._connection, model.prioritizer)

    def _hosts(self) -> dict[int, str]:
        return dict(map(tuple, self._connection.execute("SELECT id, name FROM hosts")))
