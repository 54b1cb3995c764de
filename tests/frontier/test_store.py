"""What every frontier store promises.

Each test runs on each kind of store, on one that stays open and on one that is reopened at every step.
"""

import numpy as np
import pytest

from focused.frontier.store import SEED_RANK, NewLink, Outcome, PageRecord, State
from focused.pages.evidence import Evidence
from tests.frontier.frontiers import Frontier, Plain, add, addresses, lease, rescore


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


def test_links_are_handed_out_by_score_and_only_once(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.2), ("http://h/b", 0.8), ("http://h/c", 0.5)])
    store = frontier.again()
    assert addresses(store) == ["http://h/b", "http://h/c", "http://h/a"]


def test_a_known_address_is_not_admitted_again(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.2)])
    store = frontier.again()
    assert not add(store, NewLink("http://h/a", "h"))
    assert not add(store, NewLink("http://seed/", "seed"))
    assert add(store, NewLink("http://h/b", "h"))


def test_a_request_with_an_identity_of_its_own_is_not_admitted_under_a_second_number(make):
    frontier = make()
    first = frontier.store.admit(None, [NewLink("http://h/form", "h", key=4711, request=b"x")])
    store = frontier.again()
    again = store.admit(None, [NewLink("http://h/form", "h", key=4711, request=b"x")])
    assert (first.fresh.tolist(), again.fresh.tolist()) == ([True], [False])
    assert again.links.tolist() == first.links.tolist()
    assert store.known(["http://h/form"]).links.tolist() == [0], "the address alone is another link"


def test_what_nobody_admitted_is_not_numbered(make):
    store = make().store
    known = store.known(["http://h/new", "http://seed/"])
    assert known.links[0] == 0 < known.links[1]
    assert known.states.tolist() == [State.UNKNOWN, State.WAITING]
    assert known.wanted.tolist() == [True, True]
    assert np.isnan(known.relevance).all()
    assert (store.waiting, store.hosts) == (1, 1)


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
    assert [(each.url, each.depth, each.parent, each.host_name) for each in (own, a)] == [
        ("http://h/own", 3, "http://seed/", "h"),
        ("http://h/a", 0, "http://seed/", "h"),
    ]
    assert len(store.lessons_of(a)) == 2


def test_one_link_is_handed_out_whatever_waits_before_it(make):
    frontier = make()
    admitted = frontier.store.admit(None, [NewLink("http://h/a", "h", base=0.5), NewLink("http://h/b", "h", base=0.1)])
    store = frontier.again()
    leased = store.lease_link(int(admitted.links[1]))
    assert (leased.url, leased.tries, store.leased, store.waiting) == ("http://h/b", 1, 1, 2)
    assert store.lease_link(int(admitted.links[1])) is None, "it is out"
    store.record(leased, PageRecord(0, leased.url, 0.5, 7))
    store.acknowledge(leased, Outcome.PAGE)
    assert frontier.again().lease_link(int(admitted.links[1])) is None, "it is done"
    assert addresses(frontier.store) == ["http://seed/", "http://h/a"]


def test_a_page_whose_callback_failed_counts_for_nothing(make):
    frontier = make()
    frontier.page("http://seed/", 0.75, [("http://h/a", 0.9), ("http://h/b", 0.8)])
    before = frontier.store.standing()
    leased = lease(frontier.store)
    frontier.store.record(leased, PageRecord(0, leased.url, 0.9, 77))
    assert frontier.store.standing().pages == 2
    assert frontier.store.acknowledge(leased, Outcome.FAILED, "callback") is Outcome.FAILED
    store = frontier.again()
    after = store.standing()
    assert (after.pages, after.found, after.relevance) == (before.pages, before.found, pytest.approx(0.75))
    frontier.page("http://h/b", 0.7, digest=77)
    assert frontier.again().standing().found == 2, "its content is new"


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
    assert store.waiting == 2
    rescore(store)
    assert addresses(store) == ["http://h/b", "http://h/a"]


def test_rescoring_puts_everything_in_order_anew(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.3), ("http://h/b", 0.6)])
    frontier.store.prioritizer = Plain(2.5, combine="mean")
    rescore(frontier.store)
    # 0.3 · 2.5 = 0.75; 0.6 · 2.5 mod 1 = 0.5
    assert addresses(frontier.store) == ["http://h/a", "http://h/b"]


