"""Takes in what users say of pages: from the inbox into the job's answers, where the critic finds it when it learns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isnan

from focused.frontier.inbox import LETTERS, Inbox, Mark
from focused.frontier.store import NAMED_RANK, Answer, AnswerStore, FrontierStore, NewLink, Says, State
from focused.pages.urls import url_to_host

_MOST = 1_000
"""So many letters are read at once: the crawl waits."""


@dataclass(slots=True)
class TakenIn:
    """What was taken in: marks, how many of them changed what was said before, pages to be fetched first, bad lines."""

    marks: list[Mark] = field(default_factory=list)
    changed: int = 0
    first: list[str] = field(default_factory=list)
    skipped: int = 0

    def counts(self) -> dict[str, int]:
        """How many marks say what."""
        said = [mark.said for mark in self.marks]
        names = {Says.YES: "yes", Says.NO: "no", Says.UNKNOWN: "unknown", Says.NOTHING: "forgotten"}
        return {names[one]: said.count(one) for one in names if one in said}

    def in_words(self) -> str:
        """Such as "3 marks taken in: 2 yes, 1 no"."""
        count = len(self.marks)
        parts = [f"{number:,} {what}" for what, number in self.counts().items()]
        parts += [f"{self.changed:,} changed"] if self.changed else []
        parts += [f"{len(self.first):,} to be fetched first"] if self.first else []
        parts += [f"{self.skipped:,} unreadable lines skipped"] if self.skipped else []
        return f"{count:,} mark{'s' * (count != 1)} taken in: {', '.join(parts)}"


class Marks:
    """Reads the inbox of a crawl, some letters at a time. ``fetch`` has the pages at some addresses fetched, soon."""

    def __init__(self, store: FrontierStore, inbox: Inbox | None, fetch: Callable[[Sequence[str]], None]) -> None:
        self._store, self._fetch = store, fetch
        self._inbox = inbox if isinstance(store, AnswerStore) else None
        self._place = -1
        self.has_more = False
        """Were there more letters than were read at once?"""

    def _is_new(self) -> bool:
        """Is there anything that was not read yet?"""
        if self._inbox is None:
            return False
        end = self._inbox.end()
        if end != self._place:
            self._place = int(self._store.noted(LETTERS) or 0)
        return end != self._place

    def take_in(self) -> TakenIn | None:
        """Take in what came; None if nothing did, or if another worker was first."""
        if not self._is_new():
            self.has_more = False
            return None
        store, place = self._store, self._place
        assert self._inbox is not None
        assert isinstance(store, AnswerStore)
        letters = self._inbox.read_from(place, _MOST)
        self.has_more = len(letters.letters) + letters.skipped >= _MOST
        if letters.end == place:
            return None
        taken = TakenIn(letters.letters, skipped=letters.skipped)
        marks: dict[str, Mark] = {}
        for mark in letters.letters:
            # The last one about a page counts.
            taken.changed += _contradicts(mark.said, marks[mark.url].said if mark.url in marks else None)
            marks[mark.url] = mark
        kept = self._answers(marks, taken)
        if not store.keep_answers(kept, read=(place, letters.end)):
            return None
        self._place = letters.end
        if taken.first:
            self._fetch(taken.first)
        return taken

    def _answers(self, marks: dict[str, Mark], taken: TakenIn) -> list[Answer]:
        """The answers that marks are; a link that has no page yet goes before all others."""
        store, urls = self._store, list(marks)
        assert isinstance(store, AnswerStore)
        if not urls:
            return []
        known = store.known(urls)
        numbers, relevance = known.links.tolist(), known.relevance.tolist()
        wanted = [mark.said in {Says.YES, Says.NO} for mark in marks.values()]
        states = [State(state) for state in known.states.tolist()]
        taken.first = [
            url for url, state, is_wanted in zip(urls, states, wanted, strict=True)
            if is_wanted and state in {State.UNKNOWN, State.WAITING}
        ]  # fmt: skip
        if taken.first:
            new = [NewLink(url, url_to_host(url), base=NAMED_RANK) for url in taken.first]
            numbered = dict(zip(taken.first, store.admit(None, new).links.tolist(), strict=True))
            numbers = [numbered.get(url, number) for url, number in zip(urls, numbers, strict=True)]
        before = store.answers()
        answers = []
        for mark, link, by_critic in zip(marks.values(), numbers, relevance, strict=True):
            if not link:
                # It takes back what was never said.
                continue
            earlier = before.get(link)
            if earlier is not None and earlier.is_wanted is not None:
                taken.changed += _contradicts(mark.said, earlier.said)
                # What its page has now is what was said, not what the critic says.
                by_critic = by_critic if isnan(earlier.relevance) else earlier.relevance  # noqa: PLW2901
            answers.append(Answer(link, mark.said, mark.who, mark.time, by_critic))
        return answers


def _contradicts(said: Says, before: Says | None) -> bool:
    return {said, before} == {Says.YES, Says.NO}
