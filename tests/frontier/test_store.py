"""What every frontier store promises: each test runs on one that stays open and on one reopened at every step."""

import sqlite3

import numpy as np
import pytest

from focused.frontier.records import count_by, read_items, read_records
from focused.frontier.store import SEED_RANK, JobRefused, NewLink, Outcome, PageRecord, State, StoreBroken
from focused.frontier.store_sqlite import SqliteStore
from focused.pages.evidence import Evidence
from focused.prioritizers.base import Prioritizer


def always(_host):
    return 0.0


class Plain(Prioritizer):
    """The score stands in the evidence, times a factor that "learning" changes."""

    name = "plain"
    dense = ("score",)
    learns = True

    def __init__(self, factor=1.0, **options):
        super().__init__(**options)
        self.factor = factor

    def evidence(self, page, verdict, links, *, fetched=None, arrived_by=None):
        raise AssertionError("not used here")

    def score(self, evidence):
        return (evidence.dense[:, 0] * self.factor % 1.0).astype(np.float32)


class Frontier:
    """A store under test; ``reopen`` closes it and opens it again where that should make no difference."""

    def __init__(self, folder, reopens, **options):
        self.folder, self.reopens, self.options = folder, reopens, options
        self.store = self.open()

    def open(self):
        options = {"prioritizer": Plain(combine=self.options.pop("combine", "mean")), **self.options}
        store = SqliteStore(self.folder, options.pop("prioritizer"), **options)
        store.rescore()()()
        return store

    def again(self):
        if self.reopens:
            combine = self.store.prioritizer.combine
            self.store.close()
            self.options["combine"] = combine
            self.store = self.open()
        return self.store

    def page(self, url, relevance, links=(), digest=None):
        """Lease the best link, which must be ``url``; judge it, find links on it, acknowledge it."""
        lease = self.store.lease(0, always)
        assert lease is not None
        assert lease.url == url
        self.found(lease, links)
        number = digest if digest is not None else hash(url) & 0xFFFFFFFF
        record = PageRecord(0, url, relevance, number, item={"url": url, "relevance": relevance})
        self.store.record(lease.token, record)
        lessons = self.store.lessons_of(lease.token)
        self.store.acknowledge(lease.token, Outcome.PAGE)
        return lease, lessons

    def found(self, lease, links):
        if not links:
            return
        known = self.store.reserve([url for url, _ in links])
        wanted = np.flatnonzero(known.wanted)
        dense = np.array([links[i][1] for i in wanted], np.float32)
        evidence = Evidence.of(np.zeros(len(wanted) + 1, np.int64), np.zeros(0, np.uint32), dense)
        evidence.link = known.links[wanted].astype(np.uint32)
        self.store.add_evidence(lease.link, evidence, self.store.prioritizer.score(evidence))
        for i in wanted:
            self.store.add(NewLink(links[i][0], "host", link=int(known.links[i]), source=lease.link, depth=1))


@pytest.fixture(params=[False, True], ids=["open", "reopened"])
def make(tmp_path, request):
    made = []

    def make_frontier(**options):
        made.append(Frontier(tmp_path, request.param, **options))
        made[-1].store.add(NewLink("http://seed/", "seed", base=SEED_RANK))
        return made[-1]

    yield make_frontier
    for frontier in made:
        frontier.store.close()


def addresses(store):
    taken = []
    while (lease := store.lease(0, always)) is not None:
        taken.append(lease.url)
    return taken


def test_links_are_handed_out_by_score_and_only_once(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.2), ("http://h/b", 0.8), ("http://h/c", 0.5)])
    store = frontier.again()
    assert addresses(store) == ["http://h/b", "http://h/c", "http://h/a"]


def test_a_known_address_is_not_admitted_again(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.2)])
    store = frontier.again()
    assert not store.add(NewLink("http://h/a", "h"))
    assert not store.add(NewLink("http://seed/", "seed"))
    assert store.add(NewLink("http://h/b", "h"))


def test_a_request_with_an_identity_of_its_own_is_not_admitted_under_a_second_number(make):
    frontier = make()
    known = frontier.store.reserve(["http://h/form"])
    assert frontier.store.add(NewLink("http://h/form", "h", link=int(known.links[0]), key=4711, request=b"x"))
    store = frontier.again()
    again = store.reserve(["http://h/form"])
    assert not store.add(NewLink("http://h/form", "h", link=int(again.links[0]), key=4711, request=b"x"))
    store.commit()


@pytest.mark.parametrize(("combine", "best"), [("mean", "http://h/b"), ("max", "http://h/a"), ("first", "http://h/b")])
def test_more_evidence_for_a_waiting_link_is_combined(make, combine, best):
    frontier = make(combine=combine)
    frontier.page("http://seed/", 0.5, [("http://h/next", 1 - 1e-3), ("http://h/a", 0.1), ("http://h/b", 0.6)])
    frontier.again()
    frontier.page("http://h/next", 0.5, [("http://h/a", 0.9)])
    assert frontier.again().lease(0, always).url == best


