"""What users have said of the pages of a crawl, as its inbox has it: also what the crawl has not taken in yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from focused.addresses import to_url
from focused.frontier.inbox import Inbox, Mark
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
    return {mark.url: MarkLine(mark, mark.id not in unread) for mark in _marks(reader.inbox, 0)}


def unread_marks(reader: CrawlReader) -> list[Mark]:
    """Those that the crawl has not taken in yet."""
    return list(_marks(reader.inbox, reader.inbox_place()))


def _marks(inbox: Inbox, place: int) -> Iterator[Mark]:
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
