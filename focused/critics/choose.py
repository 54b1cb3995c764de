"""Which critic judges for a topic, and where it comes from."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focused.critics.base import Critic
from focused.critics.models import Card, ModelRefused, load_card, load_critic
from focused.options import make
from focused.registry import find

if TYPE_CHECKING:
    from focused.topics.topic import Topic

DEFAULT_CRITIC = "combined"


@dataclass(frozen=True)
class Choice:
    """A critic's name, its class, the options for its constructor, and the topic file that they are from.

    ``is_taught``: it is trained from examples, and loaded from the models folder.
    """

    name: str
    kind: type[Critic]
    options: dict[str, Any]
    is_taught: bool
    file: str = ""

    def make(self) -> Critic:
        """The critic, not taught yet. ValueError names an option that is wrong."""
        return make(self.kind, self.options, table="critic", file=self.file)


def choose_critic(topic: Topic, override: str = "", card: Card | None = None) -> Choice:
    """By name (``override``, then the topic's own, then that of a trained critic); without any the default."""
    options = dict(topic.critic)
    own = options.pop("name", "")
    fitting = card.critic if card and not topic.examples else DEFAULT_CRITIC
    name = override or own or fitting
    # Options in a topic file are meant for the critic that the file names.
    options = options if name == (own or fitting) else {}
    kind: type[Critic] = find("critic", name)
    if "keywords" in inspect.signature(kind).parameters:
        # The name of a topic with examples may be nothing but a name.
        options.setdefault("keywords", list(topic.keywords) or ([] if topic.examples or card else [topic.name]))
    is_taught = kind.learns and (kind.needs_examples or bool(topic.examples) or card is not None)
    return Choice(name, kind, options, is_taught, topic.file)


def critic_for(topic: Topic, models: Path, override: str = "", *, vectors: str = "") -> Critic:
    """The critic of a topic, ready to judge: a trained one from the models folder, or one that needs no training.

    ``vectors`` names a table of word vectors (`focused.critics.vectors`) for a critic that has use for one.
    ModelRefused if the trained one is missing, or is not what is asked for.
    """
    critic = _critic_for(topic, models, override)
    if vectors:
        critic.use_vectors(vectors)
    return critic


def _critic_for(topic: Topic, models: Path, override: str) -> Critic:
    # Here and not above: topics know Scrapy's settings, and critics can be used without Scrapy.
    from focused.topics.identity import fingerprint, slug  # noqa: PLC0415

    folder, reference = slug(topic), topic_reference(topic)
    choice = choose_critic(topic, override, load_card(models, folder, topic=reference))
    # Made before the models folder is read: a bad option is not mended by teaching anew.
    untaught = choice.make()
    if not choice.is_taught:
        return untaught
    critic, card = load_critic(models, folder, topic=reference, fingerprint=fingerprint(topic))
    if (card.critic, card.options) != (choice.name, choice.options):
        raise ModelRefused(
            f"{models / folder} holds the critic {card.critic!r} with options {card.options}, not {choice.name!r} with "
            f"{choice.options}: teach it anew: scrapy teach {reference!r} --critic {choice.name}"
        )
    return critic


def topic_reference(topic: Topic) -> str:
    """What a user would call a topic on the command line."""
    return str(topic.path) if topic.path else topic.name
