"""Ceilings above hosts hold for all workers of a crawl together. Redis has a clock of its own, so time passes here."""

import time
from collections import Counter

import pytest

from focused.frontier.store import NewLink, Outcome, PageRecord
from focused.redis.workers.neighbours import SharedNeighbours
from focused.safety.neighbourhoods import MINUTE, Ceiling
from tests.frontier.frontiers import add, always, lease, open_redis

ANY = Ceiling(0, 0, 0)
SERVER = "93.184.216.34"


@pytest.fixture
def workers(redis):
    """Opens workers of one crawl that have ceilings."""
    opened = []

    def open_workers(domain=ANY, address=ANY, number=2, **options):
        opened.extend(open_redis(redis, ceilings=(domain, address), **options) for _ in range(number))
        return opened[-number:]

    yield open_workers
    for store in opened:
        store.abandon()


def fill(store, *domains, hosts=100):
    """One link on each host of some domains; those of the first are the best."""
    for place, domain in enumerate(domains):
        links = [
            NewLink(f"http://h{n}.{domain}/", f"h{n}.{domain}", base=0.9 / (1 + place) - n / 1e6) for n in range(hosts)
        ]
        store.admit(None, links)


def domain_of(leased):
    return leased.host.name.split(".", 1)[1]


def let_out(stores, seconds=0.0, *, is_over=True):
    """What the workers get in some time, in turn; each request is over at once, or never."""
    end, taken, nothing = time.monotonic() + seconds, [], 0
    while time.monotonic() < end or nothing < 2 * len(stores):
        store = stores[len(taken) % len(stores) if nothing == 0 else nothing % len(stores)]
        leased = lease(store)
        nothing = 0 if leased else nothing + 1
        if leased is None:
            time.sleep(0.005)
        else:
            taken.append(leased)
            if is_over:
                store.acknowledge(leased, Outcome.OTHER)
    return taken


def test_a_domain_gets_no_more_than_its_ceiling_from_all_workers_and_others_go_on(workers):
    stores = workers(Ceiling(10, 0, 0))
    fill(stores[0], "evil.com", "good.com", hosts=40)
    for n in range(40):
        add(stores[0], NewLink(f"http://www.fine{n}.com/", f"www.fine{n}.com", base=0.01))
    began = time.monotonic()
    taken = Counter(domain_of(leased) for leased in let_out(stores, 1.0))
    took = time.monotonic() - began
    assert 5 <= taken["evil.com"] <= 10 * took + 1
    assert 5 <= taken["good.com"] <= 10 * took + 1
    assert sum(taken[f"fine{n}.com"] for n in range(40)) == 40


def test_requests_at_once_count_over_all_workers(workers):
    one, other = stores = workers(Ceiling(0, 3, 0))
    fill(one, "evil.com", "good.com", hosts=5)
    out = let_out(stores, is_over=False)
    assert Counter(map(domain_of, out)) == {"evil.com": 3, "good.com": 3}
    first = next(leased for leased in out if domain_of(leased) == "evil.com")
    (one if one.leases.get(first.token) is first else other).acknowledge(first, Outcome.OTHER)
    assert [domain_of(leased) for leased in let_out(stores, 0.3, is_over=False)] == ["evil.com"]


def test_what_a_dead_worker_had_out_is_out_no_longer(workers):
    one, other = workers(Ceiling(0, 2, 0), lease_seconds=1.0)
    fill(one, "evil.com", hosts=4)
    assert lease(one)
    assert lease(one)
    one.commit()
    assert lease(other) is None
    until = time.monotonic() + 60
    while (leased := lease(other)) is None:
        assert time.monotonic() < until
        other.beat()
        time.sleep(0.05)
    assert leased


def test_so_many_hosts_are_met_in_a_minute_and_those_with_a_relevant_page_do_not_count(workers):
    stores = workers(Ceiling(0, 0, 3))
    fill(stores[0], "evil.com", hosts=20)
    assert len(let_out(stores)) == 3
    fill(stores[0], "wiki.org", hosts=20)
    for _ in range(20):
        leased = lease(stores[0])
        assert domain_of(leased) == "wiki.org"
        stores[0].record(leased, PageRecord(0, leased.url, 0.9, leased.link, item={"url": leased.url}))
        stores[0].acknowledge(leased, Outcome.PAGE)
    assert lease(stores[0]) is None
    assert lease(stores[1]) is None


def test_domains_at_one_address_share_its_ceiling(workers):
    one, other = workers(address=Ceiling(0, 2, 0))
    names = ["a.com", "b.com", "c.com", "d.com"]
    for n, name in enumerate(names):
        add(one, NewLink(f"http://{name}/", name, base=0.9 - n / 10))
    leases = [lease(store) for store in (one, other, one)]
    neighbours = [SharedNeighbours(store) for store in (one, other, one)]
    waits = [each.resolved(leased.host.name, SERVER) for each, leased in zip(neighbours, leases, strict=True)]
    assert [wait > 0 for wait in waits] == [False, False, True]
    assert not neighbours[0].is_unresolved("a.com")
    assert neighbours[0].is_unresolved("d.com")
    one.postpone(leases[2])
    assert lease(other).host.name == "d.com", "nothing is known of it yet; c.com waits"
    assert lease(other) is None
    one.acknowledge(leases[0], Outcome.OTHER)
    assert [leased.host.name for leased in let_out([one, other], 0.3, is_over=False)] == ["c.com"]


