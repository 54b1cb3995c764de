"""Why a page was fetched when it was, or why it was not: told from a job's records."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from focused.frontier.lessons import EvidenceReader, leading_to
from focused.frontier.store import SEED_RANK, JobRefused, Outcome, State
from focused.pages.evidence import CHANNELS, MAX_OFFSET, Evidence
from focused.pages.urls import join, url_to_key
from focused.report.learned import Model, read_model
from focused.report.reasons import reasons
from focused.report.standing import next_links, standing_of
from focused.report.text import short, signed
from focused.report.words import Feature, WordTable, in_order

_MOST_WORDS = 14
_LONGEST_CHAIN = 20
_ENDS = {
    Outcome.DEAD: "It was tried and is dead",
    Outcome.DENIED: "It was not fetched: denied",
    Outcome.NOT_HTML: "It is not HTML",
    Outcome.FAILED: "It was tried and given up",
    Outcome.OTHER: "Its fetch ended without a page",
}


_COMBINED = {"first": "first", "max": "best", "mean": "mean"}


class UnknownLink(LookupError):
    """An address that the job has no record of; the message says what that can mean."""


def tell_why(connection: sqlite3.Connection, url: str, *, most: int = 10) -> Iterator[str]:
    """The story of an address in a job, line by line. UnknownLink if the job does not know it."""
    yield from _Story(connection, most).tell(find_link(connection, url))


def tell_next(connection: sqlite3.Connection, *, most: int = 10) -> Iterator[str]:
    """The links that a job would follow next, line by line. JobRefused if its prioritizer cannot be made again."""
    found, waiting = next_links(connection, read_model(connection).prioritizer, most)
    if not waiting:
        yield "No link waits."
        return
    yield f"{waiting:,} link{'s wait' if waiting > 1 else ' waits'}; what comes first, with the scores:"
    for candidate in found:
        score = "seed" if candidate.score is None else f"{candidate.score:.3f}"
        yield f"{score:>7}  {short(candidate.url, 2_000)}"


def find_link(connection: sqlite3.Connection, url: str) -> sqlite3.Row:
    """The record of an address, as it was given or as browsers write it."""
    for candidate in (join(url, "") or url, url):
        for column, value in (("key", url_to_key(candidate)), ("url", candidate)):
            query = f"SELECT * FROM links WHERE {column} = ?"  # noqa: S608
            row: sqlite3.Row | None = connection.execute(query, (value,)).fetchone()
            if row is not None:
                return row
    near = [other for other in _variants(url) if connection.execute(_BY_KEY, (url_to_key(other),)).fetchone()]
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UnknownLink(
        f"{short(url, 200)} is not known to this job: no page that was fetched links to it, or the link was not "
        f"admitted (another host than the topic's, a pattern, a trap, a limit of depth).{hint}"
    )


_BY_KEY = "SELECT 1 FROM links WHERE key = ?"


def _variants(url: str) -> list[str]:
    """Addresses that people take for the same."""
    http = url.replace("https://", "http://", 1)
    schemes = [http, http.replace("http://", "https://", 1), f"http://{url}", f"https://{url}"]
    slashes = [one.rstrip("/") + end for one in schemes for end in ("", "/")]
    hosts = [f(one) for one in slashes for f in (lambda u: u, _with_www, lambda u: u.replace("://www.", "://", 1))]
    return [join(one, "") for one in hosts if join(one, "")]


def _with_www(url: str) -> str:
    return url if "://www." in url else url.replace("://", "://www.", 1)


class _Story:
    def __init__(self, connection: sqlite3.Connection, most: int) -> None:
        self._connection = connection
        self._most = most
        self._model: Model | None = None
        self._no_model = ""
        try:
            self._model = read_model(connection)
        except JobRefused as error:
            self._no_model = str(error)

    def tell(self, link: sqlite3.Row) -> Iterator[str]:
        yield short(link["url"], 2_000)
        yield from self._what_became(link)
        if link["base"] == SEED_RANK:
            yield "It is a seed: seeds come before everything else."
        evidence = EvidenceReader(self._connection).of(leading_to(self._connection, link["id"]))
        if evidence is not None:
            yield from self._links(link, evidence)
        elif link["base"] != SEED_RANK:
            yield "No evidence of a link to it is kept."

    # --- what became of it -------------------------------------------------------------------------------------

    def _what_became(self, link: sqlite3.Row) -> Iterator[str]:
        if link["state"] == State.LEASED:
            yield "It is being fetched now (or was when the crawl was cut short)."
        elif link["state"] == State.WAITING:
            yield from self._waiting(link)
        elif link["outcome"] == Outcome.REDIRECT:
            yield from self._redirect(link)
        elif link["outcome"] in _ENDS:
            detail = f": {short(link['detail'], 200)}" if link["detail"] else ""
            yield f"{_ENDS[Outcome(link['outcome'])]}{detail}."
        else:
            yield from self._page(link)

    def _page(self, link: sqlite3.Row) -> Iterator[str]:
        page = self._connection.execute("SELECT * FROM pages WHERE link = ?", (link["id"],)).fetchone()
        (pages,) = self._connection.execute("SELECT count(*) FROM pages").fetchone()
        if page["title"]:
            yield f"“{short(page['title'], 200)}”"
        of_class = f", class {short(page['class'], 80)}" if page["class"] else ""
        verdict = f"relevance {page['relevance']:.3f}{of_class}"
        yield f"Page {page['seq']} of {pages}, depth {link['depth']}. Verdict: {verdict}."
        if page["outcome"] == Outcome.DUPLICATE:
            first = self._connection.execute(
                "SELECT url FROM pages WHERE digest = ? AND outcome = 1", (page["digest"],)
            ).fetchone()
            yield f"It has the same content as {short(first['url'], 300) if first else 'a page fetched before'}."
        score = _score_when_chosen(page)
        if score is not None:
            yield f"Score when it was chosen: {score:.3f}, by the model of that moment."

    def _waiting(self, link: sqlite3.Row) -> Iterator[str]:
        yield f"It waits; it was found at depth {link['depth']}."
        if self._model is None:
            return
        at = standing_of(self._connection, self._model.prioritizer, link["id"])
        host = self._connection.execute("SELECT name FROM hosts WHERE id = ?", (link["host"],)).fetchone()["name"]
        yield (
            f"Place {at.place:,} of {at.waiting:,} that wait, {at.place_on_host:,} of {at.waiting_on_host:,} on "
            f"{short(host, 100)}; its score now: {at.score:.3f}."
        )

    def _redirect(self, link: sqlite3.Row) -> Iterator[str]:
        for _ in range(_LONGEST_CHAIN):
            if not link["target"]:
                break
            target = self._connection.execute("SELECT * FROM links WHERE id = ?", (link["target"],)).fetchone()
            if target is None:
                break
            link = target
            yield f"It led to {short(link['url'], 500)}"
        if link["outcome"] != Outcome.REDIRECT:
            yield from self._what_became(link)

    # --- the links to it ---------------------------------------------------------------------------------------

    def _links(self, link: sqlite3.Row, evidence: Evidence) -> Iterator[str]:
        n = len(evidence)
        yield ""
        around = ", with what stood around, by offset from the link" if len(evidence.ids) else ""
        yield f"{n} link{'' if n == 1 else 's'} to it known{around}:"
        d_max = getattr(self._model.prioritizer, "d_max", 5) if self._model else 5
        offsets = [*range(-d_max, d_max + 1), *CHANNELS]
        shown = evidence.select(range(min(n, self._most)))
        traced = WordTable.read(self._connection).trace(shown.ids, offsets)
        for i in range(len(shown)):
            row = shown.row(i)
            features = in_order(row.ids, traced)
            yield ""
            yield from self._link(i + 1, link, row)
            yield from _around(features)
            yield from self._score(row, features)
        if n > self._most:
            yield f"\n… and {n - self._most} more (--links {n} shows all)."
        yield ""
        yield self._whose_scores(n)

    def _whose_scores(self, pieces: int) -> str:
        if self._model is None:
            return f"No scores and reasons: {self._no_model}."
        prioritizer, pages = self._model.prioritizer, self._model.pages
        how = f"Of several links the {_COMBINED[prioritizer.combine]} counts. " if pieces > 1 else ""
        if not prioritizer.learns:
            return f"{how}The prioritizer of this job, {prioritizer.name}, does not learn: its scores stay as they are."
        return (
            f"{how}Scores and reasons are those of the model saved last (after page {pages}); the score when it was "
            f"chosen was given by the model of that moment."
        )

    def _link(self, number: int, link: sqlite3.Row, row: Evidence) -> Iterator[str]:
        source = self._connection.execute(
            "SELECT url, title, relevance, seq, seq > (SELECT seq FROM pages WHERE link = ?) AS late "
            "FROM pages WHERE link = ?",
            (link["id"], int(row.source[0])),
        ).fetchone()
        where = f"leaf {int(row.leaf[0])}"
        if source is None:
            yield f"{number}. on a page that has no record (yet), {where}"
        else:
            title = f" “{short(source['title'], 80)}”" if source["title"] else ""
            yield f"{number}. on {short(source['url'], 300)}{title}"
            yield f"   page {source['seq']}, R(u) = {source['relevance']:.3f}; the link stands at {where}"
            if source["late"]:
                yield "   found after this page was fetched: it had no part in that"
        if int(row.link[0]) != link["id"]:
            via = self._connection.execute("SELECT url FROM links WHERE id = ?", (int(row.link[0]),)).fetchone()
            yield f"   it named {short(via['url'], 300) if via else 'another address'}, which led here"

    def _score(self, row: Evidence, features: list[Feature | None]) -> Iterator[str]:
        if self._model is not None:
            yield f"   score: {float(self._model.prioritizer.finite_scores(row)[0]):.3f}"
            yield from (f"   {line}" for line in reasons(self._model.prioritizer, row, features))


def _score_when_chosen(page: sqlite3.Row) -> float | None:
    score: Any = json.loads(page["item"]).get("score")
    return None if score is None else float(score)


def _around(features: list[Feature | None]) -> Iterator[str]:
    """The words of each leaf in a line of its own."""
    words = [feature for feature in features if feature is not None and abs(feature.offset) <= MAX_OFFSET]
    for offset, leaf in groupby(words, key=lambda feature: feature.offset):
        text = [short(feature.word, 40) for feature in leaf]
        cut = text[-_MOST_WORDS:] if offset < 0 else text[:_MOST_WORDS]
        left, right = ("… ", "") if offset < 0 else ("", " …")
        more = len(text) > len(cut)
        yield f"   {signed(offset):>4}  {left if more else ''}{' '.join(cut)}{right if more else ''}"
