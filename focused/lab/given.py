"""What a user gives, by which the critic of a comparison is taught: ``--given``.

=============  =====================================================================================
title          keywords: the topic's title in the topics file, split at its commas
words          keywords: the topic's words in the topics file
pages:K        K example pages of wanted classes, drawn at random
others:M       M example pages of other classes, drawn at random; only beside pages:K
all            the title, the words and all example pages
=============  =====================================================================================

The first four are joined by ``+``. Without ``--given`` all example pages teach, and there are no keywords.

Draws are numbered, and the same on every machine. The pages of draw 3 of pages:5 are among those of draw 3 of pages:10,
so that two values of K differ only by the pages that were added.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from focused.papers.paths.topics import KnownTopic
from focused.topics.focus import in_focus

Examples = dict[str, str]
"""Address → class."""
_FORMS = "title, words, pages:K, others:M (joined by +), or all"


@dataclass(frozen=True, kw_only=True)
class GivenToCritic:
    """A value of ``--given``, read. With ``all_pages`` nothing is drawn, else ``pages`` and ``others`` are."""

    text: str = ""
    title: bool = False
    words: bool = False
    pages: int = 0
    others: int = 0
    all_pages: bool = False

    @property
    def has_examples(self) -> bool:
        """Do example pages teach?"""
        return self.all_pages or self.pages > 0

    def keywords(self, topic: KnownTopic, file: str) -> list[str]:
        """The keywords for a topic of this file, each once. ValueError if the topic lacks its title or its words."""
        title = [word for part in topic.title.split(",") if (word := part.strip())]
        for name, wanted, found in (("title", self.title, title), ("words", self.words, topic.words)):
            if wanted and not found:
                raise ValueError(
                    f"--given {self.text}: topic {topic.name!r} has no {name!r} in {file}: add it there, or give "
                    "something else (pages:K)"
                )
        unique: dict[str, str] = {}
        for word in [*title * self.title, *topic.words * self.words]:
            unique.setdefault(word.casefold(), word)
        return list(unique.values())

    def draw(self, examples: Mapping[str, str], topic: KnownTopic, number: int) -> Examples:
        """The examples that teach in draw ``number``: all, where there are fewer. ValueError if there are none."""
        if self.all_pages:
            return dict(examples)
        wanted = [url for url, name in examples.items() if in_focus(name, topic.focus)]
        others = [url for url in examples if url not in set(wanted)]
        drawn = self._some("pages", wanted, topic.name, number) | self._some("others", others, topic.name, number)
        return {url: name for url, name in examples.items() if url in drawn}

    def _some(self, kind: str, urls: Sequence[str], topic: str, number: int) -> set[str]:
        most: int = getattr(self, kind)
        if most and not urls:
            what = "of wanted classes" if kind == "pages" else "of other classes"
            raise ValueError(
                f"--given {self.text}: topic {topic!r} has no recorded example pages {what}: leave {kind} out, or name "
                f"another table with --examples"
            )
        shuffled = sorted(urls)
        random.Random(f"{kind} {number}").shuffle(shuffled)
        return set(shuffled[:most])


def parse_given(text: str) -> GivenToCritic:
    """The value of ``--given``; nothing is all example pages, without keywords. ValueError says what it can be."""
    if not text:
        return GivenToCritic(all_pages=True)
    if text == "all":
        return GivenToCritic(text=text, title=True, words=True, all_pages=True)
    parts: dict[str, int] = {}
    for part in text.split("+"):
        name, value = _part(part, text)
        if name in parts:
            raise ValueError(f"--given {text}: {name!r} is given twice; name it once")
        parts[name] = value
    if "others" in parts and "pages" not in parts:
        raise ValueError(f"--given {text}: others:M is given beside pages:K, such as pages:5+others:20")
    return GivenToCritic(
        text=text,
        title="title" in parts,
        words="words" in parts,
        pages=parts.get("pages", 0),
        others=parts.get("others", 0),
    )


def _part(part: str, text: str) -> tuple[str, int]:
    name, colon, value = part.partition(":")
    if name in {"title", "words"} and not colon:
        return name, 0
    if name in {"pages", "others"} and value.isdecimal() and int(value):
        return name, int(value)
    hint = f": how many? Write {name}:5" if name in {"pages", "others"} else f": the parts are {_FORMS}"
    raise ValueError(f"--given {text}: {part!r} is not understood{hint}")