def test_hosts_that_were_not_asked_after_all_are_new_again(workers):
    (one,) = workers(address=Ceiling(0, 0, 1), number=1)
    for n, name in enumerate(["a.com", "b.com"]):
        add(one, NewLink(f"http://{name}/", name, base=0.9 - n / 10))
    waits = []
    for _ in range(2):
        leased = lease(one)
        waits.append(SharedNeighbours(one).resolved(leased.host.name, SERVER))
        one.postpone(leased) if waits[-1] else one.acknowledge(leased, Outcome.OTHER)
    assert waits[0] == 0
    assert waits[1] == pytest.approx(MINUTE, abs=30)
    assert lease(one) is None


def test_what_was_allowed_has_no_ceiling(workers):
    one, other = workers(Ceiling(0, 1, 1), Ceiling(0, 1, 1))
    fill(one, "corp.com", hosts=10)
    for n in range(10):
        leased = lease((one, other)[n % 2])
        assert leased, n
        assert SharedNeighbours(one).resolved(leased.host.name, "10.0.0.5") == 0
    assert lease(one) is None
    for n in range(5):
        add(one, NewLink(f"http://127.0.0.1/{n}", "127.0.0.1"))
    assert sum(lease(one) is not None for _ in range(5)) == 5


def test_requests_beside_the_frontier_take_their_time(workers):
    (one,) = workers(Ceiling(10, 0, 0), number=1)
    fill(one, "evil.com", hosts=3)
    leased = lease(one)
    for _ in range(100):
        SharedNeighbours(one).ask_beside(leased.host.name)
    assert lease(one) is None
    assert not let_out([one], 0.3)


def test_however_many_hosts_wait_a_call_is_cheap_and_good_hosts_are_found(workers, redis):
    """Work is counted in commands that the script carries out."""
    stores = workers(Ceiling(1, 0, 0))
    fill(stores[0], "evil.com", hosts=5_000)
    add(stores[1], NewLink("http://www.good.com/", "www.good.com", base=0.001))
    taken, work = [], []
    with redis.client() as client:
        for n in range(200):
            before = commands(client)
            leased = lease(stores[n % 2])
            work.append(commands(client) - before)
            if leased:
                taken.append(domain_of(leased))
                stores[n % 2].acknowledge(leased, Outcome.OTHER)
    assert "good.com" in taken
    assert max(work) < 3_500, "a hundred hosts are looked at"
    assert sum(work[-20:]) < 20 * 150, "and when all stand in line, none"


def commands(client):
    """How many commands the server has carried out, those of scripts included, one of these calls not."""
    return sum(stats["calls"] for stats in client.info("commandstats").values())


def test_what_is_found_while_a_line_waits_stands_in_it_by_its_rank(workers):
    (one,) = workers(Ceiling(4, 0, 0), number=1)
    fill(one, "evil.com", hosts=5)
    assert lease(one).host.name == "h0.evil.com"
    assert lease(one) is None
    add(one, NewLink("http://new.evil.com/", "new.evil.com", base=0.99))
    add(one, NewLink("http://h4.evil.com/x", "h4.evil.com", base=0.98))
    names = [leased.host.name for leased in let_out([one], 1.6)]
    assert names[:4] == ["new.evil.com", "h4.evil.com", "h1.evil.com", "h2.evil.com"]


def test_poor_links_do_not_wait_for_a_domain_without_end(workers):
    (one,) = workers(Ceiling(2, 0, 0), number=1, patience=0.9)
    fill(one, "evil.com", hosts=5)
    leased = one.lease(0, always)
    one.sent(leased, 5.0, 1, 0.0)
    add(one, NewLink("http://h0.evil.com/more", "h0.evil.com", base=0.9))
    add(one, NewLink("http://www.good.com/", "www.good.com", base=0.1))
    assert one.lease(0, always).host.name == "www.good.com"


def test_waits_are_told(workers):
    one, other = workers(Ceiling(1, 0, 0))
    told = Counter()
    for store in (one, other):
        store.server.tell_of_wait = lambda name, times: told.update({name: times})
    fill(one, "evil.com", hosts=10)
    for _ in range(3):
        lease(one)
        lease(other)
    assert told == {"domain:evil.com": 9}


def test_without_ceilings_nothing_is_kept(redis):
    store = open_redis(redis)
    fill(store, "evil.com", hosts=3)
    assert len(let_out([store])) == 3
    with redis.client() as client:
        assert not client.keys("{focused:test}:groups")
        assert not client.keys("{focused:test}:line:*")
    store.abandon()
