"""What only the store of one machine promises: of its file, its memory, and the death of its process."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from focused.frontier.layout import FORMAT
from focused.frontier.records import FILE, read_items, read_records
from focused.frontier.store import (
    SEED_RANK,
    Answer,
    JobGone,
    JobRefused,
    NewLink,
    Outcome,
    PageRecord,
    Says,
    StoreBroken,
)
from focused.frontier.store_sqlite import SqliteStore
from tests.frontier.frontiers import Frontier, Plain, add, addresses, always, crash, rescore


@pytest.fixture
def make(tmp_path):
    made = []

    def make_frontier(**options):
        made.append(Frontier(tmp_path, **options))
        add(made[-1].store, NewLink("http://seed/", "seed", base=SEED_RANK))
        return made[-1]

    yield make_frontier
    for frontier in made:
        frontier.store.close()


def test_a_link_with_an_outdated_score_is_scored_when_it_is_taken(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.3), ("http://h/b", 0.6)])
    frontier.store.prioritizer = Plain(2.5, combine="mean")
    assert frontier.store.lease(0, always).url == "http://h/b", "0.5 is still more than the old score of the other"
    frontier.store.prioritizer = Plain(0.1, combine="mean")
    assert frontier.store.lease(0, always).score == pytest.approx(0.03)


def dead(frontier, url):
    """The best link, which must be ``url``, is dead."""
    leased = frontier.store.lease(0, always)
    assert leased.url == url
    frontier.store.acknowledge(leased, Outcome.DEAD, "404")


def test_that_links_are_dead_is_learned_again_from_the_records(make):
    frontier = make(reopens=True)
    frontier.page(
        "http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.6), ("http://h/c", 0.3), ("http://h/d", 0.1)]
    )
    dead(frontier, "http://h/a")
    frontier.page("http://h/b", 0.5)
    dead(frontier, "http://h/c")
    store = frontier.again()
    seed, first, page, second = store.lessons_since(0)
    assert seed is None
    assert [first.of_dead_link, page.of_dead_link, second.of_dead_link] == [True, False, True]
    assert [lessons.evidence.dense[0, 0] for lessons in (first, page, second)] == pytest.approx([0.9, 0.6, 0.3])
    assert [lessons and lessons.of_dead_link for lessons in store.lessons_anew(1)()] == [True, False, True]
    store.save_model("prioritizer", {}, 2)
    dead(frontier, "http://h/d")
    (third,) = frontier.again().lessons_since(2, "prioritizer")
    assert third.evidence.dense[0, 0] == pytest.approx(0.1)
    frontier.store.save_model("prioritizer", {}, 0)
    assert len(list(frontier.store.lessons_since(0, "prioritizer"))) == 5, "a model that knows nothing"


def test_lessons_are_given_anew_while_the_crawl_goes_on(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9), ("http://h/b", 0.8)])
    frontier.page("http://h/a", 0.5)
    anew = frontier.store.lessons_anew(99)
    before = [lessons and lessons.relevance.tolist() for lessons in anew()]
    frontier.page("http://h/b", 0.5, [("http://h/c", 0.7)])
    frontier.page("http://h/c", 0.5, [("http://h/d", 0.9)])
    leased = frontier.store.lease(0, always)
    assert leased.url == "http://h/d"
    assert not frontier.store.redirect(leased, "http://h/a", "h"), "that page is there already"
    frontier.store.acknowledge(leased, Outcome.REDIRECT)
    frontier.store.commit()
    assert [lessons and lessons.relevance.tolist() for lessons in anew()] == before


def test_rescoring_is_the_same_whether_evidence_is_held_in_memory_or_read(tmp_path, monkeypatch):
    def ranks(folder):
        folder.mkdir()
        frontier = Frontier(folder, False)
        add(frontier.store, NewLink("http://seed/", "seed", base=SEED_RANK))
        frontier.page("http://seed/", 0.5, [(f"http://h/{n}", 0.99 - n / 1000) for n in range(50)])
        for n in range(12):
            frontier.page(f"http://h/{n}", 0.5, [(f"http://h/{m}", (n * m % 7) / 10) for m in range(12, 50)])
        frontier.store.prioritizer = Plain(2.5, combine="mean")
        rescore(frontier.store)
        order = addresses(frontier.store)
        frontier.store.close()
        return order

    held = ranks(tmp_path / "held")
    monkeypatch.setattr("focused.frontier.held._MOST_BYTES", 1_000)
    assert ranks(tmp_path / "read") == held
    assert len(held) == 38


def test_leased_links_are_handed_out_again_after_a_crash(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    add(store, NewLink("http://h/a", "h"))
    store.lease(0, always)
    store.commit()
    crash(store)
    again = SqliteStore(tmp_path, Plain())
    assert again.lease(0, always).tries == 2
    again.close()


def die_with_one_link_out(folder, *, at_work):
    """Start a crawl, lease its one link, have its page come or not, and die. False if there is nothing to lease."""
    store = SqliteStore(folder, Plain(), most_deaths=3)
    add(store, NewLink("http://h/a", "h"))
    lease = store.lease(0, always)
    if lease is not None:
        if at_work:
            store.begin_work(lease)
        store.commit()
    crash(store)
    return lease is not None


def test_a_page_that_always_kills_its_crawl_is_given_up(tmp_path):
    deaths = [die_with_one_link_out(tmp_path, at_work=True) for _ in range(5)]
    assert deaths == [True] * 4 + [False], "of the first death nobody knows whose it was"
    with read_records(tmp_path) as records:
        assert dict(map(tuple, records.execute("SELECT outcome, count(*) FROM links GROUP BY 1"))) == {
            Outcome.FAILED: 1
        }


def test_a_link_that_was_merely_out_when_its_crawl_was_killed_is_not_given_up_for_it(tmp_path):
    deaths = [die_with_one_link_out(tmp_path, at_work=n % 5 == 0) for n in range(10)]
    assert deaths == [True] * 10, "at work at one of the deaths that count"
    deaths = [die_with_one_link_out(tmp_path, at_work=False) for _ in range(6)]
    assert deaths == [True] * 5 + [False], "but not for ever"


def test_links_that_were_out_at_a_death_go_out_one_by_one(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    for name in "abc":
        add(store, NewLink(f"http://h/{name}", "h"))
    assert len([store.lease(0, always) for _ in "abc"]) == 3
    store.commit()
    crash(store)
    store = SqliteStore(tmp_path, Plain())
    add(store, NewLink("http://h/d", "h"))
    first, other = store.lease(0, always), store.lease(0, always)
    assert (first.url, other.url) == ("http://h/a", "http://h/d"), "one suspect is out, the others wait for it"
    assert store.lease(0, always) is None
    assert store.standing().waiting == 2
    store.acknowledge(first, Outcome.DEAD)
    assert store.lease(0, always).url == "http://h/b"
    store.close()


def test_a_suspect_to_which_another_one_leads_is_not_fetched_again(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    for name in "ab":
        add(store, NewLink(f"http://h/{name}", "h"))
    assert len([store.lease(0, always) for _ in "ab"]) == 2
    store.commit()
    crash(store)
    store = SqliteStore(tmp_path, Plain())
    leased = store.lease(0, always)
    assert store.lease(0, always) is None
    assert store.redirect(leased, "http://h/b", "h")
    store.record(leased, PageRecord(0, "http://h/b", 0.5, 123))
    assert store.acknowledge(leased, Outcome.PAGE) is Outcome.PAGE
    assert (store.standing().waiting, store.lease(0, always), store.standing().pages) == (0, None, 1)
    store.close()


def test_any_number_of_links_may_have_been_out_at_a_death(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    for n in range(2_000):
        add(store, NewLink(f"http://h/{n}", "h"))
    assert sum(store.lease(0, always) is not None for _ in range(2_000)) == 2_000
    store.commit()
    crash(store)
    store = SqliteStore(tmp_path, Plain())
    assert len(addresses(store)) == 1
    assert store.standing().waiting == 1_999
    store.close()


def test_fewer_deaths_than_it_has_seen_are_enough_when_fewer_are_asked_for(tmp_path):
    for _ in range(4):
        assert die_with_one_link_out(tmp_path, at_work=True)
    with sqlite3.connect(tmp_path / "job.db") as records:
        records.execute("UPDATE links SET detail = 'at work 7', state = 2")
    store = SqliteStore(tmp_path, Plain(), most_deaths=3)
    assert store.lease(0, always) is None
    store.close()


def test_links_that_lead_there_in_several_steps_teach_again_after_a_crash(make):
    frontier = make()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.9)])
    store, leased = frontier.store, frontier.store.lease(0, always)
    assert store.redirect(leased, "http://h/b", "h")
    assert store.redirect(leased, "http://h/c", "h")
    store.record(leased, PageRecord(0, "http://h/c", 0.7, 5))
    live = store.lessons_of(leased)
    store.acknowledge(leased, Outcome.PAGE)
    (again,) = store.lessons_since(1)
    assert live.evidence.dense.tolist() == again.evidence.dense.tolist() == [[pytest.approx(0.9)]]
    assert again.relevance == pytest.approx([0.7])


def test_a_rescoring_that_fails_leaves_scores_that_are_known_to_be_outdated(make):
    class Once(Plain):
        fails = False

        def score(self, evidence):
            if self.fails:
                raise MemoryError("too much")
            return super().score(evidence)

    frontier = make(prioritizer=Once(0.5, combine="mean"))
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.3), ("http://h/b", 0.6)])
    store = frontier.store
    store.prioritizer = Once(2.5, combine="mean")
    store.prioritizer.fails = True
    rescoring = store.rescoring()
    with pytest.raises(MemoryError):
        rescoring.score()
    rescoring.adopt()
    store.prioritizer.fails = False
    assert store.lease(0, always).score == pytest.approx(0.5), "scored when it is taken"


def test_what_was_not_acknowledged_leaves_no_page(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    add(store, NewLink("http://h/a", "h"))
    lease = store.lease(0, always)
    store.record(lease, PageRecord(0, "http://h/a", 1.0, 5))
    store.commit()
    crash(store)
    again = SqliteStore(tmp_path, Plain())
    assert again.standing().pages == 0
    again.close()


def test_a_page_fetched_a_second_time_replaces_its_evidence(tmp_path):
    frontier = Frontier(tmp_path, False)
    add(frontier.store, NewLink("http://seed/", "seed", base=SEED_RANK))
    lease = frontier.store.lease(0, always)
    frontier.found(lease, [("http://h/a", 0.2), ("http://h/b", 0.3)])
    frontier.store.commit()
    crash(frontier.store)
    frontier.store = frontier.open()
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.6), ("http://h/b", 0.3)])
    lease = frontier.store.lease(0, always)
    assert lease.url == "http://h/a"
    assert lease.score == pytest.approx(0.6)
    assert len(frontier.store.lessons_of(lease)) == 1
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


def test_a_page_whose_links_could_not_be_written_is_not_acknowledged(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    add(store, NewLink("http://seed/", "seed", base=SEED_RANK))
    leased = store.lease(0, always)
    store.commit()
    (pages,) = store._file.row("PRAGMA page_count")
    store._file.write(f"PRAGMA max_page_count = {pages + 5}")
    store.record(leased, PageRecord(0, "http://seed/", 0.5, 7))
    with pytest.raises(StoreBroken, match="full"):
        store.admit(leased, [NewLink(f"http://h/{n}", "h") for n in range(3_000)])
    for step in (store.commit, lambda: store.acknowledge(leased, Outcome.PAGE), lambda: store.known(["http://h/1"])):
        with pytest.raises(StoreBroken, match="full"):
            step()
    with pytest.raises(StoreBroken):
        store.close()
    again = SqliteStore(tmp_path, Plain())
    assert (again.standing().pages, again.standing().waiting, again.lease(0, always).url) == (0, 1, "http://seed/")
    again.close()


def test_a_full_disk_is_told_and_loses_nothing_acknowledged(tmp_path):
    frontier = Frontier(tmp_path, False)
    add(frontier.store, NewLink("http://seed/", "seed", base=SEED_RANK))
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.2)])
    frontier.store._file._db.execute("PRAGMA max_page_count = 1")
    many = [NewLink(f"http://h/{'x' * 500}/{i}", "h") for i in range(10_000)]
    with pytest.raises(StoreBroken, match="full"):
        frontier.store.admit(None, many)
    crash(frontier.store)
    frontier.store = frontier.open()
    assert frontier.store.standing().pages == 1
    assert frontier.store.lease(0, always).url == "http://h/a"
    frontier.store.close()


def test_no_room_to_read_is_told_as_no_room(tmp_path):
    """SQLite may have to write what waits to be written before it can read."""
    store = SqliteStore(tmp_path, Plain())
    store._file.write("PRAGMA max_page_count = 1")
    with pytest.raises(StoreBroken, match=r"full.*make room and start the same command again") as caught:
        store._file.rows("INSERT INTO meta VALUES ('much', zeroblob(1000000)) RETURNING key")
    assert not isinstance(caught.value, JobRefused), "it is not damaged"
    with pytest.raises(StoreBroken):
        store.close()


def deleted(job):
    shutil.rmtree(job)


def moved(job):
    job.rename(job.with_name("elsewhere"))


def replaced(job):
    shutil.copy(job / FILE, job / "copy")
    (job / "copy").replace(job / FILE)


def without_what_was_written_last(job):
    (job / f"{FILE}-wal").unlink()


@pytest.mark.parametrize("how", [deleted, moved, replaced, without_what_was_written_last])
def test_a_job_that_is_gone_is_told_at_the_next_page(how, tmp_path):
    (tmp_path / "job").mkdir()
    frontier = Frontier(tmp_path / "job", False)
    add(frontier.store, NewLink("http://seed/", "seed", base=SEED_RANK))
    frontier.page("http://seed/", 0.5, [("http://h/a", 0.2)])
    how(tmp_path / "job")
    with pytest.raises(JobGone, match=r"job/job.db(-wal)?' is gone \(.*unmounted\): put back"):
        frontier.page("http://h/a", 0.5)
    with pytest.raises(JobGone):
        list(frontier.store.kept_pages()())
    with pytest.raises(JobGone):
        frontier.store.close()
    kept = {deleted: None, moved: tmp_path / "elsewhere"}.get(how, tmp_path / "job")
    assert (tmp_path / "job").exists() is (kept == tmp_path / "job"), "nothing is made where it was"
    if kept is not None:
        with closing(SqliteStore(kept, Plain())) as again:
            assert again.standing().pages == 2


def test_memory_per_waiting_link_is_small(tmp_path):
    frontier = Frontier(tmp_path, False)
    frontier.store._table.grow(100_000)
    columns = vars(frontier.store._table).values()
    assert sum(column.nbytes / len(column) for column in columns) <= 30
    frontier.store.close()


def test_a_duplicate_is_recorded_but_gives_no_item(make):
    frontier = make()
    frontier.page("http://seed/", 0.9, [("http://h/a", 0.9), ("http://h/b", 0.1)])
    frontier.page("http://h/a", 0.8, digest=77)
    frontier.page("http://h/b", 0.8, digest=77)
    frontier.store.close()
    with read_records(frontier.place) as records:
        assert [item["url"] for item in read_items(records)] == ["http://seed/", "http://h/a"]
        assert dict(map(tuple, records.execute("SELECT outcome, count(*) FROM links GROUP BY 1"))) == {
            Outcome.PAGE: 2,
            Outcome.DUPLICATE: 1,
        }
    frontier.store = frontier.open()


def test_answers_outlast_the_process_and_the_last_one_counts(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    first, second, back = (
        Answer(7, said, "me", f"day {n}", 0.5) for n, said in enumerate((Says.YES, Says.NO, Says.NOTHING))
    )
    other = Answer(9, Says.UNKNOWN, "you", "day 1", 0.25)
    store.keep_answers([first, other])
    store.keep_answers([second])
    crash(store)
    store = SqliteStore(tmp_path, Plain())
    assert store.answers() == {7: second, 9: other}
    store.keep_answers([back])
    assert store.answers() == {7: back, 9: other}
    assert [store.answers()[link].is_wanted for link in (7, 9)] == [None, None]
    store.close()


def test_damage_that_shows_later_ends_the_crawl_in_one_sentence(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    add(store, NewLink("http://h/a", "h"))
    store.commit()
    with closing(sqlite3.connect(tmp_path / FILE)) as other, other:
        other.execute("UPDATE links SET url = CAST(x'ff' AS TEXT)")
    with pytest.raises(StoreBroken, match=r"job\.db' is damaged \(.*\): see `scrapy inspect ") as broken:
        store.lease(0, always)
    assert "\n" not in str(broken.value)
    with pytest.raises(StoreBroken, match="is damaged"):
        store.note("anything", "else")
    crash(store)


def test_a_job_that_is_refused_can_be_opened_by_others_at_once(tmp_path):
    store = SqliteStore(tmp_path, Plain())
    add(store, NewLink("http://h/a", "h"))
    store.close()
    for value in (2_000_000_000, 1):
        with closing(sqlite3.connect(tmp_path / FILE)) as other, other:
            other.execute("UPDATE links SET id = ?", (value,))
        if value > 1:
            with pytest.raises(JobRefused, match="links: a row with an invalid 'id'"):
                SqliteStore(tmp_path, Plain())
    SqliteStore(tmp_path, Plain()).close()


def test_a_new_job_is_there_whole_or_not_at_all(tmp_path, monkeypatch):
    def dies(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr("focused.frontier.records.connect", dies)
    with pytest.raises(KeyboardInterrupt):
        SqliteStore(tmp_path, Plain())
    with closing(read_records(tmp_path)) as records:
        assert dict(records.execute("SELECT key, value FROM meta").fetchall()) == {"format": str(FORMAT)}
    (tmp_path / FILE).unlink()
    monkeypatch.setattr("focused.frontier.records.write_whole", dies)
    with pytest.raises(KeyboardInterrupt):
        SqliteStore(tmp_path, Plain())
    assert not (tmp_path / FILE).exists()
