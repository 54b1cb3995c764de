"""What every frontier store promises.

Each test runs on each kind of store, on one that stays open and on one that is reopened at every step.
"""

from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from focused.frontier.store import SEED_RANK, NewLink, Outcome, PageRecord, State
from focused.frontier.store_sqlite import SqliteStore
from focused.pages.evidence import Evidence
from focused.testing.store_checks import CHECKS, StoreDriver, check_store
from tests.frontier.frontiers import Frontier, Plain, add, addresses, lease, lessons_since, opener, pool, rescore


@pytest.fixture(params=["sqlite", "redis", "redis_cluster"])
def place(tmp_path, request):
    return tmp_path if request.param == "sqlite" else request.getfixturevalue(request.param)


@pytest.fixture(params=[False, True], ids=["open", "reopened"])
def make(place, request):
    made = []

    def make_frontier(**options):
        made.append(Frontier(place, request.param, **options))
        add(made[-1].store, NewLink("http://seed/", "seed", base=SEED_RANK))
        return made[-1]

    yield make_frontier
    for frontier in made:
        frontier.store.close()


@pytest.mark.parametrize("reopens", [False, True], ids=["open", "reopened"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_store_keeps(place, check, reopens):
    driver = StoreDriver(opener(place), reopens=reopens, teach=pool)
    check(driver)
    driver.store.close()


def test_all_of_it_can_be_checked_at_once(tmp_path):
    check_store(lambda: opener(Path(mkdtemp(dir=tmp_path))))


def test_a_store_that_forgets_is_found_out(tmp_path):
    def open_forgetful(prioritizer):
        return SqliteStore(Path(mkdtemp(dir=tmp_path)), prioritizer)

    with pytest.raises(AssertionError):
        check_store(lambda: open_forgetful)


def test_a_page_s_requests_that_have_no_evidence_are_admitted_with_its_links(make):
    frontier = make()
    leased = lease(frontier.store)
    evidence = Evidence.of(np.zeros(3, np.int64), np.zeros(0, np.uint32), np.array([0.2, 0.3], np.float32))
    links = [NewLink("http://h/a", "h"), NewLink("http://h/a", "h"), NewLink("http://h/own", "h", base=0.7, depth=3)]
    admitted = frontier.store.admit(leased, links, evidence, np.array([0.2, 0.3], np.float32))
    assert admitted.fresh.tolist() == [True, False, True]
    frontier.store.record(leased, PageRecord(0, leased.url, 0.5, 7))
    frontier.store.acknowledge(leased, Outcome.PAGE)
    store = frontier.again()
    own, a = lease(store), lease(store)
    assert [(each.url, each.depth, each.parent, each.host.name) for each in (own, a)] == [
        ("http://h/own", 3, "http://seed/", "h"),
        ("http://h/a", 0, "http://seed/", "h"),
    ]
    assert len(store.lessons_of(a)) == 2


def test_links_of_a_page_are_admitted_once_with_evidence_or_without(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.2)])
    store = frontier.again()
    assert not add(store, NewLink("http://h/a", "h"))
    assert add(store, NewLink("http://h/b", "h"))


