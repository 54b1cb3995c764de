"""The topics of a comparison, checked before the web is read, which may take minutes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from focused.lab.plan import Plan
from focused.papers.paths.topics import KnownTopic, read_examples, read_topics
from focused.topics.examples import check_focus
from focused.topics.topic import Topic, load_topic


def chosen_topics(plan: Plan) -> list[Topic]:
    """The topics of a plan without a topics file, as users write them."""
    topics = [load_topic(name, seeds_needed=True) for name in plan.topics]
    _check_names([topic.name for topic in topics])
    return topics


def chosen_labs(plan: Plan) -> list[tuple[KnownTopic, dict[str, str]]]:
    """The topics of a plan with a topics file, each with the examples (address and class) that teach it."""
    known = read_topics(plan.topics_file)
    chosen = list(known) if plan.topics == ["all"] else plan.topics
    strangers = [name for name in chosen if name not in known]
    if strangers:
        raise ValueError(f"{plan.topics_file}: no topic {strangers[0]!r}; there are {', '.join(known)}")
    _check_names(chosen)
    return [(known[name], _examples(plan, known[name])) for name in chosen]


def _check_names(names: Sequence[str]) -> None:
    """Two topics of one name would write into the same folder."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"topic {twice[0]!r} is given twice; name it once")


def _examples(plan: Plan, lab: KnownTopic) -> dict[str, str]:
    without = _held_out(plan.hold_out, lab.name)
    examples = read_examples(plan.examples, without=without) if plan.examples else {}
    if examples:
        check_focus(lab.focus, examples.values(), where=plan.examples)
    elif lab.focus and plan.prioritizers:
        there = f" (there is none in {plan.examples}{' that is not held out' if without else ''})"
        raise ValueError(
            f"{plan.topics_file}: topic {lab.name!r} names classes ({', '.join(lab.focus)}): "
            f"give example pages of them with --examples FILE{there if plan.examples else ''}"
        )
    return examples


def _held_out(hold_out: str, topic: str) -> tuple[str, str] | None:
    """``column=value``; ``column`` alone takes the value after the @ in the topic's name."""
    if not hold_out:
        return None
    column, given, value = hold_out.partition("=")
    if not given:
        value = topic.rpartition("@")[2] if "@" in topic else ""
    if not value:
        raise ValueError(
            f"--hold-out {hold_out}: give a value, {column}=…: the name of topic {topic!r} has none after an @"
        )
    return column, value
