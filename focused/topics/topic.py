"""A topic: what is sought, as the user wrote it down.

It comes from a TOML file (shipped with the package, or the user's own) or from plain words and a few addresses to
begin at. All its mistakes are reported at once, each with its file and key, before anything is fetched.
"""

from __future__ import annotations

import logging
import os.path
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from focused.problems import Problems, ProblemsError, did_you_mean, near
from focused.schema import URLS
from focused.topics import library
from focused.topics.keys import convert_keys
from focused.topics.settings import check_untrusted
from focused.topics.text import Unreadable, read_toml

logger = logging.getLogger(__name__)

_CHOICES = "a shipped topic's name, the path of a topic file, or plain words with seeds"


class TopicError(ProblemsError):
    """A topic that cannot be used; the message lists every mistake, ``problems`` has them one by one."""


class Topic(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A topic file, typed. Tables are kept as they were given.

    ``examples`` is an absolute path, or ``shipped:NAME`` for a file of the package; ``path`` is the topic file, None
    for a shipped topic and for plain words, and ``given`` what the user called it. In ``[critic]`` and
    ``[prioritizer]`` the key ``name`` chooses, the other keys are options of what is chosen. A topic file of a stranger
    is not ``is_trusted`` (`FOCUSED_TOPICS_TRUSTED`).
    """

    name: str
    description: str = ""
    keywords: list[str] = []
    seeds: list[str] = []
    examples: str = ""
    focus: list[str] = []
    allowed_hosts: list[str] = []
    critic: dict[str, Any] = {}
    prioritizer: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    path: Path | None = None
    given: str = ""
    is_trusted: bool = True

    @property
    def trusted_in(self) -> Path | None:
        """The only folder whose files may be read because the topic names them; None: files anywhere."""
        return None if self.is_trusted or self.path is None else self.path.parent

    @property
    def file(self) -> str:
        """What messages call the topic file; '' if there is none of the user's own."""
        return self.given or str(self.path or "")


def load_topic(
    spec: str,
    *,
    seeds: Sequence[str] = (),
    folder: str | Path = "",
    seeds_needed: bool = False,
    seedless: bool = False,
    trusted: bool = True,
) -> Topic:
    """The topic that a user asked for: a shipped topic's name, a topic file's path, or plain words with seeds.

    ``seeds`` take the place of those in the file. With ``seedless``, words need none: somebody else's spider has its
    own. Relative paths start at ``folder``. A file that is not ``trusted`` may set little, and read what is beside it.
    TopicError lists all mistakes.
    """
    given = _PlainWords(seedless or bool(seeds), bool(seeds), seeds_needed)
    source = _source(spec.strip(), Path(folder).expanduser(), given, trusted=trusted)
    problems = Problems()
    if not trusted and source.path is not None:
        check_untrusted(source.table, source.label, problems)
    values = convert_keys(source.table, source.label, problems)
    if seeds:
        values["seeds"] = URLS.convert(seeds, "seeds (argument)", problems)
    values["examples"] = _examples(values.get("examples") or "", source, problems, trusted=trusted)
    if seeds_needed and not seeds and not source.table.get("seeds"):
        problems.add(
            f"{source.label}: seeds", "missing: a crawl needs addresses to begin at, here or -a seeds=https://…"
        )
    problems.raise_as(TopicError)
    return Topic(**values, path=source.path, given=source.label if source.path else "", is_trusted=trusted)


@dataclass(frozen=True, slots=True)
class _Given:
    """A topic as it was read, and where from: ``label`` is for messages."""

    label: str
    table: dict[str, Any]
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class _PlainWords:
    """May plain words be meant? Are there seeds with them; is there a crawl that needs some?"""

    allowed: bool
    with_seeds: bool
    need_seeds: bool


def _source(spec: str, folder: Path, words: _PlainWords, *, trusted: bool) -> _Given:
    if not spec:
        raise TopicError([f"topic is empty: give {_CHOICES}"])
    try:
        if spec in library.shipped_topics():
            reference = f"{library.SHIPPED}{spec}.toml"
            return _Given(reference, read_toml(reference, reference))
        path = folder / os.path.expanduser(spec)  # Path's own raises where there is no such user
        if _is_path(spec, path, words.with_seeds):
            return _Given(spec, read_toml(str(path), spec, None if trusted else path.parent), path.resolve())
    except Unreadable as error:
        raise TopicError([str(error)]) from error
    if not words.allowed:
        way_out = f"; to crawl for plain words, add seeds: -a topic={spec!r} -a seeds=https://…"
        raise TopicError([_unknown(spec) + way_out * words.need_seeds])
    meant = did_you_mean(spec, library.shipped_topics())
    if meant:
        logger.warning("%r is not a shipped topic, and is taken as plain words%s", spec, meant)
    keywords = [phrase.strip() for phrase in spec.split(",") if phrase.strip()]
    return _Given(f"topic {spec!r}", {"name": spec, "keywords": keywords})


def _is_path(spec: str, path: Path, seeds: bool) -> bool:
    """Does the user mean a file? Words with a slash ("AC/DC") are words if seeds come with them."""
    if spec.endswith(".toml") or spec.startswith(("./", "../", "/", "~/")) or ("/" in spec and not seeds):
        return True
    return os.path.isfile(path)  # Path.is_file would raise for words too long to be a file's name


def _unknown(spec: str) -> str:
    shipped = library.shipped_topics()
    matches = near(spec, shipped, most=3)
    hint = f"; did you mean {' or '.join(map(repr, matches))}?" if matches else ""
    return f"there is no shipped topic {spec!r}{hint} (available: {', '.join(shipped)})"


def _examples(name: str, source: _Given, problems: Problems, *, trusted: bool) -> str:
    """Where the examples are, if they can be read."""
    if not name.strip():
        return ""
    reference = f"{library.SHIPPED}{name}"
    if source.path is not None:
        reference = str(source.path.parent / os.path.expanduser(name))
    try:
        library.read_bytes(reference, None if trusted or source.path is None else source.path.parent)
    except FileNotFoundError:
        problems.add(f"{source.label}: examples", f"there is no file {name!r} beside the topic file")
    except OSError as error:
        problems.add(f"{source.label}: examples", f"{name!r} cannot be read: {error.strerror}")
    return reference
