"""Takes in what users tell a crawl, from the inbox into the job.

Marks become answers, where the critic finds them when it learns; of orders it is kept what follows from them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isnan

from focused.frontier.inbox import LETTERS, AnyLetter, Inbox, Mark, Order
from focused.frontier.steering import STEERING, OrderRefused, Steering, in_one_line
from focused.frontier.store import NAMED_RANK, Answer, AnswerStore, FrontierStore, NewLink, Says, State
from focused.pages.urls import url_to_host

_MOST = 1_000
"""So many letters are read at once: the crawl waits."""


@dataclass(slots=True)
class TakenIn:
    """What was taken in: marks, how many of them changed what was said before, pages to be fetched first, bad lines.

    ``not_done`` are the reasons for which orders could not be carried out.
    """

    letters: list[AnyLetter]
    changed: int = 0
    not_done: list[str] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    skipped: int = 0

    @property
    def marks(self) -> list[Mark]:
        """The marks among the letters."""
        return [one for one in self.letters if isinstance(one, Mark)]

    @property
    def orders(self) -> list[Order]:
        """The orders among the letters."""
        return [one for one in self.letters if isinstance(one, Order)]

    def counts(self) -> dict[str, int]:
        """How many marks say what."""
        said = [mark.said for mark in self.marks]
        names = {Says.YES: "yes", Says.NO: "no", Says.UNKNOWN: "unknown", Says.NOTHING: "forgotten"}
        return {names[one]: said.count(one) for one in names if one in said}

    def in_words(self) -> str:
        """Such as "3 marks taken in: 2 yes, 1 no"."""
        count, orders = len(self.marks), self.orders
        parts = [f"{number:,} {what}" for what, number in self.counts().items()]
        parts += [f"{self.changed:,} changed"] if self.changed else []
        parts += [f"{len(self.first):,} to be fetched first"] if self.first else []
        parts += [f"{self.skipped:,} unreadable lines skipped"] if self.skipped else []
        words = f"{count:,} mark{'s' * (count != 1)} taken in: {', '.join(parts)}"
        if not orders:
            return words
        told = in_one_line([f"{order.verb} {order.value}".strip() for order in orders])
        of_orders = f"{len(orders):,} order{'s' * (len(orders) != 1)} taken in: {told}"
        return "; ".join(filter(None, (of_orders, *self.not_done, words if count else ", ".join(parts))))


class Marks:
    """Reads the inbox of a crawl, some letters at a time. ``fetch`` has the pages at some addresses fetched, soon.

    ``cannot`` says why an order cannot be carried out where the crawl is; '' if it can be. ``steering`` are the orders
    that count; those that another worker took in are among them once this one has looked.
    """

    def __init__(
        self,
        store: FrontierStore,
        inbox: Inbox | None,
        fetch: Callable[[Sequence[str]], None],
        cannot: Callable[[Order], str] = lambda _: "",
    ) -> None:
        self._store, self._fetch, self._cannot = store, fetch, cannot
        self._inbox = inbox if isinstance(store, AnswerStore) else None
        self._place = -1
        self.steering = Steering()
        self.has_more = False
        """Were there more letters than were read at once?"""

    def _is_new(self) -> bool:
        """Is there anything that was not read yet?"""
        if self._inbox is None:
            return False
        end = self._inbox.end()
        if end != self._place:
            # In this order: what follows from orders is written with the place up to which they were read.
            self._place = int(self._store.noted(LETTERS) or 0)
            self.steering = Steering.of(self._store.noted(STEERING))
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
        steering = self._after(taken)
        marks: dict[str, Mark] = {}
        for mark in taken.marks:
            # The last one about a page counts.
            taken.changed += _contradicts(mark.said, marks[mark.url].said if mark.url in marks else None)
            marks[mark.url] = mark
        kept = self._answers(marks, taken)
        note = steering.to_text() if steering != self.steering else None
        if not store.keep_answers(kept, read=(place, letters.end), steering=note):
            return None
        self._place, self.steering = letters.end, steering
        if taken.first:
            self._fetch(taken.first)
        return taken

    def _after(self, taken: TakenIn) -> Steering:
        """What counts after the orders among the letters."""
        steering = self.steering
        for order in taken.orders:
            why = self._cannot(order)
            try:
                after = steering.after(order.verb, order.value)
            except OrderRefused as error:
                why = why or str(error)
            if why:
                after = steering.without(order.verb, order.value)
                taken.not_done.append(f"{in_one_line([f'{order.verb} {order.value}'])} is not done: {why}")
            steering = after
        return steering

    def _answers(self, marks: dict[str, Mark], taken: TakenIn) -> list[Answer]:
        """The answers that marks are; a link that has no page yet goes before all others, and so does a seed."""
        store = self._store
        assert isinstance(store, AnswerStore)
        seeds = {order.value for order in taken.orders if order.verb == "seed" and not self._cannot(order)}
        urls = [*marks, *sorted(seeds - marks.keys())]
        if not urls:
            return []
        known = store.known(urls)
        numbers, relevance = known.links.tolist(), known.relevance.tolist()
        wanted = [url in seeds or marks[url].said in {Says.YES, Says.NO} for url in urls]
        states = [State(state) for state in known.states.tolist()]
        taken.first = [
            url for url, state, is_wanted in zip(urls, states, wanted, strict=True)
            if is_wanted and state in {State.UNKNOWN, State.WAITING}
        ]  # fmt: skip
        if taken.first:
            new = [NewLink(url, url_to_host(url), base=NAMED_RANK) for url in taken.first]
            numbered = dict(zip(taken.first, store.admit(None, new).links.tolist(), strict=True))
            numbers = [numbered.get(url, number) for url, number in zip(urls, numbers, strict=True)]
        before = store.answers() if marks else {}
        answers = []
        # Seeds come behind the marks.
        for mark, link, by_critic in zip(marks.values(), numbers, relevance, strict=False):
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
