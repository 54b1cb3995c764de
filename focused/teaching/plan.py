"""A plan for teaching: a topic, its examples and its critic, checked before anything is fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import msgspec
from scrapy.settings import Settings

from focused.critics.choose import Choice, choose_critic, topic_reference
from focused.critics.models import load_card
from focused.defaults import read
from focused.topics.examples import Example, check_focus, read_examples
from focused.topics.identity import slug
from focused.topics.topic import Topic


class CannotTeach(ValueError):
    """A critic cannot be taught; the message says why, and the way out."""


class NothingToTeach(CannotTeach):
    """The critic of a topic needs no examples, and has none."""


@dataclass(frozen=True, kw_only=True)
class ExampleSource:
    """Where examples come from, if not as the topic says.

    ``examples`` is another table, ``focus`` other classes; ``hold_out`` leaves out the rows of a value in a column;
    ``web`` is a recorded web (a WARC file) from which pages are taken, instead of the network.
    """

    examples: str = ""
    focus: Sequence[str] = ()
    hold_out: Mapping[str, str] = field(default_factory=dict)
    web: str = ""

    def described(self) -> dict[str, object]:
        """For the card: what differs from the topic."""
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True)
class TeachingPlan:
    """What to teach, checked before anything is fetched."""

    topic: Topic
    choice: Choice
    focus: list[str]
    examples: list[Example]
    source: ExampleSource

    @property
    def urls(self) -> list[str]:
        """The examples to fetch."""
        return [example.url for example in self.examples if example.url]


def needs_teaching(topic: Topic, settings: Settings) -> bool:
    """Does the topic need a trained critic that is missing? (One that is there but refused is reported on loading.)"""
    models = Path(read(settings, "FOCUSED_MODELS"))
    card = load_card(models, slug(topic), topic=topic_reference(topic))
    return card is None and choose_critic(topic, read(settings, "FOCUSED_CRITIC")).is_taught


def plan_teaching(topic: Topic, settings: Settings, source: ExampleSource = ExampleSource()) -> TeachingPlan:
    """Check all that can be checked beforehand. TopicError or CannotTeach say what is wrong."""
    changes = {"examples": _absolute(source.examples) if source.examples else topic.examples}
    meant = msgspec.structs.replace(topic, **changes, focus=list(source.focus) or topic.focus)
    choice = choose_critic(meant, read(settings, "FOCUSED_CRITIC"))
    if not choice.is_taught:
        raise NothingToTeach(
            f"topic {topic.name!r} is judged by the critic {choice.name!r}, which needs no teaching: try it "
            "(--sample 30), crawl with it, or give examples (the topic's key 'examples', or --examples FILE.tsv)"
        )
    choice.make()
    examples = _held_in(read_examples(meant), source.hold_out)
    check_focus(meant.focus, {example.class_name for example in examples}, where="the examples that are left")
    return TeachingPlan(topic, choice, meant.focus, examples, source)


def _held_in(examples: list[Example], hold_out: Mapping[str, str]) -> list[Example]:
    for column, value in hold_out.items():
        if not any(column in example.extra for example in examples):
            there = ", ".join(map(repr, sorted({name for example in examples for name in example.extra}))) or "none"
            raise CannotTeach(f"--hold-out {column}={value}: the examples have no such column (its columns: {there})")
        left = [example for example in examples if example.extra.get(column) != value]
        if len(left) == len(examples):
            raise CannotTeach(f"--hold-out {column}={value}: no example has this value")
        examples = left
    if not examples:
        raise CannotTeach("all examples are held out: there is nothing left to learn from")
    return examples


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().resolve())
