"""The models folder: trained critics, each in a folder of its topic, ``critic.joblib`` beside a readable ``card.json``.

Loading a joblib file runs code that the file names. So nothing is loaded from outside the folder (links that lead
out are refused), and nothing whose bytes are not those that the card was written for. That guards against mix-ups
and half-written files; it does not make a stranger's folder safe, since whoever can change the model can change its
card. Only point `FOCUSED_MODELS` at folders whose writers you trust.
"""

from __future__ import annotations

import io
import platform
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from focused.critics.base import Critic
from focused.critics.report import Report
from focused.files import write_with_card

FORMAT = 3
"""Grows whenever critics saved before can no longer be used."""
MODEL, CARD = "critic.joblib", "card.json"


class ModelRefused(ValueError):
    """A model that is not there, or must not be used; the message says why, and the way out."""


def versions() -> dict[str, str]:
    """The versions that a model depends on."""
    return {"python": platform.python_version(), "numpy": version("numpy"), "scikit-learn": version("scikit-learn")}


class Card(msgspec.Struct, kw_only=True):
    """What a trained critic is. ``topic`` names it, ``fingerprint`` says what exactly was meant by it.

    ``critic`` is the name by which it was chosen, ``options`` are those of its constructor. ``unreachable`` counts
    the examples that could not be fetched, by reason; ``source`` says where examples and their pages came from.
    ``doubts`` are sentences about what does not fit together in what was given.
    """

    topic: str
    fingerprint: str
    critic: str
    options: dict[str, Any] = {}
    focus: list[str] = []
    examples: dict[str, int] = {}
    unreachable: dict[str, int] = {}
    source: dict[str, Any] = {}
    trained: str = ""
    report: Report = msgspec.field(default_factory=Report)
    doubts: list[str] = []
    format: int = FORMAT
    versions: dict[str, str] = msgspec.field(default_factory=versions)
    sha256: str = ""


def save_critic(models: Path, folder: str, critic: Critic, card: Card) -> Card:
    """Write a critic and its card into ``models/folder``; each whole or not at all, the card last. Gives the card."""
    import joblib  # noqa: PLC0415  # slow, and most of who asks for a model reads its card only

    place = _inside(models, models / folder)
    buffer = io.BytesIO()
    joblib.dump(critic, buffer, compress=3)
    model, card_file = _inside(models, place / MODEL), _inside(models, place / CARD)
    return write_with_card(model, buffer.getvalue(), card_file, card)


def load_card(models: Path, folder: str, *, topic: str) -> Card | None:
    """The card of a topic's critic; None if it has none. ModelRefused if it cannot be read."""
    path = _inside(models, models / folder / CARD)
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Card)
    except (OSError, msgspec.DecodeError) as error:
        raise _refused(path, f"cannot be read ({error})", topic) from error


def load_critic(models: Path, folder: str, *, topic: str, fingerprint: str) -> tuple[Critic, Card]:
    """The trained critic of a topic, after all checks. ``topic`` is how the user names it, for the messages."""
    import joblib  # noqa: PLC0415  # as above

    card = load_card(models, folder, topic=topic)
    path = _inside(models, models / folder / MODEL)
    if card is None or not path.is_file():
        raise ModelRefused(f"no trained critic for topic {topic!r} in {models / folder}; teach it: {_way_out(topic)}")
    _check(card, path, topic, fingerprint)
    data = path.read_bytes()
    if sha256(data).hexdigest() != card.sha256:
        raise _refused(path, f"is not the file that its {CARD} was written for", topic)
    # The very bytes that were checked: the file could be another by now.
    critic = joblib.load(io.BytesIO(data))
    if not isinstance(critic, Critic):
        raise _refused(path, f"holds {type(critic).__name__!r}, not a critic", topic)
    critic.trained = card.sha256[:12]
    return critic, card


def _check(card: Card, path: Path, topic: str, fingerprint: str) -> None:
    if card.fingerprint != fingerprint:
        raise _refused(path, f"was taught for another topic, or before this one was changed ({card.topic!r})", topic)
    if card.format != FORMAT:
        raise _refused(path, f"has format {card.format!r}, this is {FORMAT}", topic)
    wrote, here = card.versions.get("scikit-learn"), version("scikit-learn")
    if wrote != here:
        raise _refused(path, f"was made by scikit-learn {wrote}, this is {here}", topic)


def _refused(path: Path, why: str, topic: str) -> ModelRefused:
    return ModelRefused(f"{path} {why}: it is not used; teach it anew: {_way_out(topic)}")


def _way_out(topic: str) -> str:
    return f"scrapy teach {topic!r}" if " " in topic else f"scrapy teach {topic}"


def _inside(models: Path, path: Path) -> Path:
    """The path, if it lies in the models folder wherever links lead."""
    root, real = models.resolve(), path.resolve()
    if real == root or not real.is_relative_to(root):
        raise ModelRefused(f"{path} leads out of the models folder {root}: it is not used; remove the link")
    return path