def test_evidence_that_comes_while_a_rescoring_runs_is_kept(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/next", 0.99), ("http://h/a", 0.2), ("http://h/b", 0.5)])
    rescoring = frontier.store.rescoring()
    rescoring.score()
    frontier.page("http://h/next", 0.5, [("http://h/a", 0.98)])
    rescoring.adopt()
    assert lease(frontier.store).url == "http://h/a", "the mean of 0.2 and 0.98 is more than 0.5"


def test_lessons_pair_a_page_with_all_evidence_for_it_and_weigh_one_together(make):
    frontier = make()
    frontier.page("http://seed/", 0.25, [("http://h/next", 0.99), ("http://h/a", 0.2)])
    frontier.page("http://h/next", 0.75, [("http://h/a", 0.4)])
    frontier.again()
    _, lessons = frontier.page("http://h/a", 0.9)
    assert lessons.evidence.dense[:, 0] == pytest.approx([0.2, 0.4])
    assert lessons.relevance == pytest.approx([0.9, 0.9])
    assert lessons.source_relevance == pytest.approx([0.25, 0.75])
    assert lessons.weight.sum() == pytest.approx(1)
    assert lessons.alive.all()
    assert lessons.first.tolist() == [True, False]


def test_lessons_can_be_learned_again_from_the_records(make):
    frontier = make()
    frontier.page("http://seed/", 0.25, [("http://h/a", 0.9), ("http://h/b", 0.4)])
    _, first = frontier.page("http://h/a", 0.6)
    _, second = frontier.page("http://h/b", 0.1)
    again = frontier.again().lessons_since(1)
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
    frontier.store.pool(leased, late)
    frontier.store.pool(leased, frontier.store.lessons_of(leased))
    frontier.store.acknowledge(leased, Outcome.PAGE)
    (again,) = frontier.again().lessons_since(2)
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
    seed, a, b = frontier.again().lessons_since(0)
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
    frontier.store.pool(leased, frontier.store.lessons_of(leased))
    frontier.store.acknowledge(leased, Outcome.OTHER)
    taught = [lessons for lessons in frontier.again().lessons_since(0) if lessons is not None]
    pairs = [pair for one in taught for pair in zip(one.evidence.dense[:, 0], one.relevance, strict=True)]
    assert [float(relevance) for score, relevance in pairs if score == pytest.approx(0.7)] == pytest.approx([0.6])


def test_a_dead_link_teaches_that_it_is_dead(make):
    frontier = make()
    frontier.page("http://seed/", 0.25, [("http://h/a", 0.9)])
    leased = lease(frontier.again())
    lessons = frontier.store.lessons_of(leased)
    assert not lessons.alive.any()


def test_the_same_content_counts_once_and_teaches_nothing_good(make):
    frontier = make()
    frontier.page("http://seed/", 0.9, [("http://h/a", 0.9), ("http://h/b", 0.1)])
    frontier.page("http://h/a", 0.8, digest=77)
    frontier.again()
    _, lessons = frontier.page("http://h/b", 0.8, digest=77)
    assert lessons.relevance == pytest.approx([0.0])
    standing = frontier.again().standing()
    assert (standing.pages, standing.duplicates, standing.found) == (3, 1, 2)
    assert standing.relevance == pytest.approx(0.9 + 0.8)
    assert standing.harvest == pytest.approx(0.85)


def test_a_redirect_is_followed_under_the_same_lease_and_its_target_is_not_fetched_again(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    store = frontier.again()
    leased = lease(store)
    assert store.redirect(leased, "http://h/b", "h")
    store.return_lease(leased)
    back = lease(store)
    assert back is leased
    assert back.url == "http://h/b"
    store.record(back, PageRecord(0, "http://h/b", 1.0, 5))
    lessons = store.lessons_of(back)
    assert sorted(lessons.evidence.dense[:, 0]) == pytest.approx([0.3, 0.9]), "both links led there"
    store.acknowledge(back, Outcome.PAGE)
    assert addresses(frontier.again()) == []


def test_a_redirect_to_a_page_fetched_before_teaches_its_verdict_and_ends_the_lease(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    frontier.page("http://h/a", 0.7)
    store = frontier.again()
    leased = lease(store)
    assert not store.redirect(leased, "http://h/a", "h")
    assert leased.was_redirected
    assert store.lessons_of(leased).relevance == pytest.approx([0.7])
    assert store.acknowledge(leased, Outcome.OTHER) is Outcome.REDIRECT
    assert addresses(frontier.again()) == []


def test_a_redirect_to_a_page_that_is_being_fetched_teaches_nothing_before_that_is_judged(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    store = frontier.again()
    leads, target = lease(store), lease(store)
    assert not store.redirect(leads, "http://h/b", "h")
    assert store.lessons_of(leads) is None
    store.acknowledge(leads, Outcome.OTHER)
    store.record(target, PageRecord(0, "http://h/b", 0.9, 5))
    lessons = store.lessons_of(target)
    assert sorted(lessons.evidence.dense[:, 0]) == pytest.approx([0.3, 0.9])
    assert lessons.relevance == pytest.approx([0.9, 0.9])
    store.acknowledge(target, Outcome.PAGE)


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


def test_a_redirect_there_and_back_is_followed(make):
    frontier = make()
    store = frontier.store
    leased = lease(store)
    assert store.redirect(leased, "http://seed/login", "seed")
    assert store.redirect(leased, "http://seed/", "seed")
    store.record(leased, PageRecord(0, "http://seed/", 1.0, 5))
    assert store.acknowledge(leased, Outcome.PAGE) is Outcome.PAGE
    assert addresses(frontier.again()) == []


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


def test_a_postponed_link_waits_with_its_score(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    leased = lease(frontier.store)
    frontier.store.postpone(leased)
    store = frontier.again()
    assert addresses(store) == ["http://h/a", "http://h/b"]


@pytest.mark.parametrize("combine", ["first", "mean", "max"])
def test_at_most_eight_pieces_are_kept_the_first_among_them(place, combine):
    frontier = Frontier(place, combine=combine)
    values = [0.5, *np.linspace(0.01, 0.49, 60), 0.9]
    for i, value in enumerate(values):
        add(frontier.store, NewLink(f"http://seed/{i}", "seed", base=SEED_RANK))
        frontier.page(f"http://seed/{i}", 0.5, [("http://h/a", value)])
    leased = lease(frontier.store)
    kept = frontier.store.lessons_of(leased).evidence.dense[:, 0]
    assert len(kept) == 8
    assert kept[0] == pytest.approx(0.5)
    assert len(set(kept.tolist()) - {0.5}) == 7, "the rest is a sample of all that came"
    frontier.store.close()


def test_states_are_stored_as_documented():
    assert [state.name for state in State] == ["UNKNOWN", "WAITING", "LEASED", "DONE"]
