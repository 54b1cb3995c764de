"""How the links that wait stand, by the model that the job saved last: the place of one, and which come first."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.defaults import DEFAULTS
from focused.frontier.starts import read_about
from focused.frontier.store import SEED_RANK, State
from focused.frontier.table import LinkTable
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Prioritizer

_BLOCKS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Standing:
    """A link's score, and its place among all waiting links and among those of its host."""

    score: float
    place: int
    waiting: int
    place_on_host: int
    waiting_on_host: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A link that waits; the score of a seed is None, as it comes before all others whatever that is."""

    url: str
    score: float | None


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The links that wait, the best first, with their hosts, and with their scores whether they are seeds."""

    links: NDArray[np.int64]
    hosts: NDArray[np.int64]
    scores: NDArray[np.float32]
    seeds: NDArray[np.bool_]


def standing_of(connection: sqlite3.Connection, prioritizer: Prioritizer, link: int) -> Standing:
    """Score all that waits, and see."""
    waiting = _all_waiting(connection, prioritizer)
    own = int(np.flatnonzero(waiting.links == link)[0])
    same = waiting.hosts == waiting.hosts[own]
    return Standing(float(waiting.scores[own]), own + 1, len(same), int(same[:own].sum()) + 1, int(same.sum()))


def next_links(connection: sqlite3.Connection, prioritizer: Prioritizer, most: int) -> tuple[list[Candidate], int]:
    """The links that come next, as far as their hosts may be asked; and how many wait in all."""
    waiting = _all_waiting(connection, prioritizer)
    first = zip(waiting.links[:most].tolist(), waiting.scores[:most].tolist(), waiting.seeds[:most], strict=True)
    url = "SELECT url FROM links WHERE id = ?"
    found = [
        Candidate(connection.execute(url, (link,)).fetchone()[0], None if seed else score)
        for link, score, seed in first
    ]
    return found, len(waiting.links)


def _all_waiting(connection: sqlite3.Connection, prioritizer: Prioritizer) -> _Waiting:
    rows = connection.execute("SELECT id, host, base FROM links WHERE state = ?", (State.WAITING.value,)).fetchall()
    links = np.array([row[0] for row in rows], np.int64)
    hosts = np.array([row[1] for row in rows], np.int64)
    bases = np.array([row[2] or 0.0 for row in rows], np.float32)
    most = read_about(connection)["settings"].get("FOCUSED_EVIDENCE_PIECES", DEFAULTS["FOCUSED_EVIDENCE_PIECES"])
    table = _score_all(connection, prioritizer, int(links.max(initial=0)))
    scores = table.combined(links, prioritizer.combine, most)
    # Equal scores are served in the order of discovery.
    order = np.lexsort((links, -(scores + bases)))
    return _Waiting(links[order], hosts[order], scores[order], bases[order] == SEED_RANK)


def _score_all(connection: sqlite3.Connection, prioritizer: Prioritizer, last: int) -> LinkTable:
    table = LinkTable()
    table.grow(last)
    with closing(connection.execute("SELECT data FROM blocks ORDER BY id")) as rows:
        while blocks := rows.fetchmany(_BLOCKS_AT_ONCE):
            evidence = Evidence.concat([Evidence.from_bytes(data) for (data,) in blocks])
            links = evidence.link.astype(np.int64)
            # Evidence that was let go of is of no link; a crawl that goes on may have found more since.
            kept = (links > 0) & (links <= last)
            table.merge(links[kept], prioritizer.finite_scores(evidence)[kept], prioritizer.combine)
    return table
