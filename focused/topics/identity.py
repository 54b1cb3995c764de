"""What distinguishes topics: a name for their folders, and a digest of what defines them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from focused.topics.examples import Example, read_examples
from focused.topics.topic import Topic

_LONGEST = 60


def slug(topic: Topic) -> str:
    """A name for folders and jobs, of ``a-z``, ``0-9`` and ``-``.

    A name that says more than these letters can gets a digest after it, so that "C", "C++" and "天文学" stay apart.
    """
    plain = unicodedata.normalize("NFKC", topic.name).strip().lower()
    folded = unicodedata.normalize("NFKD", plain)
    letters = "".join(letter for letter in folded if not unicodedata.combining(letter))
    safe = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")
    if len(safe) <= _LONGEST and re.fullmatch(r"[a-z0-9 _.,-]+", plain):
        return safe
    return f"{safe[:_LONGEST].strip('-')}-{_digest([plain], size=4)}".strip("-")


def fingerprint(topic: Topic) -> str:
    """A short digest of what a topic means: its name, keywords, focus and examples, in any order.

    A trained model and a job's folder carry it, and are refused when it is another's.
    """
    examples = read_examples(topic) if topic.examples else []
    parts = [
        [topic.name.strip()],
        sorted({keyword.strip().lower() for keyword in topic.keywords}),
        sorted(set(topic.focus)),
        sorted(map(_example_to_text, examples)),
    ]
    return _digest(_digest(part) for part in parts)


def _example_to_text(example: Example) -> str:
    """An example wherever it lies: of a file its content counts, not its path."""
    kind, value = example.source
    if kind == "file":
        value = blake2b(Path(value).read_bytes()).hexdigest()
    return f"{example.class_name}\t{kind}\t{value}"


def _digest(texts: Iterable[str], size: int = 8) -> str:
    hasher = blake2b(digest_size=size)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        hasher.update(len(data).to_bytes(8, "big") + data)
    return hasher.hexdigest()