def test_evidence_that_comes_while_a_rescoring_runs_is_kept(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/next", 0.99), ("http://h/a", 0.2), ("http://h/b", 0.5)])
    rescoring = frontier.store.rescoring()
    rescoring.score()
    frontier.page("http://h/next", 0.5, [("http://h/a", 0.98)])
    rescoring.adopt()
    assert lease(frontier.store).url == "http://h/a", "the mean of 0.2 and 0.98 is more than 0.5"


def test_a_redirect_there_and_back_is_followed(make):
    frontier = make()
    store = frontier.store
    leased = lease(store)
    assert store.redirect(leased, "http://seed/login", "seed")
    assert store.redirect(leased, "http://seed/", "seed")
    store.record(leased, PageRecord(0, "http://seed/", 1.0, 5))
    assert store.acknowledge(leased, Outcome.PAGE) is Outcome.PAGE
    assert addresses(frontier.again()) == []


def test_a_postponed_link_waits_with_its_score(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    frontier.store.postpone(lease(frontier.store))
    assert addresses(frontier.again()) == ["http://h/a", "http://h/b"]


@pytest.mark.parametrize(("combine", "best"), [("mean", "http://h/b"), ("max", "http://h/a"), ("first", "http://h/b")])
def test_more_evidence_for_a_waiting_link_is_combined(make, combine, best):
    frontier = make(combine=combine)
    frontier.page("http://seed/", 0.5, [("http://h/next", 1 - 1e-3), ("http://h/a", 0.1), ("http://h/b", 0.6)])
    frontier.again()
    frontier.page("http://h/next", 0.5, [("http://h/a", 0.9)])
    assert lease(frontier.again()).url == best


def test_a_link_that_waits_and_is_a_seed_by_now_goes_before_others(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    assert not add(frontier.store, NewLink("http://h/b", "h", base=SEED_RANK))
    assert not add(frontier.store, NewLink("http://h/b", "h"))
    assert not add(frontier.store, NewLink("http://seed/", "seed", base=SEED_RANK)), "it was fetched"
    store = frontier.again()
    assert store.standing().waiting == 2
    rescore(store)
    assert addresses(store) == ["http://h/b", "http://h/a"]


def test_lessons_can_be_learned_again_from_the_records(make):
    frontier = make()
    frontier.page("http://seed/", 0.25, [("http://h/a", 0.9), ("http://h/b", 0.4)])
    _, first = frontier.page("http://h/a", 0.6)
    _, second = frontier.page("http://h/b", 0.1)
    again = lessons_since(frontier.again(), 1)
    for lesson, replayed in zip((first, second), again, strict=True):
        assert replayed.evidence.to_bytes() == lesson.evidence.to_bytes()
        assert replayed.relevance == pytest.approx(lesson.relevance)
        assert replayed.source_relevance == pytest.approx(lesson.source_relevance)


def test_links_to_pages_fetched_before_may_give_lessons_at_once_so_many_a_page(make):
    frontier = make(most_late=1)
    frontier.page("http://seed/", 0.25, [("http://h/a", 0.9), ("http://h/b", 0.8), ("http://h/c", 0.7)])
    frontier.page("http://h/a", 0.6)
    leased = lease(frontier.store)
    frontier.store.record(leased, PageRecord(0, "http://h/b", 0.4, 9))
    links = [("http://h/a", 0.1), ("http://h/new", 0.2), ("http://h/c", 0.3)]
    late = frontier.found(leased, links).lessons
    assert late.relevance == pytest.approx([0.6])
    assert late.source_relevance == pytest.approx([0.4])
    assert late.evidence.dense[:, 0] == pytest.approx([0.1])
    assert frontier.store.known(["http://h/a", "http://h/c"]).wanted.tolist() == [False, True]
    pool(frontier.store, leased, late)
    pool(frontier.store, leased, frontier.store.lessons_of(leased))
    frontier.store.acknowledge(leased, Outcome.PAGE)
    (again,) = lessons_since(frontier.again(), 2)
    assert again.relevance == pytest.approx([0.6, 0.4]), "the late lesson, and the page's own"
    assert again.first.tolist() == [False, True]


def found_late(frontier):
    """The seed, then a, then b, on which there is another link to a, and one to the seed."""
    frontier.page("http://seed/", 0.25, [("http://h/a", 0.9), ("http://h/b", 0.8)])
    frontier.page("http://h/a", 0.6)
    frontier.page("http://h/b", 0.4, [("http://h/a", 0.1), ("http://seed/", 0.3), ("http://h/c", 0.2)])


def test_what_came_late_is_learned_again_as_a_late_lesson_and_not_as_the_page_s_own(make):
    frontier = make(most_late=1)
    found_late(frontier)
    seed, a, b = lessons_since(frontier.again(), 0)
    assert seed is None, "there was no link to it when it was judged"
    assert a.evidence.dense[:, 0] == pytest.approx([0.9])
    assert a.weight == pytest.approx([1])
    assert b.evidence.dense[:, 0] == pytest.approx([0.1, 0.3, 0.8])
    assert b.relevance == pytest.approx([0.6, 0.25, 0.4])
    assert b.weight == pytest.approx([0.5, 0.5, 1])


def test_a_page_that_gave_its_late_lessons_gives_no_more_after_a_restart(make):
    frontier = make(most_late=2)
    found_late(frontier)
    frontier.page("http://h/c", 0.4, [("http://h/a", 0.1), ("http://h/b", 0.1), ("http://h/d", 0.2)])
    known = frontier.again().known(["http://h/a", "http://h/b", "http://h/c", "http://seed/"])
    assert known.wanted.tolist() == [False, True, True, True]


def test_a_link_that_led_to_a_page_fetched_before_is_learned_again(make):
    frontier = make(most_late=1)
    frontier.page("http://seed/", 0.25, [("http://h/a", 0.9), ("http://h/b", 0.8)])
    frontier.page("http://h/a", 0.6)
    frontier.page("http://h/b", 0.4, [("http://h/old", 0.7)])
    leased = lease(frontier.store)
    assert not frontier.store.redirect(leased, "http://h/a", "h")
    pool(frontier.store, leased, frontier.store.lessons_of(leased))
    frontier.store.acknowledge(leased, Outcome.OTHER)
    taught = [lessons for lessons in lessons_since(frontier.again(), 0) if lessons is not None]
    pairs = [pair for one in taught for pair in zip(one.evidence.dense[:, 0], one.relevance, strict=True)]
    assert [float(relevance) for score, relevance in pairs if score == pytest.approx(0.7)] == pytest.approx([0.6])


def test_scores_that_are_no_numbers_come_last_and_break_nothing(make):
    class Odd(Plain):
        def score(self, evidence):
            scores = super().score(evidence)
            scores[scores == np.float32(0.5)] = np.nan
            return scores

    frontier = make(prioritizer=Odd())
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.5), ("http://h/b", 0.3), ("http://h/c", 0.75)])
    rescore(frontier.store)
    assert addresses(frontier.store) == ["http://h/c", "http://h/b", "http://h/a"]