def test_rescoring_puts_everything_in_order_anew(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.3), ("http://h/b", 0.6)])
    frontier.store.prioritizer = Plain(2.5, combine="mean")
    frontier.store.rescore()()()
    # 0.3 · 2.5 = 0.75; 0.6 · 2.5 mod 1 = 0.5
    assert addresses(frontier.store) == ["http://h/a", "http://h/b"]


def test_a_link_with_an_outdated_score_is_scored_when_it_is_taken(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.3), ("http://h/b", 0.6)])
    frontier.store.prioritizer = Plain(2.5, combine="mean")
    assert frontier.store.lease(0, always).url == "http://h/b", "0.5 is still more than the old score of the other"
    frontier.store.prioritizer = Plain(0.1, combine="mean")
    assert frontier.store.lease(0, always).score == pytest.approx(0.03)


def test_rescoring_is_the_same_whether_evidence_is_held_in_memory_or_read(tmp_path, monkeypatch):
    def ranks(folder):
        folder.mkdir()
        frontier = Frontier(folder, False)
        frontier.store.add(NewLink("http://seed/", "seed", base=SEED_RANK))
        frontier.page("http://seed/", 0.5, [(f"http://h/{n}", 0.99 - n / 1000) for n in range(50)])
        for n in range(12):
            frontier.page(f"http://h/{n}", 0.5, [(f"http://h/{m}", (n * m % 7) / 10) for m in range(12, 50)])
        frontier.store.prioritizer = Plain(2.5, combine="mean")
        frontier.store.rescore()()()
        order = addresses(frontier.store)
        frontier.store.close()
        return order

    held = ranks(tmp_path / "held")
    monkeypatch.setattr("focused.frontier.blocks._MOST_HELD", 1_000)
    assert ranks(tmp_path / "read") == held
    assert len(held) == 38


