"""Prioritizers that must be taught by paths before they can lead a crawl, and where what they know is kept.

What one knows is its ``model``: a dataclass of arrays and numbers, some of which may be such dataclasses themselves.

Beside the topic's critic in the models folder: ``NAME.npz`` (arrays, so that reading it runs no code) and
``NAME.card.json``, which says what it is.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any, ClassVar, Generic, TypeVar, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from focused.arrays import Arrays, load_arrays, save_arrays
from focused.files import write_with_card
from focused.learned import SHOWN
from focused.papers.paths.stops import Stops
from focused.prioritizers.base import Prioritizer

TeachingProgress = Callable[[int, int], None]
"""Told how many steps of the training are done, of how many; may raise to end it."""
FiguresByName = dict[str, float]
FORMAT = 1
MADE_FOR = "made for"
M = TypeVar("M")


class NotTaught(ValueError):
    """Paths that cannot teach, or a prioritizer that has not been taught; the message says the way out."""


@dataclass(frozen=True)
class SaidOfTopic:
    """What the user has said of the topic: words, and what its pages are about."""

    keywords: Sequence[str] = ()
    description: str = ""


class KeptPrioritizer(Prioritizer):
    """A prioritizer whose knowledge is kept in the models folder."""

    taught_by: ClassVar[str]
    """What `scrapy teach` asks for to teach it."""

    def load(self, folder: Path, topic: str) -> None:
        """Take what it was taught. NotTaught if there is nothing and it needs something, or if that cannot be used."""
        path, card_file = _files(folder, self)
        way_out = f"scrapy teach {quote(topic)} --prioritizer {self.name} {self.taught_by}"
        if not (path.is_file() and card_file.is_file()):
            if self.taught:
                raise NotTaught(f"prioritizer {self.name!r} has not been taught for topic {topic!r}: {way_out}")
            return
        try:
            card = msgspec.json.decode(card_file.read_bytes(), type=TaughtCard)
            self.restore(load_arrays(_checked(path.read_bytes(), card)))
        except (OSError, ValueError, KeyError) as error:
            raise NotTaught(f"{path} is not used ({error}): {way_out}") from error


class TaughtPrioritizer(KeptPrioritizer, Generic[M]):
    """A prioritizer that learns from paths, before the crawl; `teach` changes it, nothing else does."""

    model_type: type[M]
    """What its model is, a dataclass."""
    bound_to: ClassVar[tuple[str, ...]]
    """The options that what was learned is bound to, each an attribute."""
    said: SaidOfTopic = SaidOfTopic()
    """What `teach` may use beside the paths; a crawl knows of it only what the model holds."""
    _model: M | None = None

    taught: ClassVar[bool] = True
    taught_by = "--paths FILE, where FILE is what `scrapy paths` has written (docs/paths.md)"
    kind_of_paths: ClassVar[str] = "walks"
    """What suits it where paths are drawn for it: "walks" or "visits", as in `scrapy paths --kind`."""

    @property
    def model(self) -> M:
        """What was learned. NotTaught before `teach`."""
        if self._model is None:
            raise NotTaught(f"prioritizer {self.name!r} has not been taught: scrapy teach --prioritizer {self.name}")
        return self._model

    def adopt(self, model: M) -> None:
        """Take what was learned, just now or before."""
        self._model = model

    @abstractmethod
    def teach(self, paths: Sequence[Stops], progress: TeachingProgress = lambda *_: None) -> FiguresByName:
        """Learn from paths, and give figures for the card. NotTaught if they cannot teach."""

    def _made_for(self) -> dict[str, Any]:
        return {"format": FORMAT, "name": self.name, **{name: getattr(self, name) for name in self.bound_to}}

    def state(self) -> Arrays:
        """What was learned, and the options it is bound to."""
        made_for = np.array(json.dumps(self._made_for()))
        return {MADE_FOR: made_for, **({} if self._model is None else _model_to_arrays(self._model))}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave, if it was made with the same options."""
        if MADE_FOR not in state:
            raise ValueError(f"this is not what a prioritizer {self.name!r} has learned")
        saved = json.loads(str(state[MADE_FOR]))
        for name, value in self._made_for().items():
            if saved.get(name) != value:
                raise ValueError(f"it was taught with {name}={saved.get(name)!r}, not {value!r}")
        if len(state) > 1:
            try:
                self.adopt(_arrays_to_model(self.model_type, state))
            except KeyError as error:
                raise ValueError(f"{error} is missing: another version has written it") from error


class Ticker:
    """Counts the steps of a training."""

    def __init__(self, progress: TeachingProgress, total: int) -> None:
        self._progress, self.total, self._done = progress, total, 0

    def __call__(self) -> None:
        self.reach(self._done + 1)

    def reach(self, step: int) -> None:
        """So many steps are done, or were left out: a fit may converge early."""
        self._done = min(step, self.total)
        self._progress(self._done, self.total)


def _model_to_arrays(model: Any) -> Arrays:
    """The arrays of a model by name; the name of one in an inner dataclass begins with the name of that."""
    arrays: Arrays = {}
    for name in (field.name for field in fields(model)):
        value = getattr(model, name)
        if is_dataclass(value):
            arrays |= {f"{name} {inner}": array for inner, array in _model_to_arrays(value).items()}
        else:
            arrays[name] = np.asarray(value)
    return arrays


def _arrays_to_model(kind: type[M], arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> M:
    """What `_model_to_arrays` was given."""
    types, found = get_type_hints(kind), dict[str, Any]()
    for field in fields(kind):  # type: ignore[arg-type]  # a dataclass
        name, of = prefix + field.name, types[field.name]
        if isinstance(of, type) and is_dataclass(of):
            found[field.name] = _arrays_to_model(of, arrays, f"{name} ")
        else:
            found[field.name] = arrays[name] if arrays[name].ndim else arrays[name].item()
    return kind(**found)


class TaughtCard(msgspec.Struct, kw_only=True):
    """What a taught prioritizer is: how it was made, of what, and how well it did on what it had not seen."""

    topic: str
    prioritizer: str
    options: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    figures: FiguresByName = {}
    trained: str = ""
    sha256: str = ""


def save_taught(folder: Path, prioritizer: Prioritizer, card: TaughtCard, *, shown: str = "") -> None:
    """Write what a prioritizer learned (with what has ``shown`` it, if a crawl is to log that), and its card."""
    file, card_file = _files(folder, prioritizer)
    more = {SHOWN: np.array(shown)} if shown else {}
    write_with_card(file, save_arrays(prioritizer.state() | more), card_file, card)


def _checked(data: bytes, card: TaughtCard) -> bytes:
    if sha256(data).hexdigest() != card.sha256:
        raise ValueError("it is not the file that its card was written for")
    return data


def _files(folder: Path, prioritizer: Prioritizer) -> tuple[Path, Path]:
    return folder / f"{prioritizer.name}.npz", folder / f"{prioritizer.name}.card.json"
