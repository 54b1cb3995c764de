"""Where a link is on its page: the names of the elements around it, from the root down.

``html/body/div.content/ul#news/li``. Links of one list, menu or table share their path, and on the pages of a site
that were made by one template, so do the links of the same list on each of them. Classes and ids are the names that
authors gave to such places; numbers in them count things (``post-1234``), so that digits are all alike.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from focused.pages.tokens import word_to_id

_DIGITS = re.compile(r"\d+")
_MOST_CLASSES = 2
_LONGEST_NAME = 40
_LONGEST_LOOKED_AT = 400
DEEPEST = 40
"""Deeper down than this, elements differ by accident of nesting; and hostile pages nest thousands deep."""


class Crumbs:
    """The paths of elements, asked for in document order: what two elements share is put together once."""

    def __init__(self) -> None:
        self._elements: list[Any] = []
        self._paths: list[str] = []
        self._names: list[str] = []
        self._ids: list[tuple[int, int]] = []
        self._known: dict[tuple[tuple[int, int], str], tuple[str, tuple[int, int]]] = {}

    def of(self, ancestors: list[Any]) -> tuple[int, int]:
        """Ids of the path down to the last of these elements, and of its last two names."""
        ancestors = ancestors[:DEEPEST]
        shared = self._shared(ancestors)
        for column in (self._elements, self._paths, self._names, self._ids):
            del column[shared:]
        path, ids = (self._paths[-1], self._ids[-1]) if self._paths else ("", (0, 0))
        for element in ancestors[shared:]:
            identity, classes = element.get("id", ""), element.get("class", "")
            # Cut before they are remembered: they are as long as their author pleases. Tags are not, to the parser.
            name = _name(element.tag, identity[:_LONGEST_LOOKED_AT], classes[:_LONGEST_LOOKED_AT])
            self._elements.append(element)
            self._names.append(name)
            # The items of a list are different elements on the same path.
            known = self._known.get((ids, name))
            if known is None:
                below = f"{path}/{name}" if path else name
                known = below, (word_to_id(below), word_to_id("/".join(self._names[-2:])))
                self._known[ids, name] = known
            path, ids = known
            self._paths.append(path)
            self._ids.append(ids)
        return ids

    def _shared(self, ancestors: list[Any]) -> int:
        """How many of the elements, from the root down, are those of the last time."""
        depth = min(len(ancestors), len(self._elements))
        while depth and self._elements[depth - 1] is not ancestors[depth - 1]:
            depth -= 1
        return depth


@lru_cache(maxsize=4_096)
def _name(tag: str, identity: str, classes: str) -> str:
    """``div.content``, ``ul#news``; or the bare tag."""
    given = [f"#{one}" for one in identity.split(None, 1)[:1]]
    given += [f".{one}" for one in classes.split(None, _MOST_CLASSES)[:_MOST_CLASSES]]
    called = "".join(one[:_LONGEST_NAME] for one in given)
    return f"{tag}{_DIGITS.sub('0', called)}"
