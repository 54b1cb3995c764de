"""From a topic to its trained critic: gather the example pages, teach, write the models folder.

Used by ``scrapy teach``, and by ``scrapy crawl`` when a topic's critic is missing::

    if needs_teaching(topic, settings):
        await teach_topic(topic, settings, runner=process)
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from scrapy.crawler import CrawlerRunnerBase
from scrapy.settings import Settings

from focused.critics.choose import Choice, choose_critic, topic_reference
from focused.critics.classes import NoSuchClass
from focused.critics.models import Card, ModelRefused, load_card, save_critic
from focused.critics.teach import Taught, teach
from focused.defaults import read
from focused.gathering import Fetched, limits_of, page_of_file, pages_of_web
from focused.pages.page import Page, page_from_html
from focused.spiders.examples import Progress, fetch_pages
from focused.topics.examples import Example, check_focus, read_examples
from focused.topics.identity import fingerprint, slug
from focused.topics.settings import apply_settings
from focused.topics.topic import Topic

logger = logging.getLogger(__name__)

_SHOWN = 5


class CannotTeach(ValueError):
    """A critic cannot be taught from what there is; the message says why, and the way out."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where examples come from, if not as the topic says.

    ``examples`` is another table, ``focus`` other classes; ``hold_out`` leaves out the rows of a value in a column;
    ``web`` is a recorded web (a WARC file) that pages are taken from, instead of the network.
    """

    examples: str = ""
    focus: Sequence[str] = ()
    hold_out: Mapping[str, str] = field(default_factory=dict)
    web: str = ""

    def told(self) -> dict[str, object]:
        """For the card: what was not as the topic says."""
        told = {"examples": self.examples, "focus": list(self.focus), "hold_out": dict(self.hold_out), "web": self.web}
        return {key: value for key, value in told.items() if value}


AS_THE_TOPIC_SAYS = Source()


@dataclass(frozen=True)
class Plan:
    """What is to be taught, checked before anything is fetched."""

    topic: Topic
    choice: Choice
    focus: list[str]
    examples: list[Example]
    source: Source

    @property
    def urls(self) -> list[str]:
        """The examples that have to be fetched."""
        return [example.url for example in self.examples if example.url]


def needs_teaching(topic: Topic, settings: Settings) -> bool:
    """Is a trained critic wanted that is not there? (One that is there and refused is told by who loads it.)"""
    models = Path(read(settings, "FOCUSED_MODELS"))
    card = load_card(models, slug(topic), topic=topic_reference(topic))
    return card is None and choose_critic(topic, read(settings, "FOCUSED_CRITIC")).kind.learns


def plan_teaching(topic: Topic, settings: Settings, source: Source = AS_THE_TOPIC_SAYS) -> Plan:
    """Check all that can be checked beforehand. TopicError or CannotTeach say what is wrong."""
    changes = {"examples": _absolute(source.examples) if source.examples else topic.examples}
    meant = msgspec.structs.replace(topic, **changes, focus=list(source.focus) or topic.focus)
    choice = choose_critic(meant, read(settings, "FOCUSED_CRITIC"))
    if not choice.kind.learns:
        raise CannotTeach(
            f"topic {topic.name!r} is judged by the critic {choice.name!r}, which needs no teaching: crawl with it, or "
            "give examples (the topic's key 'examples', or --examples FILE.tsv)"
        )
    choice.make()
    examples = _held_in(read_examples(meant), source.hold_out)
    check_focus(meant.focus, {example.class_name for example in examples}, where="the examples that are left")
    return Plan(topic, choice, meant.focus, examples, source)


async def teach_topic(
    topic: Topic,
    settings: Settings,
    *,
    runner: CrawlerRunnerBase,
    source: Source = AS_THE_TOPIC_SAYS,
    progress: Progress = lambda *_: None,
) -> Card:
    """Gather the examples on a runner whose event loop runs, teach, and write the model; the card says how it went.

    CannotTeach, TopicError or Interrupted say why not.
    """
    return await carry_out(plan_teaching(topic, settings, source), settings, runner, progress)


async def carry_out(plan: Plan, settings: Settings, runner: CrawlerRunnerBase, progress: Progress) -> Card:
    """What `plan_teaching` has checked."""
    # What the topic sets, such as a delay, holds for its examples, too; the caller's settings stay as they are.
    own = settings.copy()
    apply_settings(plan.topic, own)
    models = Path(read(own, "FOCUSED_MODELS"))
    if plan.source.web:
        fetched = _from_web(plan, own)
    else:
        fetched = await fetch_pages(plan.urls, own, runner, progress)
    taught = _teach(plan, fetched, own)
    return _save(plan, fetched, taught, models)


def _from_web(plan: Plan, settings: Settings) -> Fetched:
    try:
        return pages_of_web(plan.urls, plan.source.web, limits_of(settings))
    except (OSError, ValueError) as error:
        raise CannotTeach(f"--web {plan.source.web!r}: {error}") from error


def _teach(plan: Plan, fetched: Fetched, settings: Settings) -> Taught:
    if plan.urls and not fetched.pages:
        raise CannotTeach(f"none of the {len(plan.urls)} example pages could be fetched: {_told(fetched)}")
    pages = [(one.class_name, page) for one in plan.examples if (page := _page(one, fetched, settings)) is not None]
    try:
        return teach(pages, plan.choice.kind, plan.choice.options, plan.focus)
    except NoSuchClass as error:
        hint = f" ({_told(fetched)})" if fetched.failures else ""
        raise CannotTeach(f"{error}{hint}") from error


def _page(example: Example, fetched: Fetched, settings: Settings) -> Page | None:
    if example.url:
        return fetched.pages.get(example.url)
    if example.file:
        return page_of_file(Path(example.file), limits_of(settings))
    return page_from_html(example.text, "", limits_of(settings))


def _save(plan: Plan, fetched: Fetched, taught: Taught, models: Path) -> Card:
    topic = plan.topic
    save_critic(
        models,
        slug(topic),
        taught.critic,
        Card(
            topic=topic.name,
            fingerprint=fingerprint(topic),
            critic=plan.choice.name,
            options=plan.choice.options,
            focus=plan.focus,
            examples=taught.examples,
            unreachable=fetched.reasons(),
            source=plan.source.told(),
            trained=datetime.now(UTC).isoformat(timespec="seconds"),
            report=taught.report,
        ),
    )
    card = load_card(models, slug(topic), topic=topic_reference(topic))
    if card is None:
        raise ModelRefused(f"{models / slug(topic)} vanished while it was written")
    return card


def _held_in(examples: list[Example], hold_out: Mapping[str, str]) -> list[Example]:
    for column, value in hold_out.items():
        if not any(column in example.extra for example in examples):
            there = ", ".join(map(repr, sorted({name for example in examples for name in example.extra}))) or "none"
            raise CannotTeach(f"--hold-out {column}={value}: the examples have no such column (there are {there})")
        left = [example for example in examples if example.extra.get(column) != value]
        if len(left) == len(examples):
            raise CannotTeach(f"--hold-out {column}={value}: no example has this value")
        examples = left
    if not examples:
        raise CannotTeach("all examples are held out: there is nothing left to learn from")
    return examples


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().resolve())


def _told(fetched: Fetched) -> str:
    reasons = ", ".join(f"{reason} ({count})" for reason, count in list(fetched.reasons().items())[:_SHOWN])
    url, reason = next(iter(fetched.failures.items()))
    return f"{reasons}; the first: {url} ({reason})"
