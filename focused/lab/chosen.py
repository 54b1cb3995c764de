"""The topics of a comparison, checked before the web is read, which may take minutes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from focused.lab.given import parse_given
from focused.lab.plan import Plan
from focused.papers.paths.topics import KnownTopic, read_examples, read_labels, read_topics, with_label
from focused.topics.examples import check_focus
from focused.topics.topic import Topic, load_topic

Labels = dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class ChosenTopic:
    """A topic as the crawler takes it, and what is known of it.

    Its critic is taught by ``examples`` (address → class), or by some of them; none of them counts. ``labelled`` are
    the pages with a label in its focus.
    """

    topic: Topic
    known: KnownTopic
    examples: dict[str, str]
    labelled: list[str]


def choose_topics(plan: Plan) -> list[ChosenTopic]:
    """The topics of a plan: of its topics file or, without one, as users write them."""
    labels = read_labels(plan.labels) if plan.labels else {}
    chosen = list(_from_file(plan, labels) if plan.topics_file else _from_users(plan, labels))
    # Two topics of one name would write into the same folder.
    twice = [name for name, count in Counter(one.topic.name for one in chosen).items() if count > 1]
    if twice:
        raise ValueError(f"topic {twice[0]!r} is given twice; name it once")
    return chosen


def _from_users(plan: Plan, labels: Labels) -> Iterator[ChosenTopic]:
    """Topics that begin at their seeds; a plan's table replaces their examples.

    Targets are the pages with a label in the focus. Without a focus (a topic of words has none) that is the name.
    """
    for name in plan.topics:
        topic = load_topic(name, seeds_needed=True)
        focus = topic.focus or [topic.name]
        targets = with_label(labels, focus)
        known = KnownTopic(name=topic.name, focus=focus, target_urls=targets, seeds_on=topic.seeds)
        examples = read_examples(plan.examples or topic.examples) if topic.examples else {}
        yield ChosenTopic(topic=topic, known=known, examples=examples, labelled=targets)


def _from_file(plan: Plan, labels: Labels) -> Iterator[ChosenTopic]:
    known, given = read_topics(plan.topics_file), parse_given(plan.given)
    for name in known if plan.topics == ["all"] else plan.topics:
        if name not in known:
            raise ValueError(f"{plan.topics_file}: no topic {name!r}; there are {', '.join(known)}")
        keywords = given.keywords(known[name], plan.topics_file)
        # Who gives no pages names no classes.
        topic = Topic(name=name, focus=known[name].focus if given.has_examples else [], keywords=keywords)
        examples, labelled = _examples(plan, known[name]), with_label(labels, known[name].focus)
        yield ChosenTopic(topic=topic, known=known[name], examples=examples, labelled=labelled)


def _examples(plan: Plan, known: KnownTopic) -> dict[str, str]:
    without = _held_out(plan.hold_out, known.name)
    examples = read_examples(plan.examples, without=without) if plan.examples else {}
    if examples:
        check_focus(known.focus, examples.values(), where=plan.examples)
    elif known.focus and plan.prioritizers and parse_given(plan.given).has_examples:
        there = f" (there is none in {plan.examples}{' that is not held out' if without else ''})"
        raise ValueError(
            f"{plan.topics_file}: topic {known.name!r} names classes ({', '.join(known.focus)}): "
            f"give example pages of them with --examples FILE{there if plan.examples else ''}"
        )
    return examples


def _held_out(hold_out: str, topic: str) -> tuple[str, str] | None:
    """``column=value``; ``column`` alone takes the value after the @ in the topic's name."""
    if not hold_out:
        return None
    column, _, value = hold_out.partition("=")
    value = value or topic.partition("@")[2]
    if not value:
        raise ValueError(
            f"--hold-out {hold_out}: give a value, {column}=…: the name of topic {topic!r} has none after an @"
        )
    return column, value