def test_a_retry_comes_back_under_its_lease_before_everything_else(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    leased = lease(frontier.store)
    frontier.store.return_lease(leased)
    assert lease(frontier.store) is leased
    assert lease(frontier.store).url == "http://h/b"


def test_a_returned_lease_comes_first_also_after_all_links_were_scored_again(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.3), ("http://h/b", 0.9)])
    store = frontier.store
    better, worse = lease(store), lease(store)
    store.postpone(better)
    store.return_lease(worse)
    rescore(store)
    assert lease(store) is worse
    assert lease(store).url == better.url == "http://h/b"


@pytest.mark.parametrize("most", [3, 8])
@pytest.mark.parametrize("combine", ["first", "mean", "max"])
def test_so_many_pieces_are_kept_and_no_more_the_first_among_them(place, combine, most):
    frontier = Frontier(place, combine=combine, most_pieces=most)
    values = [0.5, *np.linspace(0.01, 0.49, 60), 0.9]
    for i, value in enumerate(values):
        add(frontier.store, NewLink(f"http://seed/{i}", "seed", base=SEED_RANK))
        frontier.page(f"http://seed/{i}", 0.5, [("http://h/a", value)])
        assert frontier.store.standing().evidence <= most
    kept = frontier.store.lessons_of(lease(frontier.store)).evidence.dense[:, 0]
    assert len(kept) == most
    assert kept[0] == pytest.approx(0.5)
    assert len(set(kept.tolist()) - {0.5}) == most - 1, "the rest is a sample of all that came"
    frontier.store.close()


def test_states_are_stored_as_documented():
    assert [state.name for state in State] == ["UNKNOWN", "WAITING", "LEASED", "DONE"]
