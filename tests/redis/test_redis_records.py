"""Evidence as bytes in Redis: what is read is what was written, as far as it is looked at."""

import struct
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focused.critics.keywords import KeywordsCritic
from focused.pages.evidence import Evidence
from focused.prioritizers.best_first import BestFirst
from focused.redis.records import Packing, body

HEAD = struct.Struct("<BBBBHBBIIffIHHI8s")


def record(pieces, *, state=1, host=5, base=0.0, url=b"http://h/", request=b""):
    head = HEAD.pack(state, 0, 0, len(pieces), 3, 0, 0, host, 2, base, 0.5, 1, len(url), 0, len(request), b"12345678")
    return head + body(url, request) + b"".join(pieces)


rows = st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=12), min_size=1, max_size=6)


@given(rows=rows, width=st.integers(0, 3), bits=st.sampled_from([8, 16, 17, 18, 20, 24, 25, 32]), data=st.data())
def test_many_records_are_read_as_they_were_written(rows, width, bits, data):
    lengths = np.array([len(row) for row in rows])
    ids = np.array([number for row in rows for number in row], np.uint32)
    dense = np.arange(len(rows) * width, dtype=np.float32).reshape(len(rows), width) / 7
    leaf = np.arange(len(rows), dtype=np.int32) * 1_000
    evidence = Evidence.of(np.concatenate([[0], np.cumsum(lengths)]), ids, dense, leaf)
    packing = Packing(bits)
    pieces = packing.pieces(evidence, source=77)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    ends = [0, *cuts, len(rows)]
    parts = [pieces[a:b] for a, b in pairwise(ends)]
    raw = [record(part, url=b"http://h/" + b"x" * n, request=b"y" * n, base=n / 2) for n, part in enumerate(parts)]
    read = packing.read(raw, np.arange(len(raw)) + 100)
    assert read.base.tolist() == [n / 2 for n in range(len(raw))]
    assert read.rows.tolist() == [n for n, part in enumerate(parts) for _ in part]
    found = read.evidence
    assert found.starts.tolist() == evidence.starts.tolist()
    assert (found.ids >> np.uint32(32 - bits)).tolist() == (ids >> np.uint32(32 - bits)).tolist()
    assert found.dense.tolist() == (dense.tolist() if width else [[]] * len(rows))
    assert found.leaf.tolist() == leaf.tolist()
    assert set(found.source.tolist()) == {77}
    assert set(found.host.tolist()) == {5}
    assert found.link.tolist() == [n + 100 for n, part in enumerate(parts) for _ in part]


@pytest.mark.parametrize(("bits", "most"), [(16, 2.0), (18, 2.25), (24, 3.0), (32, 4.0)])
def test_an_id_takes_no_more_room_than_the_bits_that_are_looked_at(bits, most):
    n = 400
    evidence = Evidence.of(np.array([0, n]), np.arange(n, dtype=np.uint32), np.zeros(1, np.float32))
    (piece,) = Packing(bits).pieces(evidence, 1)
    assert len(piece) <= most * n + 20
    assert len(piece) % 4 == 0


class Renewing(BestFirst):
    """Asks a critic of some version."""

    def __init__(self, version):
        super().__init__(critic=KeywordsCritic(keywords=["bird"]))
        self.critic.version = version


def test_evidence_that_an_older_critic_saw_is_seen_by_the_newest():
    evidence = Evidence.of(np.zeros(3, np.int64), np.zeros(0, np.uint32), np.array([0.1, 0.2], np.float32))
    packing = Packing(18)
    old, new = packing.pieces(evidence, 7, 1)[0], packing.pieces(evidence, 8, 2)[1]
    read = packing.read([record([old, new])], np.array([1]))
    asked = []

    def relevance_of(pages):
        asked.extend(pages.tolist())
        return np.full(len(pages), 0.9, np.float32)

    assert read.see_again(Renewing(2), relevance_of).tolist() == [0]
    assert read.evidence.dense[:, 0] == pytest.approx([0.9, 0.2])
    assert asked == [7]
    assert not len(read.see_again(Renewing(1), relevance_of)), "by a critic that is older still"


def test_records_without_evidence_are_read():
    packing = Packing(18)
    read = packing.read([record([]), record([], state=2)], np.array([1, 2]))
    assert read.state.tolist() == [1, 2]
    assert len(read.evidence) == 0


@pytest.mark.parametrize("bits", [-1, 0, 33, 2**40])
def test_ids_have_no_more_bits_than_there_are(bits):
    with pytest.raises(ValueError, match=f"{bits} bits of an id: there are 1 to 32"):
        Packing(bits)
