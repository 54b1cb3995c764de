"""Saved arrays, as in models and in files of what was learned: bytes as a whole file, or as arrays in a file.

The first byte chooses: a raw file, or a sound archive around the rest, so that its checksums do not stop the fuzzer.
Held: only Damaged comes out; no objects, and no more memory than a file of that size may need; what is read can be
saved and read again; a prioritizer that takes it gives scores from 0 to 1, or it is refused in a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray

from focused.arrays import Arrays, Damaged, load_arrays, save_arrays
from focused.critics.keywords import KeywordsCritic
from focused.frontier.store import JobRefused
from focused.learned import restore
from focused.pages.page import page_from_html
from focused.prioritizers.base import Lessons
from focused.prioritizers.focused import Focused

BETWEEN = b"\xfd\xfe\xff"
RAW, STORED, PACKED, LEARNED = range(4)
CRITIC = KeywordsCritic(keywords=["moon"])
PAGE = page_from_html(
    "<ul><li><a href=/moon>moon</a><li><a href=/x?y>x</a></ul><p>the <a href=z>red</a> planet", "http://h.example/"
)
BITS = 8


def _prioritizer() -> Focused:
    return Focused(critic=CRITIC, bits=BITS)


EVIDENCE = _prioritizer().evidence(PAGE, CRITIC.judge(PAGE), PAGE.links)


def _taught() -> Arrays:
    taught = _prioritizer().learn(Lessons.of_page(EVIDENCE, 0.5, np.zeros(len(EVIDENCE), np.float32)))
    assert taught
    return taught.state()


TAUGHT = _taught()


def _npy(array: NDArray[Any]) -> bytes:
    file = BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def seeds() -> Iterator[bytes]:
    some = {"weights": np.arange(5, dtype=np.float32), "name": np.array("ada"), "none": np.zeros((0, 3))}
    yield bytes([RAW]) + save_arrays(some)
    yield bytes([RAW]) + save_arrays({})
    for how in (STORED, PACKED):
        yield bytes([how]) + BETWEEN.join(map(_npy, some.values()))
        yield bytes([how]) + _npy(np.arange(6).reshape(2, 3)).replace(b"(2, 3)", b"(2e9,)")
        yield bytes([how]) + _npy(np.arange(6)).replace(b"<i8", b"|O8")
    for number, array in enumerate(TAUGHT.values()):
        yield bytes([LEARNED, number]) + _npy(array)
        yield bytes([LEARNED, number]) + _npy(array.ravel()[:-1])
        if array.dtype.kind == "f":
            yield bytes([LEARNED, number]) + _npy(np.full_like(array, np.nan))


def check(data: bytes) -> None:
    how, rest = (data[:1] or b"\0")[0] % 4, data[1:]
    if how == LEARNED:
        names = list(TAUGHT)
        chosen = names[(rest[:1] or b"\0")[0] % len(names)]
        check_learned(_archive({**{name: _npy(array) for name, array in TAUGHT.items()}, chosen: rest[1:]}, ZIP_STORED))
    elif how == RAW:
        check_arrays(rest)
    else:
        entries = {f"a{i}": one for i, one in enumerate(rest.split(BETWEEN))}
        check_arrays(_archive(entries, ZIP_STORED if how == STORED else ZIP_DEFLATED))


def _archive(entries: dict[str, bytes], how: int) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w", how) as packed:
        for name, data in entries.items():
            packed.writestr(f"{name}.npy", data)
    return file.getvalue()


def check_arrays(data: bytes) -> None:
    try:
        arrays = load_arrays(data)
    except Damaged as error:
        assert str(error)
        return
    assert not any(array.dtype.hasobject for array in arrays.values())
    assert sum(array.nbytes for array in arrays.values()) <= 100 * len(data) + 10_000_000
    saved = save_arrays(arrays)
    again = load_arrays(saved)
    assert list(again) == list(arrays)
    assert all(
        again[name].tobytes() == array.tobytes() and again[name].dtype == array.dtype for name, array in arrays.items()
    )


def check_learned(data: bytes) -> None:
    prioritizer = _prioritizer()
    try:
        restore(prioritizer, load_arrays(data), "learned", "begin without it")
    except (Damaged, JobRefused) as error:
        assert str(error)
        return
    scores = prioritizer.finite_scores(EVIDENCE)
    assert len(scores) == len(EVIDENCE)
    assert ((scores >= 0) & (scores <= 1)).all(), scores
