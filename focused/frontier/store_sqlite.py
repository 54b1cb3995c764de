"""The frontier of one machine: records in an SQLite file, order and columns in memory."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Damaged, load_arrays, save_arrays
from focused.critics.base import RELEVANT, Verdict
from focused.frontier.blocks import Blocks
from focused.frontier.evidence import EvidenceReader, SeenBy
from focused.frontier.inbox import LETTERS
from focused.frontier.job_file import JobFile
from focused.frontier.layout import MODELS, is_sound
from focused.frontier.lessons import LessonReader, Verdicts, with_evidence_renewed
from focused.frontier.links import LinkRows
from focused.frontier.order import LinkOrder
from focused.frontier.ranking import Ranking, RankingAnew
from focused.frontier.records import damaged
from focused.frontier.steering import STEERING
from focused.frontier.store import (
    SEED_RANK,
    Admitted,
    Answer,
    Gate,
    KeptPages,
    Known,
    Lease,
    LinkHost,
    NewLink,
    Outcome,
    PageRecord,
    Rescoring,
    Says,
    Standing,
    State,
    as_said,
)
from focused.frontier.table import LinkTable
from focused.pages.evidence import Evidence
from focused.pages.tokens import CrawlLexicon
from focused.pages.urls import url_to_key
from focused.prioritizers.base import Lessons, Prioritizer
from focused.safety.patterns import Patterns

logger = logging.getLogger(__name__)

# How many links with an outdated score may be put back before one is handed out.
_MOST_PUT_BACK = 8
_MOST_COUNTED = 65_000
_PAGES_AT_ONCE = 500
_LINKS_AT_ONCE = 10_000
_LEASED = (
    "SELECT l.url, l.depth, l.source, l.tries, l.base, l.request, coalesce(source.url, '') "
    "FROM links AS l LEFT JOIN links AS source ON source.id = l.source WHERE l.id = ?"
)
_NOT_DONE = (
    "SELECT l.id, l.url, h.name FROM links AS l JOIN hosts AS h ON h.id = l.host "
    "WHERE l.id > ? AND l.state < 3 ORDER BY l.id LIMIT ?"
)
_TOTALS = (
    "SELECT count(*), total(outcome != 1), total(outcome = 1 AND relevance >= ?), total(relevance * (outcome = 1)) "
    "FROM pages"
)
_KEPT = (
    "SELECT link, data FROM gists JOIN pages USING (link) "
    "WHERE outcome = 1 AND seq <= ?1 AND (?2 IS NULL OR version < ?2) ORDER BY seq"
)
# Pages by their number; links that turned out to be dead, behind the page that was the last one then.
_ENDED = (
    "SELECT link, relevance, outcome FROM (SELECT link, relevance, outcome, seq, 0 AS id FROM pages WHERE seq > ?1 "
    "UNION ALL SELECT link, NULL, 3, seq, id FROM deaths WHERE id > ?2 AND id <= ?3) WHERE seq <= ?4 ORDER BY seq, id"
)
_BEFORE_NEWEST = (
    "SELECT coalesce(min(seq), 1) - 1 FROM (SELECT seq FROM pages WHERE seq <= ? ORDER BY seq DESC LIMIT ?)"
)
_SAID_OF_TARGET = (
    "INSERT INTO answers(link, said, who, time, relevance) "
    "SELECT ?, said, who, time, relevance FROM answers WHERE link = ? ORDER BY number DESC LIMIT 1"
)
_SAID_BEFORE = "UPDATE answers SET relevance = ? WHERE link = ? AND relevance IS NULL"
_MODEL = f"SELECT data, seq, coalesce({is_sound(MODELS)}, 0) FROM models WHERE name = :name"  # noqa: S608  # our names
_DEATHS_BEFORE = "SELECT coalesce(max(id), 0) FROM deaths WHERE seq < ?"
# Looked up for every link: an enum's attributes are slow.
_WAITING = State.WAITING.value


class SqliteStore:
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
    ) -> None:
        self._file = JobFile(folder, identity or {})
        self._lexicon = CrawlLexicon() if lexicon is None else lexicon
        self._most_deaths = most_deaths
        self._most_late = most_late
        self._patience = patience
        self._table = LinkTable()
        self._order = LinkOrder(self._table)
        self.leases: dict[int, Lease] = {}
        self._returned: dict[int, Lease] = {}
        # Links that were out when the crawl died: one of them may be the killer, so they go out one by one, and the
        # others are not blamed for it.
        self._suspects: set[int] = set()
        self._held: set[int] = set()
        self._digests: dict[int, int] = {}
        self._tokens = 0
        self._order_number = 0
        self._pages = 0
        self._duplicates = 0
        self._found = 0
        self._relevance = 0.0
        self._pages_of: Counter[int] = Counter()
        # Whether the pages of some links are wanted, as somebody has said.
        self._wanted: dict[int, bool] = {}
        self._preferred = Patterns()
        self.news = 0
        try:
            self._links = LinkRows(self._file)
            self._blocks = Blocks(self._file)
            self._lessons = LessonReader(self._file.rows, self._blocks, self._table, is_late=most_late > 0)
            self._ranking = Ranking(self._table, self._blocks, self._order, prioritizer, most_pieces=most_pieces)
            self._load()
        except BaseException:
            self._file.close()
            raise

    @property
    def path(self) -> Path:
        """The job's file."""
        return self._file.path

    @property
    def prioritizer(self) -> Prioritizer:
        """The snapshot that scores."""
        return self._ranking.prioritizer

    @prioritizer.setter
    def prioritizer(self, new: Prioritizer) -> None:
        self._ranking.prioritizer = new
        self._ranking.version += 1
        self._blocks.look_with(self._sight(self._table))

    def _sight(self, verdicts: Verdicts) -> SeenBy:
        """Evidence as the prioritizer of now would make it, by the verdicts of now."""
        new = self.prioritizer
        version = new.critic.version if new.critic is not None else 0
        return SeenBy(version, lambda evidence: new.renewed(evidence, verdicts.relevance[evidence.source]))

    def standing(self) -> Standing:
        return Standing(
            waiting=len(self._order) + len(self._held),
            leased=len(self.leases),
            hosts=len(self._links.host_names) - 1,
            pages=self._pages,
            duplicates=self._duplicates,
            last_page=self._order_number,
            found=self._found,
            relevance=self._relevance,
            evidence=self._blocks.count,
        )

    # --- links -------------------------------------------------------------------------------------------------

    def known(self, urls: Sequence[str]) -> Known:
        keys = [url_to_key(url) for url in urls]
        found = self._links.find(keys)
        links, table = np.array([found.get(key, 0) for key in keys], np.int64), self._table
        states, seen = table.state[links], table.pieces[links]
        waiting = np.flatnonzero(states == State.WAITING)
        wanted = (states != State.DONE) | self._may_teach_late(links)
        wanted[waiting] = [self._ranking.is_wanted(pieces) for pieces in seen[waiting].tolist()]
        unwanted = waiting[~wanted[waiting]]
        table.pieces[links[unwanted]] = np.minimum(seen[unwanted], _MOST_COUNTED) + 1
        return Known(links, states, wanted, table.relevance[links])

    def admit(
        self,
        source: Lease | None,
        links: Sequence[NewLink],
        evidence: Evidence | None = None,
        scores: NDArray[np.float32] | None = None,
    ) -> Admitted:
        numbers, hosts = self._links.admit(links, source.link if source else 0)
        table = self._table
        table.grow(self._links.next)
        for link, host, new in zip(numbers, hosts, links, strict=True):
            if host:
                table.state[link], table.host[link], table.base[link] = _WAITING, host, new.base
                table.preferred[link] = self._is_preferred(new)
            elif new.base and table.state[link] == _WAITING and np.float32(new.base) > table.base[link]:
                # A seed, or a user's component has a better place for it than the one where it waits.
                table.base[link] = new.base
                self._links.update(link, base=new.base)
        rows = len(evidence) if evidence is not None else 0
        for link in numbers[rows:]:
            if table.state[link] == _WAITING:
                self._ranking.wait(link)
        all_numbers, fresh = np.array(numbers, np.int64), np.array(hosts, np.int64) > 0
        if source is None or evidence is None or scores is None:
            return Admitted(all_numbers, fresh)
        evidence.link, evidence.host = all_numbers[:rows].astype(np.uint32), table.host[all_numbers[:rows]]
        evidence.source = np.full(rows, source.link, np.uint32)
        self._ranking.add(source.link, evidence, scores)
        return Admitted(all_numbers, fresh, self._late(evidence, source.page.relevance) if source.page else None)

    def _may_teach_late(self, links: NDArray[np.int64]) -> NDArray[np.bool_]:
        table = self._table
        may: NDArray[np.bool_] = ~np.isnan(table.relevance[links]) & (table.late[links] < self._most_late)
        return may

    def _late(self, evidence: Evidence, source_relevance: float) -> Lessons | None:
        """The lessons that a page's links to pages fetched before give at once."""
        links = evidence.link.astype(np.int64)
        rows = np.flatnonzero(self._may_teach_late(links))
        if not len(rows):
            return None
        self._table.late[links[rows]] += 1
        lessons = self._lessons.late(evidence.select(rows))
        lessons.source_relevance[:] = source_relevance
        return lessons

    def lease(self, now: float, gate: Gate) -> Lease | None:
        put_back = 0
        while (link := self._order.pop(now, lambda host: gate(self._host(host)), self._patience)) is not None:
            if link in self._returned:
                return self._returned.pop(link)
            if link in self._suspects and any(lease.link in self._suspects for lease in self.leases.values()):
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

    def next_wake(self) -> float | None:
        return self._order.next_wake()

    def lease_link(self, link: int) -> Lease | None:
        if self._table.state[link] != State.WAITING:
            return None
        self._order.remove(link)
        self._held.discard(link)
        return self._hand_out(link)

    def begin_work(self, lease: Lease) -> None:
        # What was not written yet is written before the page can do harm.
        if lease.link in self._suspects:
            self._links.at_work(lease.link)
        self.commit()

    def redirect(self, lease: Lease, url: str, host: str) -> bool:
        new = NewLink(url, host, depth=lease.depth)
        (target,), (is_new,) = self._links.admit([new], lease.source)
        if target == lease.link:
            return True
        self._table.grow(self._links.next)
        if is_new:
            self._table.host[target], self._table.preferred[target] = is_new, self._is_preferred(new)
        state = self._table.state[target]
        if lease.link in self._wanted and target not in self._wanted:
            self._wanted[target] = self._wanted[lease.link]
            self._file.write(_SAID_OF_TARGET, (target, lease.link))
        self._close_link(lease.link, Outcome.REDIRECT, url, target=target)
        lease.chain.append(lease.link)
        if target in lease.chain:
            # There and back: a cookie was set on the way. Scrapy bounds how often.
            lease.chain.remove(target)
        elif state in {State.DONE, State.LEASED}:
            return False
        self._order.remove(target)
        self._held.discard(target)
        self._move(target, State.LEASED, target=None)
        self._order.release(lease.host.number)
        lease.link, lease.url, lease.host = target, url, self._host(int(self._table.host[target]))
        return True

    def return_lease(self, lease: Lease) -> None:
        self._returned[lease.link] = lease
        self._order.release(lease.host.number)
        self._ranking.wait(lease.link)

    def postpone(self, lease: Lease) -> None:
        self._end(lease)
        self._drop_page(lease)
        self._move(lease.link, State.WAITING, tries=lease.tries - 1)
        self._ranking.wait(lease.link)

    def _is_preferred(self, new: NewLink) -> bool:
        return bool(self._preferred) and bool(self._preferred.match(new.url, new.host))

    def prefer(self, patterns: Patterns) -> None:
        table, before, self._preferred = self._table, self._table.preferred.copy(), patterns
        table.preferred[:] = False
        at = -1
        while patterns and (rows := self._file.rows(_NOT_DONE, (at, _LINKS_AT_ONCE))):
            for at, url, host in rows:
                table.preferred[at] = bool(patterns.match(url, host))
        # A suspect that is held back is not in the order.
        changed = (table.preferred != before) & (table.state == State.WAITING) & table.is_listed
        self._ranking.wait_all(np.flatnonzero(changed))

    # --- pages and lessons -------------------------------------------------------------------------------------

    def record(self, lease: Lease, page: PageRecord) -> PageRecord:
        self._order_number += 1
        page.link, page.order = lease.link, self._order_number
        if self._first_with(page.digest) in {0, page.link} and not self._repeats(lease.source, page):
            self._digests[page.digest] = page.link
        else:
            page.outcome = Outcome.DUPLICATE
        lease.page = page
        if page.link in self._wanted:
            self._file.write(_SAID_BEFORE, (page.relevance, page.link))
            page.relevance = as_said(page.relevance, self._wanted[page.link])
        self._count(page, 1)
        return page

    def _repeats(self, source: int, page: PageRecord) -> bool:
        """Is a short page, but for its addresses, the very page that led to it?"""
        if not page.is_short:
            return False
        digests = [lease.page.digest for lease in self.leases.values() if lease.page and lease.link == source]
        digests += [digest for (digest,) in self._file.rows("SELECT digest FROM pages WHERE link = ?", (source,))]
        return any(digest >> 32 == page.digest >> 32 for digest in digests)

    def _drop_page(self, lease: Lease) -> None:
        """A recorded page will not be kept after all: its content is free for others."""
        page, lease.page = lease.page, None
        if page is not None:
            self._count(page, -1)
            if page.outcome is Outcome.PAGE:
                self._digests.pop(page.digest, None)

    def _count(self, page: PageRecord, by: int) -> None:
        self._pages += by
        if page.outcome is Outcome.DUPLICATE:
            self._duplicates += by
        else:
            self._found += by * (page.relevance >= RELEVANT)
            self._relevance += by * page.relevance

    def _count_all(self) -> None:
        """Count the pages anew: those that are through, and those whose links are still leased."""
        pages, duplicates, found, self._relevance = self._file.row(_TOTALS, (RELEVANT,))
        self._pages, self._duplicates, self._found = int(pages), int(duplicates), int(found)
        for lease in self.leases.values():
            if lease.page is not None:
                self._count(lease.page, 1)

    def evidence_of(self, lease: Lease) -> Evidence | None:
        return self._blocks.of([lease.link])

    def lessons_of(self, lease: Lease) -> Lessons | None:
        page = lease.page
        if page is not None:
            return self._lessons.of_links(
                [lease.link, *lease.chain], page.relevance if page.outcome is Outcome.PAGE else 0.0
            )
        if lease.link in lease.chain:
            # The redirect ended at a page that was fetched before; one that is being fetched teaches when it is there.
            behind = self._links.behind(lease.link)
            is_through = self._table.state[behind] == State.DONE
            return self._lessons.of_links(lease.chain, float(self._table.relevance[behind])) if is_through else None
        return self._lessons.of_links([lease.link, *lease.chain], float("nan"))

    def acknowledge(self, lease: Lease, outcome: Outcome, detail: str = "") -> Outcome:
        self._end(lease)
        if outcome is Outcome.FAILED:
            self._drop_page(lease)
        page = lease.page
        if page is not None:
            outcome = page.outcome
            self._hear_of(page)
            self._table.relevance[lease.link] = page.relevance
            self._pages_of[lease.host.number] += 1
            self._write_page(page)
        if lease.link in lease.chain:
            # It led to a link that another lease has, or had; so it was closed then.
            outcome = Outcome.REDIRECT
        else:
            self._close_link(lease.link, outcome, detail)
            if outcome.is_gone:
                self._file.write("INSERT INTO deaths(link, seq) VALUES (?, ?)", (lease.link, self._order_number))
        self._write_words()
        self.commit()
        return outcome

    def _hear_of(self, page: PageRecord) -> None:
        """A page is through: if somebody has said whether it is wanted, that counts, whatever the critic says since."""
        if page.link in self._wanted:
            self._count(page, -1)
            page.relevance = as_said(page.relevance, self._wanted[page.link])
            self._count(page, 1)
            self.news += 1

    def _end(self, lease: Lease) -> None:
        """A lease is over: its host may be ready, and of its links none is under suspicion any more."""
        del self.leases[lease.token]
        self._order.release(lease.host.number)
        for link in (lease.link, *lease.chain):
            self._clear_of_suspicion(link)

    def lessons_since(self, order: int, model: str = "") -> Iterator[Lessons | None]:
        """The lessons of each page judged after the given one, in that order, and of dead links: what a model, saved
        under a name, has not seen."""
        saved = self._file.row("SELECT deaths FROM models WHERE name = ?", (model,))
        known = saved[0] if saved else 0
        return self._lessons.again(self._file.rows(_ENDED, (order, known, self._deaths(), self._order_number)))

    def _deaths(self) -> int:
        """The number of the newest dead link."""
        (number,) = self._file.row("SELECT coalesce(max(id), 0) FROM deaths")
        return int(number)

    # --- verdicts that change ----------------------------------------------------------------------------------

    def kept_pages(self, before: int | None = None) -> Callable[[], Iterator[KeptPages]]:
        self.commit()
        order = self._order_number

        def read() -> Iterator[KeptPages]:
            with self._file.reader() as reader:
                pages = reader.execute(_KEPT, (order, before))
                while rows := pages.fetchmany(_PAGES_AT_ONCE):
                    yield KeptPages([link for link, _ in rows], [gist for _, gist in rows])

        return read

    def forget_gists(self) -> None:
        """What is kept of pages is of no use any more: they are not judged anew."""
        self._file.write("DELETE FROM gists")

    def revise_verdicts(self, version: int, links: Sequence[int], verdicts: Sequence[Verdict]) -> None:
        rows = [(one.relevance, one.best_class, version, link) for link, one in zip(links, verdicts, strict=True)]
        self._file.write_many("UPDATE pages SET relevance = ?, class = ?, version = ? WHERE link = ?", rows)
        self._table.relevance[list(links)] = [one.relevance for one in verdicts]
        self._count_all()

    def lessons_anew(self, most: int) -> Callable[[], Iterator[Lessons | None]]:
        self.commit()
        order, newest, verdicts = self._order_number, self._deaths(), LinkTable()
        verdicts.relevance = self._table.relevance[: self._links.next].copy()
        renew = self._sight(verdicts).renew

        def read() -> Iterator[Lessons | None]:
            with self._file.reader() as reader:
                (first,) = reader.execute(_BEFORE_NEWEST, (order, most)).fetchone()
                (deaths,) = reader.execute(_DEATHS_BEFORE, (first,)).fetchone()
                ended = reader.execute(_ENDED, (first, deaths, newest, order)).fetchall()
                evidence = EvidenceReader(reader.execute)
                lessons = LessonReader(reader.execute, evidence, verdicts, is_late=self._most_late > 0).again(ended)
                yield from with_evidence_renewed(lessons, renew)

        return read

    def keep_answers(
        self, answers: Iterable[Answer], *, read: tuple[int, int] | None = None, steering: str | None = None
    ) -> bool:
        if read is not None:
            if int(self.noted(LETTERS) or 0) != read[0]:
                return False
            self.note(LETTERS, str(read[1]))
        if steering is not None:
            self.note(STEERING, steering)
        kept = list(map(self._of_page, answers))
        rows = [(one.link, one.said, one.who, one.time, _or_none(one.relevance)) for one in kept]
        self._file.write_many("INSERT INTO answers(link, said, who, time, relevance) VALUES (?, ?, ?, ?, ?)", rows)
        for one in kept:
            self._heed(one)
        self._count_all()
        self.commit()
        return True

    def _of_page(self, answer: Answer) -> Answer:
        """What was said of a link that redirects was said of the page behind it."""
        link = self._links.behind(answer.link)
        if link == answer.link:
            return answer
        return replace(answer, link=link, relevance=float(self._table.relevance[link]))

    def _heed(self, answer: Answer) -> None:
        """The verdict on a page follows what was said of it; if that was taken back, it is what it was before."""
        link, is_wanted = answer.link, answer.is_wanted
        before = self._wanted.pop(link, None)
        self.news += answer.said is not Says.UNKNOWN or before is not None
        if is_wanted is not None:
            self._wanted[link] = is_wanted
        elif before is None:
            return
        open_pages = [lease.page for lease in self.leases.values() if lease.page and lease.link == link]
        relevance = open_pages[0].relevance if open_pages else float(self._table.relevance[link])
        if is_wanted is None and not isnan(answer.relevance):
            relevance = answer.relevance
        if isnan(relevance):
            return
        relevance = as_said(relevance, is_wanted)
        for page in open_pages:
            page.relevance = relevance
        if not open_pages:
            self._table.relevance[link] = relevance
            self._file.write("UPDATE pages SET relevance = ? WHERE link = ?", (relevance, link))

    def answers(self) -> dict[int, Answer]:
        rows = self._file.rows("SELECT link, said, who, time, relevance FROM answers ORDER BY number")
        return {
            link: Answer(link, Says(said), who, time, nan if relevance is None else relevance)
            for link, said, who, time, relevance in rows
        }

    # --- what was learned, and notes ---------------------------------------------------------------------------

    @property
    def rescoring_cost(self) -> int:
        return 0 if self._blocks.is_held else self._blocks.count

    def rescoring(self) -> Rescoring:
        self.commit()
        return RankingAnew(self._ranking, self._links.next + 1)

    def save_model(self, name: str, data: Mapping[str, NDArray[Any]], order: int) -> None:
        # What is saved as if it knew nothing knows of no dead link either.
        row = (name, order, self._deaths() if order else 0, self._ranking.version, save_arrays(data))
        self._file.write("INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?, ?)", row)

    def load_model(self, name: str) -> tuple[dict[str, NDArray[Any]], int] | None:
        row = self._file.row(_MODEL, {"name": name, "links": self._links.next - 1})
        if row is None:
            return None
        try:
            arrays = load_arrays(row[0] if row[2] else b"")
        except Damaged as error:
            where = self._file.path
            logger.warning("What the %s has learned in %s is damaged (%s): it is learned again", name, where, error)
            self._file.write("DELETE FROM models WHERE name = ?", (name,))
            return None
        return arrays, int(row[1])

    def note(self, key: str, value: str) -> None:
        self._file.write("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def noted(self, key: str) -> str | None:
        row = self._file.row("SELECT value FROM meta WHERE key = ?", (key,))
        return str(row[0]) if row else None

    def revise(self, key: str, change: Callable[[str | None], str | None]) -> None:
        try:
            new = change(self.noted(key))
        except Damaged as error:
            raise damaged(self._file.path, error) from error
        if new is not None:
            self.note(key, new)

    def commit(self) -> None:
        self._file.commit()

    def close(self) -> None:
        try:
            self._write_words()
            self.commit()
        finally:
            self._file.close()

    # --- inside ------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        self._table.grow(self._links.next)
        self._suspects = self._links.take_leases_back(self._most_deaths)
        self.commit()
        for link, state, host, base in self._file.rows("SELECT id, state, host, base FROM links"):
            self._table.state[link], self._table.host[link], self._table.base[link] = state, host, base
        self._blocks.hold(self._table.state == State.DONE)
        for link, relevance in self._file.rows("SELECT link, relevance FROM pages"):
            self._table.relevance[link] = relevance
        links, counts = self._blocks.counts()
        self._table.pieces[links] = counts
        if self._most_late:
            links, counts = self._blocks.late_counts()
            self._table.late[links] = np.minimum(counts, self._most_late)
        (self._order_number,) = self._file.row("SELECT coalesce(max(seq), 0) FROM pages")
        answers = [one for one in self.answers().values() if one.said is not Says.UNKNOWN]
        self._wanted = {one.link: one.is_wanted for one in answers if one.is_wanted is not None}
        self.news = len(answers)
        self._count_all()
        by_host = "SELECT host, count(*) FROM pages JOIN links ON links.id = pages.link GROUP BY host"
        self._pages_of.update(dict(self._file.rows(by_host)))
        self._ranking.wait_all(np.flatnonzero(self._table.state == State.WAITING))

    def _clear_of_suspicion(self, link: int) -> None:
        """A suspect is through: the next may go."""
        if link in self._suspects:
            self._suspects.discard(link)
            held, self._held = self._held, set()
            for other in sorted(held):
                self._ranking.wait(other)

    def _host(self, number: int) -> LinkHost:
        return LinkHost(number, self._links.host_names[number], self._pages_of[number])

    def _hand_out(self, link: int) -> Lease:
        self._tokens += 1
        url, depth, source, tries, base, request, parent = self._file.row(_LEASED, (link,))
        self._move(link, State.LEASED, tries=tries + 1)
        self.leases[self._tokens] = lease = Lease(
            token=self._tokens,
            link=link,
            url=url,
            host=self._host(int(self._table.host[link])),
            depth=depth,
            source=source,
            parent=parent,
            score=self._ranking.score(link),
            tries=tries + 1,
            seed=base == SEED_RANK,
            request=request,
        )
        return lease

    def _move(self, link: int, state: State, **values: Any) -> None:
        self._table.state[link] = state
        self._links.update(link, state=state.value, **values)

    def _close_link(self, link: int, outcome: Outcome, detail: str, target: int | None = None) -> None:
        self._move(link, State.DONE, outcome=outcome.value, detail=detail or None, target=target)

    def _first_with(self, digest: int) -> int:
        if digest in self._digests:
            return self._digests[digest]
        row = self._file.row("SELECT link FROM pages WHERE digest = ? AND outcome = 1", (digest,))
        return int(row[0]) if row else 0

    def _write_page(self, page: PageRecord) -> None:
        self._digests.pop(page.digest, None)
        row = (
            *(page.link, page.order, page.url, page.title, page.relevance, page.best_class, page.outcome.value),
            *(page.digest, page.version, json.dumps(page.item, ensure_ascii=False)),
        )
        self._file.write("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        if page.gist:
            self._file.write("INSERT OR REPLACE INTO gists VALUES (?, ?)", (page.link, page.gist))

    def _write_words(self) -> None:
        new = self._lexicon.take_new()
        if new:
            self._file.write_many("INSERT OR IGNORE INTO words VALUES (?, ?)", list(new.items()))


def _or_none(number: float) -> float | None:
    return None if isnan(number) else number
