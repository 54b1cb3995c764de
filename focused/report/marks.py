"""What users have told a crawl, as its inbox has it: also what the crawl has not taken in yet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from focused.addresses import to_url
from focused.frontier.inbox import AnyLetter, Inbox, Mark, Order
from focused.frontier.steering import OrderRefused, Steering
from focused.frontier.store import Says
from focused.pages.urls import LONGEST
from focused.topics.examples import read_examples
from focused.topics.focus import in_focus
from focused.topics.topic import Topic, TopicError

if TYPE_CHECKING:
    from focused.report.reader import CrawlReader

WORDS = ("yes", "no", "unknown", "forget")
"""What can be said of a page."""
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class MarkLine:
    """A mark that counts. ``is_taken``: the crawl has taken it in."""

    mark: Mark
    is_taken: bool


def make_mark(word: str, url: str, class_name: str = "") -> Mark:
    """A mark by one of the `WORDS`; ValueError if it is none, or the address is none."""
    if word not in WORDS:
        raise ValueError(f"{word!r} is none of yes, no, unknown and forget")
    address = to_url(url)
    if len(address) > LONGEST:
        raise ValueError(f"the address has more than {LONGEST:,} characters")
    said = Says.NOTHING if word == "forget" else Says(word)
    return Mark(url=address, said=said, class_name=class_name if said in {Says.YES, Says.NO} else "")


class MarkBook:
    """The last mark of each page, for one who reads again and again: only what is new is read."""

    def __init__(self) -> None:
        self.marks: dict[str, Mark] = {}
        self._place = 0

    def read(self, inbox: Inbox) -> None:
        """Take in what has come since."""
        end = inbox.end()
        if end < self._place:
            self.marks, self._place = {}, 0
        while self._place < end:
            found = inbox.read_from(self._place, _AT_ONCE)
            self.marks |= {mark.url: mark for mark in found.letters if isinstance(mark, Mark)}
            if found.end == self._place:
                return
            self._place = found.end


def read_marks(reader: CrawlReader) -> dict[str, MarkLine]:
    """The marks that count, by address, in the order in which the pages were marked first."""
    unread = {mark.id for mark in unread_marks(reader)}
    marks = (one for one in _letters(reader.inbox, 0) if isinstance(one, Mark))
    return {mark.url: MarkLine(mark, mark.id not in unread) for mark in marks}


def unread_letters(reader: CrawlReader) -> list[AnyLetter]:
    """Those that the crawl has not taken in yet."""
    return list(_letters(reader.inbox, reader.inbox_place()))


def unread_marks(reader: CrawlReader) -> list[Mark]:
    """The marks that the crawl has not taken in yet."""
    return [one for one in unread_letters(reader) if isinstance(one, Mark)]


def unread_orders(reader: CrawlReader) -> list[Order]:
    """The orders that the crawl has not taken in yet."""
    return [one for one in unread_letters(reader) if isinstance(one, Order)]


def steering_told(reader: CrawlReader) -> Steering:
    """The orders that count once the crawl has taken in all of them, as far as that can be known."""
    steering = reader.steering()
    for order in unread_orders(reader):
        with suppress(OrderRefused):
            steering = steering.after(order.verb, order.value)
    return steering


def told_to(reader: CrawlReader) -> dict[str, Any]:
    """What a status says of what users have told a crawl: which orders count, and how many letters are unread."""
    letters, steering = unread_letters(reader), reader.steering()
    marks = sum(isinstance(one, Mark) for one in letters)
    return {
        "unread": marks,
        "paused": steering.is_paused,
        "orders": list(steering.in_words()),
        "not_done": list(steering.not_done),
        "unread_orders": len(letters) - marks,
    }


def _letters(inbox: Inbox, place: int) -> Iterator[AnyLetter]:
    while True:
        found = inbox.read_from(place, _AT_ONCE)
        yield from found.letters
        if found.end == place:
            return
        place = found.end


def classes_of(reader: CrawlReader) -> list[str]:
    """The classes that the pages of a crawl can be of, by its topic: none if it has no examples."""
    about = reader.about()["topic"]
    topic = Topic(name=about["name"], examples=about.get("examples", ""), focus=about.get("focus", []))
    if not topic.examples:
        return []
    try:
        names = {example.class_name for example in read_examples(topic)}
    except TopicError:
        # The file is elsewhere, or is being changed.
        names = {name for name in reader.page_table().best_class if name}
    return sorted(names | {wanted for wanted in topic.focus if not any(in_focus(name, [wanted]) for name in names)})
