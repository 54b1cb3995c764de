"""The frontier of one machine: records in an SQLite file, order and columns in memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.arrays import load_arrays, save_arrays
from focused.critics.base import RELEVANT
from focused.frontier.blocks import Blocks
from focused.frontier.job_file import JobFile
from focused.frontier.links import Links
from focused.frontier.order import Gate, Order
from focused.frontier.ranking import Ranking
from focused.frontier.store import (
    SEED_RANK,
    FrontierStore,
    Known,
    Lease,
    NewLink,
    Outcome,
    PageRecord,
    State,
)
from focused.frontier.table import LinkTable
from focused.pages.evidence import Evidence
from focused.pages.tokens import CrawlLexicon
from focused.pages.urls import url_to_key
from focused.prioritizers.base import Lessons, Prioritizer

_RETURN_RANK = SEED_RANK - 1
# How many links with an outdated score may be put back before one is handed out.
_MOST_PUT_BACK = 8
_MOST_COUNTED = 65_000
# Looked up for every link: an enum's attributes are slow.
_RESERVED, _WAITING = State.RESERVED.value, State.WAITING.value


class SqliteStore(FrontierStore):
    """A frontier under a job folder. ``identity`` says whose job it is (topic, critic, …): checked on opening.

    ``lexicon`` is that of the crawl; its new words are kept with the records.
    """

    def __init__(
        self,
        folder: Path,
        prioritizer: Prioritizer,
        *,
        identity: Mapping[str, str] | None = None,
        lexicon: CrawlLexicon | None = None,
        most_pieces: int = 8,
        most_deaths: int = 3,
        most_late: int = 0,
        patience: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._file = JobFile(folder, identity or {})
        self.folder = folder
        self._lexicon = CrawlLexicon() if lexicon is None else lexicon
        self._most_deaths = most_deaths
        self._most_late = most_late
        self._patience = patience
        self._order = Order()
        self._table = LinkTable()
        self._links = Links(self._file)
        self._leases: dict[int, Lease] = {}
        self._returned: dict[int, Lease] = {}
        # Links that were out when the crawl died: one of them may be the killer, so they go out one by one, and the
        # others are not blamed for it.
        self._suspects: set[int] = set()
        self._held: set[int] = set()
        self._records: dict[int, PageRecord] = {}
        self._digests: dict[int, int] = {}
        self._tokens = 0
        self._order_number = 0
        self._pages = 0
        self._found = 0
        self._pages_of: Counter[int] = Counter()
        self._blocks = Blocks(self._file)
        self._ranking = Ranking(self._table, self._blocks, self._order, prioritizer, most_pieces=most_pieces, seed=seed)
        self._load()

    @property
    def prioritizer(self) -> Prioritizer:
        """The snapshot that scores."""
        return self._ranking.prioritizer

    @prioritizer.setter
    def prioritizer(self, new: Prioritizer) -> None:
        self._ranking.prioritizer = new

    @property
    def relevance_sum(self) -> float:
        """The relevance of all pages judged so far, in all starts of the job."""
        return float(np.nansum(self._table.relevance, dtype=np.float64))

    @property
    def rows(self) -> int:
        """How many pieces of evidence are kept."""
        return self._blocks.count

    @property
    def rescoring_is_cheap(self) -> bool:
        """Is all evidence in memory, so that scoring everything again needs no reading?"""
        return self._blocks.is_held

    @property
    def hosts(self) -> int:
        """How many hosts the links are of."""
        return self._links.hosts

    @property
    def waiting(self) -> int:
        """How many links wait."""
        return len(self._order) + len(self._held)

    @property
    def leased(self) -> int:
        """How many links are handed out."""
        return len(self._leases)

    @property
    def pages(self) -> int:
        """How many pages were judged so far, in all starts of the job."""
        return self._pages

    @property
    def found(self) -> int:
        """How many pages, duplicates left out, were judged relevant."""
        return self._found

    @property
    def last_page(self) -> int:
        """The number of the page judged last; where a crawl was killed, numbers may be missing before it."""
        return self._order_number

    # --- links -------------------------------------------------------------------------------------------------

    def reserve(self, urls: Sequence[str]) -> Known:
        links = np.array(self._links.reserve([url_to_key(url) for url in urls]), np.int64)
        self._table.grow(self._links.next)
        table = self._table
        states, seen = table.state[links], table.pieces[links]
        waiting = np.flatnonzero(states == State.WAITING)
        wanted = np.ones(len(links), np.bool_)
        wanted[waiting] = [self._ranking.is_wanted(pieces) for pieces in seen[waiting].tolist()]
        table.pieces[links[~wanted]] = np.minimum(seen[~wanted], _MOST_COUNTED) + 1
        relevance = table.relevance[links]
        late = ~np.isnan(relevance) & (table.late[links] < self._most_late)
        return Known(links, states, wanted & ((states != State.DONE) | late), relevance)

    def add(self, new: NewLink) -> bool:
        key = new.key or url_to_key(new.url)
        link = new.link or self._links.reserve([key])[0]
        self._table.grow(self._links.next)
        known = self._links.find([key]).get(key, link)
        if self._table.state[known] == _WAITING and new.base > self._ranking.bases.get(known, 0.0):
            self._links.update(known, base=new.base)
            self._ranking.bases[known] = new.base
            self._ranking.wait(known)
        if self._table.state[link] != _RESERVED or known != link:
            return False
        self._table.state[link] = _WAITING
        self._table.host[link] = self._links.add(link, key, new)
        if new.base:
            self._ranking.bases[link] = new.base
        self._ranking.wait(link)
        return True

    def add_evidence(self, source: int, evidence: Evidence, scores: NDArray[np.float32]) -> None:
        evidence.host = self._table.host[evidence.link.astype(np.int64)]
        evidence.source = np.full(len(evidence), source, np.uint32)
        self._ranking.add(source, evidence, scores)

    def lease(self, now: float, gate: Gate) -> Lease | None:
        put_back = 0
        while (link := self._order.pop(now, gate, self._patience)) is not None:
            if link in self._returned:
                self._ranking.pinned.pop(link, None)
                return self._returned.pop(link)
            if link in self._suspects and self._suspect_is_out():
                self._held.add(link)
                continue
            if put_back < _MOST_PUT_BACK and self._ranking.is_outdated(link):
                put_back += 1
                self._ranking.score_again(link)
                if self._ranking.rank(link) < self._order.best():
                    self._ranking.wait(link)
                    continue
            return self._hand_out(link)
        return None

    def host_name(self, host: int) -> str:
        """The name of a host, by its number."""
        return self._links.host_name(host)

    def release(self, host: int) -> None:
        """A fetch of this host ended."""
        self._order.release(host)

    def next_wake(self) -> float | None:
        """When the first sleeping host may be fetched again."""
        return self._order.next_wake()

    def link_of(self, token: int) -> int:
        """The link that a lease is for; 0 if there is no such lease."""
        lease = self._leases.get(token)
        return lease.link if lease else 0

    def host_of(self, token: int) -> int:
        """The host that a lease counts for."""
        return self._leases[token].host

    def pages_of(self, host: int) -> int:
        """How many pages of a host were fetched, duplicates included."""
        return self._pages_of[host]

    def outcome_of(self, token: int) -> Outcome:
        """The outcome of a lease so far."""
        record = self._records.get(token)
        return record.outcome if record else Outcome.NONE

    def parent_url(self, token: int) -> str:
        """The address of the page on which a leased link was found first; '' for a seed."""
        return self._links.url(self._leases[token].source)

    def evidence_of(self, link: int) -> Evidence | None:
        """All kept evidence of a link."""
        return self._blocks.of([link])

    def was_redirected(self, token: int) -> bool:
        """Did a lease begin at another address, or end at one that another fetch took?"""
        return bool(self._leases[token].chain) and token not in self._records

    def link_with(self, key: int) -> int:
        """The link that has this identity; 0 if there is none."""
        return self._links.find([key]).get(key, 0)

    def new_number(self) -> int:
        """A number that no link has yet."""
        return self._links.next

    def begin_work(self, token: int) -> None:
        """A leased link's page has come. Of a suspect this is written down before its page can do harm."""
        lease = self._leases.get(token)
        if lease is not None and lease.link in self._suspects:
            self._links.at_work(lease.link)
            self.commit()

    def redirect(self, token: int, url: str, host: str) -> bool:
        lease = self._leases[token]
        target = int(self.reserve([url]).links[0])
        if target == lease.link:
            return True
        state = self._table.state[target]
        self._close_link(lease.link, Outcome.REDIRECT, url, target=target)
        lease.chain.append(lease.link)
        if target in lease.chain:
            # There and back: a cookie was set on the way. Scrapy bounds how often.
            lease.chain.remove(target)
        elif state in {State.DONE, State.LEASED}:
            return False
        elif state == State.RESERVED:
            self.add(NewLink(url, host, link=target, depth=lease.depth, source=lease.source))
        self._order.remove(target)
        self._held.discard(target)
        self._table.state[target] = State.LEASED
        self._links.update(target, state=State.LEASED.value, target=None)
        lease.link, lease.url, lease.host = target, url, int(self._table.host[target])
        return True

    def return_lease(self, token: int) -> None:
        lease = self._leases[token]
        self._returned[lease.link] = lease
        self._ranking.pinned[lease.link] = _RETURN_RANK
        self._order.put(lease.link, lease.host, _RETURN_RANK)

    def postpone(self, token: int) -> None:
        lease = self._leases.pop(token)
        self._clear_of_suspicion(lease.link)
        self._records.pop(token, None)
        self._table.state[lease.link] = State.WAITING
        self._links.update(lease.link, state=State.WAITING.value, tries=lease.tries - 1)
        self._ranking.wait(lease.link)

    # --- pages and lessons -------------------------------------------------------------------------------------

    def record(self, token: int, page: PageRecord) -> PageRecord:
        page.link = self._leases[token].link
        self._order_number += 1
        self._pages += 1
        page.order = self._order_number
        if self._first_with(page.digest) not in {0, page.link}:
            page.outcome = Outcome.DUPLICATE
        else:
            self._digests[page.digest] = page.link
            self._found += page.relevance >= RELEVANT
        self._records[token] = page
        return page

    def lessons_of(self, token: int) -> Lessons | None:
        lease, page = self._leases.get(token), self._records.get(token)
        if lease is None:
            return None
        if page is not None:
            return self._lessons([lease.link, *lease.chain], page.relevance if page.outcome is Outcome.PAGE else 0.0)
        if lease.link in lease.chain:
            # The redirect ended at a page that was fetched before; one that is being fetched teaches when it is there.
            behind = self._links.behind(lease.link)
            is_through = self._table.state[behind] == State.DONE
            return self._lessons(lease.chain, float(self._table.relevance[behind])) if is_through else None
        return self._lessons([lease.link, *lease.chain], float("nan"))

    def late_lessons(self, evidence: Evidence, source_relevance: float) -> Lessons | None:
        links = evidence.link.astype(np.int64)
        rows = np.flatnonzero(~np.isnan(self._table.relevance[links]) & (self._table.late[links] < self._most_late))
        if not len(rows):
            return None
        self._table.late[links[rows]] += 1
        lessons = self._late_lessons(evidence.select(rows))
        lessons.source_relevance[:] = source_relevance
        return lessons

    def lessons_since(self, order: int) -> list[Lessons | None]:
        """The lessons of each page judged after the given one, in that order: what a saved model has not seen."""
        rows = self._file.rows("SELECT link, relevance, outcome FROM pages WHERE seq > ? ORDER BY seq", (order,))
        return [
            _together(
                self._late_lessons_on(link),
                self._lessons([link], relevance if outcome == Outcome.PAGE else 0.0, again=True),
            )
            for link, relevance, outcome in rows
        ]

    def acknowledge(self, token: int, outcome: Outcome, detail: str = "") -> Outcome:
        lease = self._leases.pop(token)
        for link in (lease.link, *lease.chain):
            self._clear_of_suspicion(link)
        page = self._records.pop(token, None)
        if page is not None:
            outcome = page.outcome
            self._table.relevance[lease.link] = page.relevance
            self._pages_of[lease.host] += 1
            self._write_page(page)
        if lease.link in lease.chain:
            # It led to a link that another lease has, or had; so it was closed then.
            outcome = Outcome.REDIRECT
        else:
            self._close_link(lease.link, outcome, detail)
        self._write_words()
        self.commit()
        return outcome

    # --- re-scoring --------------------------------------------------------------------------------------------

    def rescore(self) -> Callable[[], Callable[[], None]]:
        self.commit()
        return self._ranking.rescore(self._links.next)

    def save_model(self, name: str, data: Mapping[str, NDArray[Any]], order: int) -> None:
        """Keep what a learner knows after the lessons up to a page."""
        row = (name, order, self._ranking.version, save_arrays(data))
        self._file.write("INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?)", row)

    def load_model(self, name: str) -> tuple[dict[str, NDArray[Any]], int] | None:
        """A learner's saved state, and the number of the last page whose lessons it knows."""
        row = self._file.row("SELECT data, seq FROM models WHERE name = ?", (name,))
        return (load_arrays(row[0]), int(row[1])) if row else None

    def note(self, key: str, value: str) -> None:
        """Keep a word about the job."""
        self._file.write("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def noted(self, key: str) -> str | None:
        """What `note` kept."""
        row = self._file.row("SELECT value FROM meta WHERE key = ?", (key,))
        return str(row[0]) if row else None

    def commit(self) -> None:
        """Make everything so far outlast the process."""
        self._links.flush()
        self._file.commit()

    def close(self) -> None:
        try:
            self._write_words()
            self.commit()
        finally:
            self._file.close()

    def abandon(self) -> None:
        """Let go of everything as if the process had died."""
        self._file.abandon()

    # --- inside ------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        self._table.grow(self._links.next)
        self._suspects = self._links.take_leases_back(self._most_deaths)
        self.commit()
        for link, state, host, base in self._file.rows("SELECT id, state, host, base FROM links"):
            self._table.state[link], self._table.host[link] = state, host
            if base:
                self._ranking.bases[link] = base
        self._blocks.hold(self._table.state == State.DONE)
        for link, relevance in self._file.rows("SELECT link, relevance FROM pages"):
            self._table.relevance[link] = relevance
        links, counts = self._blocks.counts()
        self._table.pieces[links] = counts
        if self._most_late:
            links, counts = self._blocks.late_counts()
            self._table.late[links] = np.minimum(counts, self._most_late)
        self._order_number, self._pages = self._file.row("SELECT coalesce(max(seq), 0), count(*) FROM pages")
        found = "SELECT count(*) FROM pages WHERE outcome = 1 AND relevance >= ?"
        self._found = self._file.row(found, (RELEVANT,))[0]
        by_host = "SELECT host, count(*) FROM pages JOIN links ON links.id = pages.link GROUP BY host"
        self._pages_of.update(dict(self._file.rows(by_host)))
        for link in np.flatnonzero(self._table.state == State.WAITING).tolist():
            self._order.put(link, int(self._table.host[link]), self._ranking.bases.get(link, 0.0))

    def _suspect_is_out(self) -> bool:
        return any(lease.link in self._suspects for lease in self._leases.values())

    def _clear_of_suspicion(self, link: int) -> None:
        """A suspect is through: the next may go."""
        if link in self._suspects:
            self._suspects.discard(link)
            held, self._held = self._held, set()
            for other in sorted(held):
                self._ranking.wait(other)

    def _hand_out(self, link: int) -> Lease:
        self._tokens += 1
        self._links.flush()
        url, depth, source, tries, base, request = self._links.read(link)
        self._table.state[link] = State.LEASED
        self._links.update(link, state=State.LEASED.value, tries=tries + 1)
        lease = Lease(self._tokens, link, url, int(self._table.host[link]), depth, source, tries=tries + 1)
        lease.score = self._ranking.score(link)
        lease.seed, lease.request = base == SEED_RANK, request
        self._leases[lease.token] = lease
        return lease

    def _close_link(self, link: int, outcome: Outcome, detail: str, target: int | None = None) -> None:
        self._table.state[link] = State.DONE
        self._links.close(link, outcome, detail, target)

    def _first_with(self, digest: int) -> int:
        if digest in self._digests:
            return self._digests[digest]
        row = self._file.row("SELECT link FROM pages WHERE digest = ? AND outcome = 1", (digest,))
        return int(row[0]) if row else 0

    def _lessons(self, links: Sequence[int], relevance: float, *, again: bool = False) -> Lessons | None:
        evidence = self._blocks.of(list(dict.fromkeys([*links, *self._links.leading_to(links[0])])))
        if again and evidence is not None:
            evidence = evidence.select(np.flatnonzero(~self._came_late(evidence)))
        if evidence is None or not len(evidence):
            return None
        return Lessons.of_page(evidence, relevance, self._sources_of(evidence))

    def _late_lessons_on(self, source: int) -> Lessons | None:
        """The lessons that a page gave of pages judged before it."""
        evidence = self._blocks.on(source)
        if evidence is None or not self._most_late:
            return None
        rows = np.flatnonzero(self._came_late(evidence))
        return self._late_lessons(evidence.select(rows)) if len(rows) else None

    def _came_late(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Which links were found on a page that was judged after the one behind them."""
        pairs = list(zip(evidence.link.tolist(), evidence.source.tolist(), strict=True))
        query = "SELECT link, seq FROM pages WHERE link IN ({})"
        judged = dict(self._file.rows_in(query, sorted({link for pair in pairs for link in pair})))
        return np.array([judged.get(link, inf) < judged.get(source, 0) for link, source in pairs], np.bool_)

    def _late_lessons(self, evidence: Evidence) -> Lessons:
        return Lessons.late(evidence, self._table.relevance[evidence.link], self._sources_of(evidence))

    def _sources_of(self, evidence: Evidence) -> NDArray[np.float32]:
        relevance: NDArray[np.float32] = np.nan_to_num(self._table.relevance[evidence.source]).astype(np.float32)
        return relevance

    def _write_page(self, page: PageRecord) -> None:
        self._digests.pop(page.digest, None)
        row = (
            *(page.link, page.order, page.url, page.title, page.relevance, page.best_class, page.outcome.value),
            *(page.digest, json.dumps(page.item, ensure_ascii=False)),
        )
        self._file.write("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _write_words(self) -> None:
        new = self._lexicon.take_new()
        if new:
            self._file.write_many("INSERT OR IGNORE INTO words VALUES (?, ?)", list(new.items()))


def _together(*parts: Lessons | None) -> Lessons | None:
    there = [part for part in parts if part is not None]
    return Lessons.concat(there) if there else None