def test_evidence_that_comes_while_a_rescoring_runs_is_kept(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/next", 0.99), ("http://h/a", 0.2), ("http://h/b", 0.5)])
    finish = frontier.store.rescore()()
    frontier.page("http://h/next", 0.5, [("http://h/a", 0.98)])
    finish()
    assert frontier.store.lease(0, always).url == "http://h/a", "the mean of 0.2 and 0.98 is more than 0.5"


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
    lease = frontier.store.lease(0, always)
    known = frontier.store.reserve(["http://h/a", "http://h/new", "http://h/c"])
    assert known.wanted.tolist() == [True, True, True]
    evidence = Evidence.of(np.zeros(4, np.int64), np.zeros(0, np.uint32), np.array([0.1, 0.2, 0.3], np.float32))
    evidence.link = known.links.astype(np.uint32)
    frontier.store.add_evidence(lease.link, evidence, frontier.store.prioritizer.score(evidence))
    late = frontier.store.late_lessons(evidence, 0.4)
    assert late.relevance == pytest.approx([0.6])
    assert late.source_relevance == pytest.approx([0.4])
    assert late.evidence.dense[:, 0] == pytest.approx([0.1])
    assert frontier.store.late_lessons(evidence, 0.4) is None
    assert frontier.store.reserve(["http://h/a", "http://h/c"]).wanted.tolist() == [False, True]
    frontier.store.record(lease.token, PageRecord(0, "http://h/b", 0.4, 9))
    frontier.store.acknowledge(lease.token, Outcome.PAGE)
    (again,) = frontier.again().lessons_since(2)
    assert again.relevance == pytest.approx([0.6, 0.4]), "the late lesson, and the page's own"


def test_a_dead_link_teaches_that_it_is_dead(make):
    frontier = make()
    frontier.page("http://seed/", 0.25, [("http://h/a", 0.9)])
    lease = frontier.again().lease(0, always)
    lessons = frontier.store.lessons_of(lease.token)
    assert not lessons.alive.any()


def test_the_same_content_counts_once_and_teaches_nothing_good(make):
    frontier = make()
    frontier.page("http://seed/", 0.9, [("http://h/a", 0.9), ("http://h/b", 0.1)])
    frontier.page("http://h/a", 0.8, digest=77)
    frontier.again()
    _, lessons = frontier.page("http://h/b", 0.8, digest=77)
    assert lessons.relevance == pytest.approx([0.0])
    frontier.store.close()
    with read_records(frontier.folder) as records:
        assert [item["url"] for item in read_items(records)] == ["http://seed/", "http://h/a"]
        assert count_by(records, "outcome") == {Outcome.PAGE: 2, Outcome.DUPLICATE: 1}
    frontier.store = frontier.open()


def test_a_redirect_is_followed_under_the_same_lease_and_its_target_is_not_fetched_again(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    store = frontier.again()
    lease = store.lease(0, always)
    assert store.redirect(lease.token, "http://h/b", "h")
    store.return_lease(lease.token)
    back = store.lease(0, always)
    assert (back.token, back.url) == (lease.token, "http://h/b")
    store.record(back.token, PageRecord(0, "http://h/b", 1.0, 5))
    lessons = store.lessons_of(back.token)
    assert sorted(lessons.evidence.dense[:, 0]) == pytest.approx([0.3, 0.9]), "both links led there"
    store.acknowledge(back.token, Outcome.PAGE)
    assert addresses(frontier.again()) == []


def test_a_redirect_to_a_page_fetched_before_teaches_its_verdict_and_ends_the_lease(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    frontier.page("http://h/a", 0.7)
    store = frontier.again()
    lease = store.lease(0, always)
    assert not store.redirect(lease.token, "http://h/a", "h")
    assert store.was_redirected(lease.token)
    assert store.lessons_of(lease.token).relevance == pytest.approx([0.7])
    assert store.acknowledge(lease.token, Outcome.OTHER) is Outcome.REDIRECT
    assert addresses(frontier.again()) == []


def test_a_redirect_there_and_back_is_followed(make):
    frontier = make()
    store = frontier.store
    lease = store.lease(0, always)
    assert store.redirect(lease.token, "http://seed/login", "seed")
    assert store.redirect(lease.token, "http://seed/", "seed")
    store.record(lease.token, PageRecord(0, "http://seed/", 1.0, 5))
    assert store.acknowledge(lease.token, Outcome.PAGE) is Outcome.PAGE
    assert addresses(frontier.again()) == []


def test_a_retry_comes_back_under_its_lease_before_everything_else(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    lease = frontier.store.lease(0, always)
    frontier.store.return_lease(lease.token)
    assert frontier.store.lease(0, always).token == lease.token
    assert frontier.store.lease(0, always).url == "http://h/b"


def test_a_returned_lease_comes_first_also_after_all_links_were_scored_again(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.3), ("http://h/b", 0.9)])
    store = frontier.store
    better, worse = store.lease(0, always), store.lease(0, always)
    store.postpone(better.token)
    store.return_lease(worse.token)
    store.rescore()()()
    assert store.lease(0, always).token == worse.token
    assert store.lease(0, always).url == better.url == "http://h/b"


def test_a_postponed_link_waits_with_its_score(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.3)])
    lease = frontier.store.lease(0, always)
    frontier.store.postpone(lease.token)
    store = frontier.again()
    assert addresses(store) == ["http://h/a", "http://h/b"]


def test_leased_links_are_handed_out_again_after_a_crash(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    store.add(NewLink("http://h/a", "h"))
    store.lease(0, always)
    store.commit()
    crash(store)
    again = SqliteStore(tmp_path, Plain())
    assert again.lease(0, always).tries == 2
    again.close()


def die_with_one_link_out(folder, *, at_work):
    """Start a crawl, lease its one link, have its page come or not, and die. False if there is nothing to lease."""
    store = SqliteStore(folder, Plain(), most_deaths=3)
    store.add(NewLink("http://h/a", "h"))
    lease = store.lease(0, always)
    if lease is not None:
        if at_work:
            store.begin_work(lease.token)
        store.commit()
    crash(store)
    return lease is not None


def test_a_page_that_always_kills_its_crawl_is_given_up(tmp_path):
    deaths = [die_with_one_link_out(tmp_path, at_work=True) for _ in range(5)]
    assert deaths == [True] * 4 + [False], "of the first death nobody knows whose it was"
    with read_records(tmp_path) as records:
        assert count_by(records, "outcome") == {Outcome.FAILED: 1}


def test_a_link_that_was_merely_out_when_its_crawl_was_killed_is_not_given_up_for_it(tmp_path):
    deaths = [die_with_one_link_out(tmp_path, at_work=n % 5 == 0) for n in range(10)]
    assert deaths == [True] * 10, "at work at one of the deaths that count"
    deaths = [die_with_one_link_out(tmp_path, at_work=False) for _ in range(6)]
    assert deaths == [True] * 5 + [False], "but not for ever"


def test_links_that_were_out_at_a_death_go_out_one_by_one(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    for name in "abc":
        store.add(NewLink(f"http://h/{name}", "h"))
    assert len([store.lease(0, always) for _ in "abc"]) == 3
    store.commit()
    crash(store)
    store = SqliteStore(tmp_path, Plain())
    store.add(NewLink("http://h/d", "h"))
    first, other = store.lease(0, always), store.lease(0, always)
    assert (first.url, other.url) == ("http://h/a", "http://h/d"), "one suspect is out, the others wait for it"
    assert store.lease(0, always) is None
    assert store.waiting == 2
    store.acknowledge(first.token, Outcome.DEAD)
    assert store.lease(0, always).url == "http://h/b"
    store.close()


def test_what_was_not_acknowledged_leaves_no_page(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    store.add(NewLink("http://h/a", "h"))
    lease = store.lease(0, always)
    store.record(lease.token, PageRecord(0, "http://h/a", 1.0, 5))
    store.commit()
    crash(store)
    again = SqliteStore(tmp_path, Plain())
    assert again.pages == 0
    again.close()


def test_a_page_fetched_a_second_time_replaces_its_evidence(tmp_path):
    frontier = Frontier(tmp_path, False)
    frontier.store.add(NewLink("http://seed/", "seed", base=SEED_RANK))
    lease = frontier.store.lease(0, always)
    frontier.found(lease, [("http://h/a", 0.2), ("http://h/b", 0.3)])
    frontier.store.commit()
    crash(frontier.store)
    frontier.store = frontier.open()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.6), ("http://h/b", 0.3)])
    lease = frontier.store.lease(0, always)
    assert lease.url == "http://h/a"
    assert lease.score == pytest.approx(0.6)
    assert len(frontier.store.lessons_of(lease.token)) == 1
    frontier.store.close()


