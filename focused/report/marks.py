"""What users have said of the pages of a crawl, as its inbox has it: also what the crawl has not taken in yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from focused.frontier.inbox import Inbox, Mark
from focused.topics.examples import read_examples
from focused.topics.focus import in_focus
from focused.topics.topic import Topic, TopicError

if TYPE_CHECKING:
    from focused.report.reader import CrawlReader

_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class MarkLine:
    """A mark that counts. ``is_taken``: the crawl has taken it in."""

    mark: Mark
    is_taken: bool


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
