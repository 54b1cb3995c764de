"""The frontier of many machines: everything in Redis, changed by one script.

Any number of workers open it under the same crawl's name; each has a name of its own. What the script does is
explained in the files in ``lua``; all times are Redis's. What a worker adds is kept back until its next call, so that a
page costs three of them: its links are numbered; it is recorded, and the evidence for its lessons read; it is
acknowledged and the next link is leased. Only a worker's own leases are in its memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from math import isfinite, isinf, nan
from random import Random
from time import monotonic
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from redis import Redis

from focused.critics.base import RELEVANT, Critic, LearningCritic, Verdict
from focused.frontier.steering import fitting, lifted
from focused.frontier.store import (
    SEED_RANK,
    SURE,
    Admitted,
    Answer,
    Gate,
    JobRefused,
    KeptPages,
    Known,
    Lease,
    LinkHost,
    NewLink,
    Outcome,
    PageRecord,
    Rescoring,
    Says,
    StoreBroken,
    as_said,
)
from focused.pages.evidence import Evidence
from focused.pages.tokens import CrawlLexicon
from focused.pages.urls import url_to_key
from focused.prioritizers.base import Lessons, Prioritizer
from focused.redis.lessons import pooled_to_bytes
from focused.redis.pool import Pool
from focused.redis.records import Packing, answer_to_bytes, body, bytes_to_answer, version_of
from focused.redis.server import Server, SharedStanding, operation
from focused.redis.verdicts import class_to_bytes
from focused.report.text import short
from focused.safety.neighbourhoods import ADDRESS, DOMAIN, Ceiling, named_group
from focused.safety.patterns import Patterns

FORMAT = 4
# What the script knows of an address.
_KNOWN = np.dtype([("link", "<u4"), ("state", "u1"), ("wanted", "u1"), ("relevance", "<f4")])
_LONGEST_URL = 65_535
# Redis serves nobody else while it reads so many pages that were offered.
_OFFERED_AT_ONCE = 100
_NO_LIMIT = 2**31
# How many links may be given back because this worker's own gate says later, before there is none for now.
_MOST_REFUSED = 16
# Seconds after which a host is asked again whose gate does not say when; after which others may have found something.
_UNKNOWN, _LOOK_AGAIN = 0.5, 1.0
# Whoever found no host open looks again after so many seconds for each worker, at the earliest: of a hundred that wait
# for the same hosts, all would ask whenever one opens (bench/scale.py).
_APART = 0.002


@dataclass(slots=True, eq=False)
class _HeldLease(Lease):
    """A lease of this worker's, and what came to be known under it.

    ``arrived_by`` is the evidence that led to its page, with the relevance of the pages where it stands. ``ended_at``
    is the link at which a redirect ended without being followed, its relevance, and whether it is through. ``pooled``
    are its lessons, and ``version`` is that of the critic when the first of them was made.
    """

    is_suspect: bool = False
    is_returned: bool = False
    arrived_by: tuple[Evidence, list[float]] | None = None
    pooled: list[Lessons] = field(default_factory=list)
    version: int | None = None
    ended_at: tuple[int, float, bool] | None = None


class RedisStore:
    """One worker's view of a crawl in Redis. ``identity`` says whose crawl it is: checked on opening.

    Of a waiting link at most ``most_pieces`` pieces of evidence are kept, and ``most_bytes`` of them (0 = any number)
    or the first one. The lessons of the newest ``most_anew`` pages are kept, to be taught anew when the critic has
    learned. Of more than ``most_waiting`` links the worst are dropped when all are scored again. A worker that gave no
    sign of life for ``lease_seconds`` loses its leases. ``ceilings`` are those of a domain and of an address, if there
    are any above hosts. Redis is waited for ``redis_patience`` seconds, or until ``is_ending()``.
    """

    def __init__(
        self,
        client: Redis,
        crawl: str,
        worker: str,
        prioritizer: Prioritizer,
        *,
        identity: Mapping[str, str] | None = None,
        lexicon: CrawlLexicon | None = None,
        most_pieces: int = 8,
        most_bytes: int = 560,
        most_deaths: int = 3,
        most_late: int = 0,
        most_anew: int = 0,
        most_waiting: int = 0,
        lease_seconds: float = 60.0,
        patience: float = 0.0,
        ceilings: tuple[Ceiling, Ceiling] | None = None,
        redis_patience: float = 600.0,
        is_ending: Callable[[], bool] = lambda: False,
    ) -> None:
        self._lexicon = CrawlLexicon() if lexicon is None else lexicon
        options = {
            "pieces": most_pieces,
            "bytes": most_bytes or _NO_LIMIT,
            "late": most_late,
            "anew": most_anew,
            "most_deaths": most_deaths,
            "most_waiting": most_waiting,
            "lease_seconds": lease_seconds,
            "combine": prioritizer.combine,
            "failed": Outcome.FAILED.value,
            "redirect": Outcome.REDIRECT.value,
            "ceilings": ceilings is not None and dict(zip((DOMAIN, ADDRESS), map(_to_numbers, ceilings), strict=True)),
            "relevant": RELEVANT,
            "sure": SURE,
        }
        self.server = Server(client, crawl, worker, options, patience=redis_patience, is_ending=is_ending)
        self._patience, self._lease_seconds = patience, lease_seconds
        self._packing = Packing(prioritizer.id_bits)
        self._pool = Pool(self.server)
        self._prioritizer = prioritizer
        # Of the snapshot that scores: the same for all workers that have the same one.
        self._stamp, self._loaded_stamp = 0, 0
        self._pending: list[bytes] = []
        self._broken: StoreBroken | None = None
        self.leases: dict[int, _HeldLease] = {}
        # Acknowledged, and not told to Redis yet.
        self._acknowledged: list[PageRecord] = []
        self._tokens = 0
        self._wake: float | None = None
        self.is_trainer = False
        self.preferred = Patterns()
        self._join(dict(identity or {}))

    def _join(self, identity: dict[str, str]) -> None:
        whose = {"format": str(FORMAT), "id bits": str(self._prioritizer.id_bits), **identity}
        other = self.server.ask("join", whose)
        if other:
            key, kept = (part.decode("utf-8", "replace") for part in other)
            raise of_another(self.server.crawl, key, kept, whose[key])

    # --- how it stands -----------------------------------------------------------------------------------------

    @property
    def prioritizer(self) -> Prioritizer:
        """The snapshot that scores."""
        return self._prioritizer

    @prioritizer.setter
    def prioritizer(self, new: Prioritizer) -> None:
        self._prioritizer = new
        self._stamp, self._loaded_stamp = self._loaded_stamp or Random().getrandbits(32), 0

    def standing(self) -> SharedStanding:
        """What Redis said last, and what it does not count yet of this worker's."""
        standing = self.server.standing
        own = [*(lease.page for lease in self.leases.values() if lease.page is not None), *self._acknowledged]
        if not own:
            return standing
        unique = [page.relevance for page in own if page.outcome is Outcome.PAGE]
        return replace(
            standing,
            pages=standing.pages + len(own),
            duplicates=standing.duplicates + len(own) - len(unique),
            found=standing.found + sum(relevance >= RELEVANT for relevance in unique),
            relevance=standing.relevance + sum(unique),
        )

    # --- links and evidence ------------------------------------------------------------------------------------

    def known(self, urls: Sequence[str]) -> Known:
        answer = self._ask("known", [_key(url_to_key(url)) for url in urls])
        with self.server.whole("what is known of addresses"):
            columns = np.frombuffer(answer, _KNOWN, len(urls))
        return Known(
            columns["link"].astype(np.int64),
            columns["state"].copy(),
            columns["wanted"].astype(np.bool_),
            columns["relevance"].copy(),
        )

    def admit(
        self,
        source: Lease | None,
        links: Sequence[NewLink],
        evidence: Evidence | None = None,
        scores: NDArray[np.float32] | None = None,
    ) -> Admitted:
        number = source.link if source else 0
        if not links:
            return Admitted(np.zeros(0, np.int64), np.zeros(0, np.bool_))
        found: list[list[Any]] = []
        if evidence is not None and scores is not None:
            pieces = self._packing.pieces(evidence, number, version_of(self._prioritizer))
            if self.preferred:
                # In Redis are the scores that count, of each piece; those of what waits are made anew by the trainer.
                scores = lifted(scores, fitting(self.preferred, [new.url for new in links[: len(scores)]]))
            found = [[score, piece] for score, piece in zip(scores.tolist(), pieces, strict=True)]
        keys = [_key(new.key or url_to_key(new.url)) for new in links]
        rows: dict[bytes, list[Any]] = {}
        fresh = np.zeros(len(links), np.bool_)
        for i, (key, new) in enumerate(zip(keys, links, strict=True)):
            if key not in rows:
                rows[key] = [key, [], float(np.float32(new.base)), _to_new(new)]
                fresh[i] = bool(rows[key][3])
            rows[key][1] += found[i : i + 1]
        # Scores that counted for more or less than they do now say nothing beside new ones.
        stamp = self._stamp ^ crc32("\n".join(self.preferred.texts).encode())
        asked = "admit", number, [*rows.values()], stamp
        if source is None:
            answers = dict(zip(rows, self._ask(*asked), strict=True))
            numbers = np.array([answers[key][0] for key in keys], np.int64)
            return Admitted(numbers, fresh & [bool(answers[key][1]) for key in keys])
        # It goes with the next call. Should another worker be first after all, the script finds out.
        self._tell(*asked)
        numbers = np.array([new.link for new in links], np.int64)
        return Admitted(numbers, fresh, self._late(source, links, evidence) if evidence is not None else None)

    def _late(self, source: Lease, links: Sequence[NewLink], evidence: Evidence) -> Lessons | None:
        """The lessons that a page's links to pages fetched before give at once."""
        relevance = np.array([new.relevance for new in links[: len(evidence)]], np.float32)
        rows = np.flatnonzero(~np.isnan(relevance))
        if source.page is None or not len(rows):
            return None
        evidence.link = np.array([new.link for new in links[: len(evidence)]], np.uint32)
        evidence.source = np.full(len(evidence), source.link, np.uint32)
        return Lessons.late(
            evidence.select(rows), relevance[rows], np.full(len(rows), source.page.relevance, np.float32)
        )

    def prefer(self, patterns: Patterns) -> None:
        self.preferred = patterns

    # --- leases ------------------------------------------------------------------------------------------------

    def lease(self, now: float, gate: Gate) -> Lease | None:
        for _ in range(_MOST_REFUSED):
            self._tokens += 1
            returned = [token for token, lease in self.leases.items() if lease.is_returned]
            began = monotonic()
            answer = self._ask("lease", self._tokens, self._patience, returned)
            if not answer or b"token" not in answer:
                soonest = _APART * answer[b"workers"] if answer else 0.0
                self._look_again(now, max(answer[b"wake"], soonest) if answer else _LOOK_AGAIN)
                return None
            lease = self._take(answer)
            if lease is None or not self._is_held_still(lease, began):
                continue
            at = gate(lease.host)
            if at <= now or lease.token != self._tokens:
                return lease
            self.postpone(lease)
            self.sleep(lease.host.name, _UNKNOWN if isinf(at) else at - now)
        self._look_again(now, _UNKNOWN)
        return None

    def lease_link(self, link: int) -> Lease | None:
        self._tokens += 1
        answer = self._ask("lease_link", self._tokens, link)
        return self._take(answer) if answer else None

    def _is_held_still(self, lease: Lease, began: float) -> bool:
        """Has a lease not been lost while this process was frozen? Then its host is asked by another worker now."""
        if monotonic() - began > self._lease_seconds / 2:
            self.beat()
        if lease.is_lost and lease.token == self._tokens:
            # Nobody has heard of it.
            del self.leases[lease.token]
        return not lease.is_lost

    def _look_again(self, now: float, after: float) -> None:
        """When to ask for a link again: others may find some, or give some back."""
        standing = self.server.standing
        is_over = not (
            standing.waiting or standing.leased_elsewhere or any(lease.is_returned for lease in self.leases.values())
        )
        self._wake = None if is_over else now + min(after, _LOOK_AGAIN)

    def _take(self, answer: dict[bytes, Any]) -> Lease | None:
        """A lease as the script tells it; one that was given back is known here. None if that was lost."""
        token = int(answer[b"token"])
        if token in self.leases:
            lease = self.leases[token]
            lease.is_returned, lease.is_lost = False, b"gone" in answer
            return None if lease.is_lost else lease
        with self.server.whole("a waiting link"):
            self.leases[token] = lease = _to_lease(token, answer)
        return lease

    def sent(self, lease: Lease, delay: float, concurrency: int, ago: float) -> None:
        self._tell("sent", lease.token, float(delay), concurrency, float(ago))

    def sleep(self, host: str, seconds: float) -> None:
        self._tell("sleep", host, float(seconds))

    def ask_beside(self, host: str) -> None:
        """A request that is no link's goes out to a host."""
        self._tell("ask_beside", host)

    def resolved(self, host: str, group: str | None) -> float:
        """The server of a host has an address; see `Neighbours.resolved`."""
        return float(self._ask("resolved", host, False if group is None else group))

    def beat(self) -> None:
        self._ask("beat")
        standing = self.server.standing
        if standing.leased - standing.leased_elsewhere < sum(not lease.is_lost for lease in self.leases.values()):
            mine = {int(token) for token in self._read("mine") or []}
            for token, lease in self.leases.items():
                lease.is_lost |= token not in mine

    def train(self, seconds: float) -> bool:
        """Take or keep the role of the one who trains, for so many seconds; False if another worker has it."""
        self.is_trainer = bool(self._ask("train", float(seconds)))
        return self.is_trainer

    def next_wake(self) -> float | None:
        return self._wake

    def begin_work(self, lease: Lease) -> None:
        if self.leases[lease.token].is_suspect:
            self._ask("at_work", lease.token)

    def redirect(self, lease: Lease, url: str, host: str) -> bool:
        held = self.leases[lease.token]
        if len(_to_bytes(url)) > _LONGEST_URL:
            return False
        came_from = dict.fromkeys(lease.chain, True)
        answer = self._ask(
            "redirect", lease.token, _key(url_to_key(url)), _to_bytes(url), host, came_from, named_group(host)
        )
        target = int(answer[b"link"])
        if not target:
            lease.is_lost = True
            return False
        if answer[b"followed"] and target == lease.link:
            return True
        lease.chain.append(lease.link)
        if not answer[b"followed"]:
            held.ended_at = target, answer.get(b"relevance", nan), bool(answer[b"is_through"])
            return False
        if target in lease.chain:
            # There and back: a cookie was set on the way. Scrapy bounds how often.
            lease.chain.remove(target)
        lease.link, lease.url = target, url
        lease.host = LinkHost(int(answer[b"host"]), host, int(answer[b"pages"]))
        return True

    def return_lease(self, lease: Lease) -> None:
        self.leases[lease.token].is_returned = True
        self._tell("give_back", lease.token)

    def postpone(self, lease: Lease) -> None:
        del self.leases[lease.token]
        if not lease.is_lost:
            self._tell("postpone", lease.token, 0)

    # --- pages and lessons -------------------------------------------------------------------------------------

    def record(self, lease: Lease, page: PageRecord) -> PageRecord:
        page.link = lease.link
        learns = self._prioritizer.learns
        answer = self._ask("record", lease.token, _key(page.digest), learns, page.is_short)
        if not answer:
            lease.is_lost, page.outcome = True, Outcome.OTHER
            return page
        with self.server.whole("the record of a page"):
            order, is_duplicate, found, said = answer
            page.order = int(order)
            if said:
                page.relevance = as_said(page.relevance, bytes_to_answer(page.link, said).is_wanted)
        if is_duplicate:
            page.outcome = Outcome.DUPLICATE
        held = self.leases[lease.token]
        lease.page, held.arrived_by = page, self._decode(page.link, found)
        held.version = version_of(self._prioritizer)
        return page

    def evidence_of(self, lease: Lease) -> Evidence | None:
        found = self._arrived_by(lease)
        return found[0] if found else None

    def lessons_of(self, lease: Lease) -> Lessons | None:
        page, held = lease.page, self.leases[lease.token]
        if page is not None:
            return _to_lessons(held.arrived_by, page.relevance if page.outcome is Outcome.PAGE else 0.0)
        _, relevance, is_through = held.ended_at or (0, nan, True)
        # A page that is being fetched teaches when it is there.
        return _to_lessons(self._arrived_by(lease), relevance) if is_through else None

    def _arrived_by(self, lease: Lease) -> tuple[Evidence, list[float]] | None:
        held = self.leases[lease.token]
        return held.arrived_by or self._decode(lease.link, self._ask("evidence", lease.link))

    def pool(self, lease: Lease, lessons: Lessons | None) -> None:
        """Have lessons go with a lease's acknowledgement to the worker that trains."""
        if lessons is not None:
            held = self.leases[lease.token]
            held.pooled.append(lessons)
            held.version = version_of(self._prioritizer) if held.version is None else held.version

    def acknowledge(self, lease: Lease, outcome: Outcome, detail: str = "") -> Outcome:
        held = self.leases.pop(lease.token)
        if held.is_lost:
            return Outcome.OTHER
        if outcome is Outcome.FAILED:
            held.page, held.pooled = None, []
        page, target = held.page, held.ended_at[0] if held.ended_at else 0
        if page is not None:
            outcome = page.outcome
            self._acknowledged.append(page)
        elif target:
            outcome = Outcome.REDIRECT
        # Pages count for whoever trains, also those that teach nothing.
        teaches = bool(held.pooled) or (page is not None and self._prioritizer.learns)
        pooled = pooled_to_bytes(page is not None, held.pooled, held.version or 0) if teaches else False
        fields = _page_fields(page) if page is not None else False
        ended = (lease.token, outcome.value, fields, target, pooled, _to_bytes(detail))
        self._tell("acknowledge", *ended)
        new_words = {number.to_bytes(4, "big"): word for number, word in self._lexicon.take_new().items()}
        if new_words:
            self._tell("words", new_words)
        return outcome

    # --- verdicts that change ----------------------------------------------------------------------------------

    def kept_pages(self, before: int | None = None) -> Callable[[], Iterator[KeptPages]]:
        self.commit()
        return self._pool.verdicts.kept_pages(before)

    def revise_verdicts(self, version: int, links: Sequence[int], verdicts: Sequence[Verdict]) -> None:
        self.commit()
        self._pool.verdicts.revise(version, links, verdicts)

    def lessons_anew(self, most: int) -> Callable[[], Iterator[Lessons | None]]:
        self.commit()
        prioritizer = self._prioritizer
        return lambda: (pooled.lessons for pooled in self._pool.lessons_anew(prioritizer, most))

    def settle_verdicts(self, critic: LearningCritic) -> None:
        """Have the newest critic judge what was judged by an older one."""
        self.commit()
        # It may have been published since this worker was told how the crawl stands.
        self.server.ask("beat")
        if self.server.standing.has_outdated:
            self._pool.verdicts.settle(self._pool.newest(critic))

    # --- what somebody says of pages ---------------------------------------------------------------------------

    @property
    def news(self) -> int:
        """As the workers count it, who learn from it (`focused.redis.workers.learning`)."""
        return self.server.standing.answers

    def keep_answers(
        self, answers: Iterable[Answer], *, read: tuple[int, int] | None = None, steering: str | None = None
    ) -> bool:
        kept = list(answers)
        say_something = sum(one.said is not Says.UNKNOWN for one in kept)
        said = {_number(one.link): answer_to_bytes(one) for one in kept}
        return bool(self._ask("keep_answers", said, say_something, *(read or (False, False)), steering or False))

    def answers(self) -> dict[int, Answer]:
        self.commit()
        return self._pool.verdicts.answers()

    def offer(self, page: bytes, most: int) -> None:
        """Keep a page about which somebody may be asked; of so many the oldest makes room."""
        self._tell("offer", page, most)

    def offered(self, most: int) -> Iterator[bytes]:
        """The pages that workers have offered last."""
        for begin in range(0, most, _OFFERED_AT_ONCE):
            yield from self._read("offered", begin, begin + _OFFERED_AT_ONCE - 1)

    # --- what was learned, and notes ---------------------------------------------------------------------------

    @property
    def rescoring_cost(self) -> int:
        return self.server.standing.evidence

    def rescoring(self) -> Rescoring:
        self.commit()
        return self._pool.rescoring(self._prioritizer)

    def save_model(self, name: str, data: Mapping[str, NDArray[Any]], order: int) -> None:
        self.commit()
        published = self._pool.publish(name, data, order, version_of(self._prioritizer))
        if published is not None:
            self._stamp = published[1]

    def load_model(self, name: str) -> tuple[dict[str, NDArray[Any]], int] | None:
        self.commit()
        model = self._pool.model(name)
        if model is None:
            return None
        self._loaded_stamp = model.stamp
        return model.state, model.upto

    def adopt(self, prioritizer: Prioritizer, stamp: int) -> None:
        """Score by a snapshot that others may have, too: they all give it the same stamp."""
        self._prioritizer, self._stamp, self._loaded_stamp = prioritizer, stamp, 0

    def adopt_critic(self, critic: Critic) -> None:
        """The prioritizer asks another snapshot of the critic from now on. What it has learned is still the same."""
        self._prioritizer = copy(self._prioritizer)
        self._prioritizer.critic = critic

    def pool_over(self, client: Redis) -> Pool:
        """Lessons and model over another connection, for a thread of this worker's."""
        return Pool(self.server.beside(client))

    def note(self, key: str, value: str) -> None:
        self._tell("note", key, value)

    def noted(self, key: str) -> str | None:
        value = self._read("noted", key)
        with self.server.whole(f"the note {key!r}"):
            return _to_text(value) if value else None

    def revise(self, key: str, change: Callable[[str | None], str | None]) -> None:
        while True:
            kept = self.noted(key)
            with self.server.whole(f"the note {key!r}") if kept is not None else nullcontext():
                new = change(kept)
            if new is None or self._ask("revise", key, kept or "", new):
                return

    def commit(self) -> None:
        if self._pending:
            self._send()

    def close(self) -> None:
        try:
            # What a store that broke could not write is for others to do again.
            pending = [] if self._broken is not None else self._pending
            self.server.call([*pending, operation("leave")])
            self._acknowledged.clear()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of everything as if the process had died."""
        self._pending.clear()
        self.server.client.close()

    # --- inside ------------------------------------------------------------------------------------------------

    def _tell(self, name: str, *arguments: Any) -> None:
        """Have an operation go with the next call."""
        self._pending.append(operation(name, *arguments))

    def _ask(self, name: str, *arguments: Any) -> Any:
        """The answer of an operation, carried out after all that is pending."""
        self._tell(name, *arguments)
        return self._send()[-1]

    def _send(self) -> list[Any]:
        if self._broken is not None:
            raise self._broken
        try:
            answers = self.server.call(self._pending)
        except StoreBroken as error:
            # Should Redis come back after all: what is told from now on is without what could not be told now.
            self._broken = error
            raise
        finally:
            self._pending.clear()
        self._acknowledged.clear()
        return answers

    def _read(self, name: str, *arguments: Any) -> Any:
        """The answer of an operation that changes nothing; it may be long, and is not kept to be given again."""
        self.commit()
        return self.server.ask(name, *arguments)

    def _decode(self, link: int, found: Any) -> tuple[Evidence, list[float]] | None:
        if not found:
            return None
        with self.server.whole("the evidence of a link"):
            raw, sources = found
            records = self._packing.read([raw], np.array([link], np.int64))
            known = dict(zip(records.evidence.source.tolist(), sources, strict=True))
        records.see_again(
            self._prioritizer, lambda pages: np.array([known[page] for page in pages.tolist()], np.float32)
        )
        evidence = records.evidence
        return (evidence, sources) if len(evidence) else None


def _to_lessons(found: tuple[Evidence, list[float]] | None, relevance: float) -> Lessons | None:
    return Lessons.of_page(found[0], relevance, np.array(found[1], np.float32)) if found else None


def _to_lease(token: int, answer: dict[bytes, Any]) -> _HeldLease:
    """A lease as the script tells it; ValueError if a number in it is none that can be counted on."""
    rank, base = answer[b"rank"], answer[b"base"]
    if not isfinite(rank) or not isfinite(base):
        raise ValueError(f"its rank is {rank!r}")
    return _HeldLease(
        token=token,
        link=int(answer[b"link"]),
        url=_to_text(answer[b"url"]),
        host=LinkHost(int(answer[b"host"]), _to_text(answer[b"name"]), int(answer[b"pages"])),
        depth=int(answer[b"depth"]),
        source=int(answer[b"source"]),
        parent=_to_text(answer[b"parent"]),
        score=rank - base,
        tries=int(answer[b"tries"]),
        seed=base == SEED_RANK,
        request=answer[b"request"] or None,
        is_suspect=b"suspect" in answer,
    )


def _to_new(new: NewLink) -> Any:
    """What a link that is new consists of; False if it is known, or cannot be kept."""
    url, request = _to_bytes(new.url), new.request or b""
    if new.link or len(url) > _LONGEST_URL:
        return False
    return {
        "host": new.host,
        "neighbours": named_group(new.host),
        "depth": new.depth,
        "base": float(np.float32(new.base)),
        "length": len(url),
        "request": len(request),
        "body": body(url, request),
    }


def _to_numbers(ceiling: Ceiling) -> dict[str, float]:
    return {"spacing": ceiling.spacing, "at_once": ceiling.at_once, "new_hosts": ceiling.new_hosts}


def of_another(crawl: str, what: str, kept: str, mine: str) -> JobRefused:
    """Why a worker cannot join a crawl."""
    return JobRefused(
        f"the crawl {crawl!r} in Redis was made with {what} {short(kept, 200)!r}, this one has {mine!r}: "
        f"give it another name (FOCUSED_CRAWL), start it as it was, or, when nobody is at work on it, begin anew "
        f"(SCHEDULER_FLUSH_ON_START=True)"
    )


def _page_fields(page: PageRecord) -> dict[str, Any]:
    """What the script is told of a page."""
    return {
        "relevance": float(page.relevance),
        "url": _to_bytes(page.url),
        "found": int(page.outcome is Outcome.PAGE and page.relevance >= RELEVANT),
        "class": class_to_bytes(page.best_class),
        "version": page.version,
        "gist": page.outcome is Outcome.PAGE and (page.gist or False),
        "item": page.outcome is Outcome.PAGE and _to_bytes(json.dumps(page.item, ensure_ascii=False)),
    }


def _key(number: int) -> bytes:
    return number.to_bytes(8, "big")


def _number(link: int) -> bytes:
    return link.to_bytes(4, "big")


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _to_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