@pytest.mark.parametrize("combine", ["first", "mean", "max"])
def test_at_most_eight_pieces_are_kept_the_first_among_them(tmp_path, combine):
    frontier = Frontier(tmp_path, False, combine=combine)
    values = [0.5, *np.linspace(0.01, 0.49, 60), 0.9]
    for i, value in enumerate(values):
        frontier.store.add(NewLink(f"http://seed/{i}", "seed", base=SEED_RANK))
        frontier.page(f"http://seed/{i}", 0.5, [("http://h/a", value)])
    lease = frontier.store.lease(0, always)
    kept = frontier.store.lessons_of(lease.token).evidence.dense[:, 0]
    assert len(kept) == 8
    assert kept[0] == pytest.approx(0.5)
    assert len(set(kept.tolist()) - {0.5}) == 7, "the rest is a sample of all that came"
    frontier.store.close()


def test_two_crawls_on_one_job_are_refused(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    with pytest.raises(JobRefused, match="in use by another crawl"):
        SqliteStore(tmp_path, Plain())
    store.close()
    SqliteStore(tmp_path, Plain()).close()


def test_the_job_of_another_topic_is_refused(tmp_path):
    SqliteStore(tmp_path, Plain(), identity={"topic": "chess"}).close()
    with pytest.raises(JobRefused, match="made with topic 'chess', this crawl has 'go'"):
        SqliteStore(tmp_path, Plain(), identity={"topic": "go"})
    SqliteStore(tmp_path, Plain(), identity={"topic": "chess"}).close()


def test_a_job_of_another_format_is_refused(tmp_path):
    SqliteStore(tmp_path, Plain()).close()
    with sqlite3.connect(tmp_path / "job.db") as db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'format'")
    with pytest.raises(JobRefused, match="format '0'"):
        SqliteStore(tmp_path, Plain())


def test_a_file_that_is_no_job_is_refused(tmp_path):
    (tmp_path / "job.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(JobRefused, match="not a readable job file"):
        SqliteStore(tmp_path, Plain())


def test_a_full_disk_is_told_and_loses_nothing_acknowledged(tmp_path):
    frontier = Frontier(tmp_path, False)
    frontier.store.add(NewLink("http://seed/", "seed", base=SEED_RANK))
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.2)])
    frontier.store._file._db.execute("PRAGMA max_page_count = 1")
    for i in range(2000):
        frontier.store.add(NewLink(f"http://h/{'x' * 500}/{i}", "h"))
    with pytest.raises(StoreBroken, match="full"):
        frontier.store.commit()
    crash(frontier.store)
    frontier.store = frontier.open()
    assert frontier.store.pages == 1
    assert frontier.store.lease(0, always).url == "http://h/a"
    frontier.store.close()


def test_memory_per_waiting_link_is_small(tmp_path):
    frontier = Frontier(tmp_path, False)
    frontier.store._table.grow(100_000)
    columns = [getattr(frontier.store._table, name) for name, _ in frontier.store._table._COLUMNS]
    assert sum(column.nbytes for column in columns) / frontier.store._table.size <= 20
    frontier.store.close()


def crash(store):
    """Let go of everything as the death of the process would: without a word to the database."""
    store.abandon()


def test_states_are_stored_as_documented():
    assert [state.name for state in State] == ["RESERVED", "WAITING", "LEASED", "DONE"]
