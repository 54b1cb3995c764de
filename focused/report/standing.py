"""Where a waiting link stands among all that wait, by the model that the job saved last."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from focused.defaults import DEFAULTS
from focused.frontier.starts import read_about
from focused.frontier.store import State
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


def standing_of(connection: sqlite3.Connection, prioritizer: Prioritizer, link: int) -> Standing:
    """Score all that waits, and see."""
    rows = connection.execute("SELECT id, host, base FROM links WHERE state = ?", (State.WAITING.value,)).fetchall()
    links = np.array([row[0] for row in rows], np.int64)
    hosts = np.array([row[1] for row in rows], np.int64)
    most = read_about(connection)["settings"].get("FOCUSED_EVIDENCE_PIECES", DEFAULTS["FOCUSED_EVIDENCE_PIECES"])
    scores = _score_all(connection, prioritizer, int(links.max())).combined(links, prioritizer.combine, most)
    ranks = scores + np.array([row[2] or 0.0 for row in rows], np.float32)
    own = int(np.flatnonzero(links == link)[0])
    # Equal scores are served in the order of discovery.
    before = (ranks > ranks[own]) | ((ranks == ranks[own]) & (links < link))
    same = hosts == hosts[own]
    return Standing(float(scores[own]), _count(before) + 1, len(links), _count(before & same) + 1, _count(same))


def _score_all(connection: sqlite3.Connection, prioritizer: Prioritizer, last: int) -> LinkTable:
    table = LinkTable()
    table.grow(last)
    with closing(connection.execute("SELECT data FROM blocks ORDER BY id")) as rows:
        while blocks := rows.fetchmany(_BLOCKS_AT_ONCE):
            evidence = Evidence.concat([Evidence.from_bytes(data) for (data,) in blocks])
            links = evidence.link.astype(np.int64)
            # Evidence that was let go of is of no link; a crawl that goes on may have found more since.
            kept = (links > 0) & (links <= last)
            table.merge(links[kept], prioritizer.score(evidence)[kept], prioritizer.combine)
    return table


def _count(rows: NDArray[np.bool_]) -> int:
    return int(rows.sum())
