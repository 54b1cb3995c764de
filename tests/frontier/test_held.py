"""Evidence in memory, against a plain dictionary of rows."""

from random import Random

import numpy as np
import pytest

from focused.frontier.held import Held
from focused.pages.evidence import Evidence

LINKS = 60


def block(random, number, least=0):
    """Evidence of some links; each row can be told by its one feature."""
    links = [random.randrange(1, LINKS) for _ in range(random.randrange(least, 9))]
    rows = len(links)
    ids = np.array([number * 100 + row for row in range(rows)], np.uint32)
    evidence = Evidence.of(np.arange(rows + 1), ids, np.zeros((rows, 1), np.float32))
    evidence.link = np.array(links, np.uint32)
    return evidence


def told(evidence):
    return list(zip(evidence.link.tolist(), evidence.ids.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_found_until_their_links_are_done_or_they_are_let_go_of(seed):
    random, held, model = Random(seed), Held(), {}
    done = np.zeros(LINKS, np.bool_)
    given = {}
    for number in range(1, 150):
        evidence = given[number] = block(random, number)
        held.add(number, evidence)
        model |= {(number, row): link for row, link in enumerate(evidence.link.tolist())}
        alive = [piece for piece, link in model.items() if not done[link]]
        if alive and random.random() < 0.5:
            chosen = sorted(random.sample(alive, min(len(alive), 4)))
            assert told(held.read(chosen)) == [(model[piece], piece[0] * 100 + piece[1]) for piece in chosen]
        if alive and random.random() < 0.3:
            piece = random.choice(alive)
            held.forget(*piece)
            del model[piece]
        if random.random() < 0.1:
            gone = random.randrange(1, number + 1)
            held.forget(gone)
            model = {piece: link for piece, link in model.items() if piece[0] != gone}
        if random.random() < 0.3:
            done[random.randrange(LINKS)] = True
            rows = [
                pair for batch in held.batches(done) for pair in told(batch.evidence) if pair[0] and not done[pair[0]]
            ]
            assert rows == [(model[p], p[0] * 100 + p[1]) for p in sorted(model) if not done[model[p]]]
    assert all((evidence.link > 0).all() for evidence in given.values()), "what was given is left as it was"


def test_what_is_gone_is_not_read():
    held, done = Held(), np.zeros(LINKS, np.bool_)
    for number in range(1, 9):
        evidence = block(Random(number), number, least=1)
        evidence.link[:] = number
        held.add(number, evidence)
    assert told(held.read([(2, 0), (8, 0)])) == [(2, 200), (8, 800)]
    done[1:5] = True
    held.batches(done)
    assert held.read([(2, 0)]) is None
    assert held.read([(2, 0), (8, 0)]) is None
    assert told(held.read([(7, 0), (8, 0)])) == [(7, 700), (8, 800)]


def test_few_batches_are_left_of_many_blocks_and_nothing_of_links_that_are_done():
    held, done = Held(), np.zeros(LINKS, np.bool_)
    for number in range(1, 500):
        held.add(number, block(Random(number), number))
        if not number % 3:
            batches = held.batches(done)
    assert len(batches) < 8
    before = sum(batch.nbytes for batch in batches)
    done[:30] = True
    after = sum(batch.nbytes for batch in held.batches(done))
    assert after < 0.7 * before
    done[:] = True
    assert held.batches(done) == []


def test_too_much_is_not_held_at_all(monkeypatch):
    monkeypatch.setattr("focused.frontier.held._MOST_BYTES", 2_000)
    held = Held()
    for number in range(1, 60):
        held.add(number, block(Random(number), number))
    assert not held.is_whole
    assert held.read([(1, 0)]) is None
