"""Why a page was fetched when it was, or why it was not, from what a crawl has recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, product

from focused.frontier.store import JobRefused, Outcome, Says, State
from focused.pages.evidence import CHANNELS, MAX_OFFSET, Evidence
from focused.pages.urls import join
from focused.prioritizers.base import Prioritizer
from focused.report.learned import saved_prioritizer
from focused.report.marks import unread_marks
from focused.report.reader import CrawlReader, LinkLine, PageLine
from focused.report.reasons import reasons
from focused.report.text import counted, short, signed
from focused.report.waiting import place_of
from focused.report.words import Feature, in_order
from focused.safety.patterns import Patterns

_MOST_WORDS = 14
_LONGEST_CHAIN = 20
_ENDS = {
    Outcome.DEAD: "It was tried and is dead",
    Outcome.UNAVAILABLE: "It was tried and unavailable",
    Outcome.DENIED: "It was not fetched: denied",
    Outcome.NOT_HTML: "It is not HTML",
    Outcome.FAILED: "It was tried and given up",
    Outcome.OTHER: "Its fetch ended without a page",
}
_SAID = {
    Says.YES: "said that it is wanted",
    Says.NO: "said that it is not wanted",
    Says.UNKNOWN: "did not know whether it is wanted",
    Says.NOTHING: "took back what was said of it",
}
_COMBINED = {"first": "first", "max": "best", "mean": "mean"}


class UnknownLink(LookupError):
    """An address that is not recorded; the message says what that can mean."""


def explain_link(reader: CrawlReader, url: str, *, most: int = 10) -> Iterator[str]:
    """The story of an address, line by line. UnknownLink if the crawl does not know it."""
    yield from _Story(reader, most).lines(find_link(reader, url))


def find_link(reader: CrawlReader, url: str) -> LinkLine:
    """The record of an address, as it was given or as browsers write it."""
    link = reader.link_at(join(url, "") or url, url)
    if link is not None:
        return link
    near = reader.link_at(*_variants(url))
    hint = f" Did you mean {short(near.url, 300)}?" if near else ""
    raise UnknownLink(
        f"{short(url, 200)} is not known to this crawl: no page that was fetched links to it, or the link was not "
        f"admitted (a host outside the topic's scope, an excluded pattern, an order to leave it out, a trap, a limit "
        f"of depth, a full frontier)."
        f"{hint}"
    )


def _variants(url: str) -> list[str]:
    """Addresses that people take for the same."""
    rest = re.sub(r"^(https?://)?(www\.)?", "", url).rstrip("/")
    forms = product(("http://", "https://"), ("", "www."), (rest,), ("", "/"))
    return [one for one in (join("".join(form), "") for form in forms) if one]


class _Story:
    def __init__(self, reader: CrawlReader, most: int) -> None:
        self._reader = reader
        self._most = most
        self._prioritizer: Prioritizer | None = None
        self._no_model = ""
        self._steering = reader.steering()
        self._unread = {mark.url: [mark] for mark in unread_marks(reader)}
        try:
            self._prioritizer, self._when = saved_prioritizer(reader)
        except JobRefused as error:
            self._no_model = str(error)

    def lines(self, link: LinkLine) -> Iterator[str]:
        yield short(link.url, 2_000)
        yield from self._what_became(link)
        for mark in self._unread.get(link.url, ()):
            yield f"{_name(mark.who)} {_SAID[mark.said]}; the crawl has not taken that in yet."
        if link.is_seed:
            yield "It is a seed: seeds come before everything else."
        evidence = self._reader.evidence_of(link.number)
        if evidence is not None:
            yield from self._links(link, evidence)
        elif not link.is_seed:
            yield "No evidence of a link to it is kept."

    # --- what became of it -------------------------------------------------------------------------------------

    def _what_became(self, link: LinkLine) -> Iterator[str]:
        if link.state == State.LEASED:
            yield "It is being fetched now (or was when the crawl was cut short)."
        elif link.state == State.WAITING:
            yield from self._waiting(link)
        elif link.outcome == Outcome.REDIRECT:
            yield from self._redirect(link)
        elif link.outcome in _ENDS:
            detail = f": {short(link.detail, 200)}" if link.detail else ""
            yield f"{_ENDS[Outcome(link.outcome)]}{detail}."
        else:
            for page in self._reader.pages([link.number]):
                yield from self._page(page, link.depth)

    def _page(self, page: PageLine, depth: int) -> Iterator[str]:
        if page.title:
            yield f"“{short(page.title, 200)}”"
        of_class = f", class {short(page.best_class, 80)}" if page.best_class else ""
        verdict = f"relevance {page.relevance:.3f}{of_class}"
        yield f"Page {page.order:,} of {self._reader.page_count():,}, depth {depth}. Verdict: {verdict}."
        if page.said and page.said != Says.NOTHING:
            yield f"{_name(page.who)} {_SAID[Says(page.said)]}."
        if page.is_duplicate:
            yield f"It has the same content as {short(page.same_as or 'a page fetched before', 300)}."
        if page.score is not None:
            yield f"Score when it was chosen: {page.score:.3f}, by the model of that moment."

    def _waiting(self, link: LinkLine) -> Iterator[str]:
        yield f"It is waiting; it was found at depth {link.depth}."
        yield from self._ordered(link)
        if self._prioritizer is not None:
            yield from place_of(self._reader.waiting_links(self._prioritizer), link)

    def _ordered(self, link: LinkLine) -> Iterator[str]:
        """What users have ordered of its host or address."""
        if pattern := Patterns(self._steering.left_out).match(link.url, link.host):
            yield f"Left out by an order ({short(pattern, 300)}): it will not be fetched when its turn comes."
        elif pattern := Patterns(self._steering.preferred).match(link.url, link.host):
            yield f"Preferred by an order ({short(pattern, 300)}): a score s counts as (1 + s) / 2 among the others."

    def _redirect(self, link: LinkLine) -> Iterator[str]:
        for _ in range(_LONGEST_CHAIN):
            target = self._reader.link(link.target) if link.target else None
            if target is None:
                break
            link = target
            yield f"It redirects to {short(link.url, 500)}"
        if link.outcome != Outcome.REDIRECT:
            yield from self._what_became(link)

    # --- the links to it ---------------------------------------------------------------------------------------

    def _links(self, link: LinkLine, evidence: Evidence) -> Iterator[str]:
        n = len(evidence)
        yield ""
        around = ", with the text around it, by offset from the link" if len(evidence.ids) else ""
        yield f"{counted(n, 'known link')} to it{around}:"
        d_max = getattr(self._prioritizer, "d_max", 5)
        offsets = [*range(-d_max, d_max + 1), *CHANNELS]
        shown = evidence.select(range(min(n, self._most)))
        traced = self._reader.words().trace(shown.ids, offsets)
        pages = {page.link: page for page in self._reader.pages([link.number, *set(shown.source.tolist())])}
        for i in range(len(shown)):
            row = shown.row(i)
            features = in_order(row.ids, traced)
            yield ""
            yield from self._link(i + 1, link, row, pages)
            yield from _around(features)
            yield from self._score(row, features)
        if n > self._most:
            yield f"\n… and {n - self._most} more (--links {n} shows all)."
        yield ""
        yield self._whose_scores(n)

    def _whose_scores(self, pieces: int) -> str:
        prioritizer = self._prioritizer
        if prioritizer is None:
            return f"No scores and reasons: {self._no_model}."
        how = f"Of several links the {_COMBINED[prioritizer.combine]} counts. " if pieces > 1 else ""
        if not prioritizer.learns:
            return f"{how}The prioritizer of this crawl, {prioritizer.name}, does not learn: its scores do not change."
        when = f"the model {self._when}" if self._when else "a model that has learned nothing yet"
        return (
            f"{how}Scores and reasons are those of {when}; the score when the link was chosen was given by the model "
            f"of that moment."
        )

    def _link(self, number: int, link: LinkLine, row: Evidence, pages: dict[int, PageLine]) -> Iterator[str]:
        own, source = pages.get(link.number), pages.get(int(row.source[0]))
        where = f"leaf {int(row.leaf[0])}"
        if source is None:
            yield f"{number}. on a page that has no record (yet), {where}"
        else:
            title = f" “{short(source.title, 80)}”" if source.title else ""
            yield f"{number}. on {short(source.url, 300)}{title}"
            yield f"   page {source.order}, R(u) = {source.relevance:.3f}; the link is at {where}"
            if own is not None and source.order > own.order:
                yield "   found after this page was fetched: it had no part in that"
        if int(row.link[0]) != link.number:
            via = self._reader.link(int(row.link[0]))
            yield f"   it names {short(via.url, 300) if via else 'another address'}, which redirects here"

    def _score(self, row: Evidence, features: list[Feature | None]) -> Iterator[str]:
        if self._prioritizer is not None:
            yield f"   score: {float(self._prioritizer.finite_scores(row)[0]):.3f}"
            yield from (f"   {line}" for line in reasons(self._prioritizer, row, features))


def _name(who: str) -> str:
    """Who said something, at the beginning of a sentence."""
    return "You" if who == "you" else short(who, 80)


def _around(features: list[Feature | None]) -> Iterator[str]:
    """The words of each leaf in a line of its own."""
    words = [feature for feature in features if feature is not None and abs(feature.offset) <= MAX_OFFSET]
    for offset, leaf in groupby(words, key=lambda feature: feature.offset):
        text = [short(feature.word, 40) for feature in leaf]
        cut = text[-_MOST_WORDS:] if offset < 0 else text[:_MOST_WORDS]
        left, right = ("… ", "") if offset < 0 else ("", " …")
        more = len(text) > len(cut)
        yield f"   {signed(offset):>4}  {left if more else ''}{' '.join(cut)}{right if more else ''}"
