"""Ceilings above hosts: the arithmetic of domains and addresses, by a clock of the test's own."""

from collections import Counter
from time import monotonic

import numpy as np
import pytest
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from focused.defaults import DEFAULTS, SETTINGS
from focused.frontier.order import LinkOrder
from focused.frontier.store import Closed
from focused.frontier.table import LinkTable
from focused.safety.neighbourhoods import (
    LOOK_AGAIN,
    MINUTE,
    Ceiling,
    Neighbourhoods,
    Waits,
    address_group,
    registrable_domain,
)
from focused.scheduling.neighbours import ceilings_of, neighbours_of

ANY = Ceiling(0, 0, 0)


class Clock:
    """A time that passes when it is told to."""

    now = 1_000.0

    def __call__(self):
        return self.now


class Crawl:
    """Requests to hosts, as a scheduler makes them."""

    def __init__(self, domain=ANY, address=ANY, **options):
        self.clock, self.told = Clock(), Counter()
        self.met = set()
        self.hosts = Neighbourhoods(domain, address, clock=self.clock, told=self._tell, **options)

    def _tell(self, name):
        self.told[name] += 1

    def opens(self, host):
        opens, line = self.hosts.opens(host, is_new=host not in self.met)
        return Closed(opens, line) if opens else 0.0

    def ask(self, host):
        """Begin a request, if it may be; False if not."""
        if self.opens(host):
            return False
        self.hosts.begin(host, is_new=host not in self.met)
        self.met.add(host)
        return True

    def fetch(self, host):
        """A request that is over at once."""
        if is_asked := self.ask(host):
            self.hosts.end(host)
        return is_asked


def many(domain, number):
    return [f"h{n}.{domain}" for n in range(number)]


# --- which hosts belong together -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("evil.com", "evil.com"),
        ("a.b.c.evil.com", "evil.com"),
        ("news.bbc.co.uk", "bbc.co.uk"),
        ("de.wikipedia.org", "wikipedia.org"),
        # Names that are given away: whoever has one has nothing to do with the others.
        ("a.github.io", "a.github.io"),
        ("x.a.github.io", "a.github.io"),
        ("a.blogspot.com", "a.blogspot.com"),
        # Nobody's own.
        ("github.io", ""),
        ("co.uk", ""),
        # Suffixes that nobody has listed are a single label.
        ("a.b.evil.example", "evil.example"),
        ("localhost", ""),
        ("127.0.0.1", ""),
        ("[2001:db8::1]", ""),
    ],
)
def test_a_domain_is_what_somebody_has_registered(host, domain):
    assert registrable_domain(host) == domain


def test_no_list_of_suffixes_is_fetched(monkeypatch, tmp_path):
    monkeypatch.setenv("TLDEXTRACT_CACHE", str(tmp_path / "cache"))

    def no_network(*_args, **_options):
        raise AssertionError("it asks the network")

    monkeypatch.setattr("requests.Session.request", no_network)
    from focused.safety import neighbourhoods

    neighbourhoods._suffixes.cache_clear()
    registrable_domain.cache_clear()
    assert registrable_domain("a.b.co.uk") == "b.co.uk"
    assert not (tmp_path / "cache").exists()


def test_servers_are_told_apart_by_address_and_inner_ones_have_no_ceiling():
    assert address_group("93.184.216.34") != address_group("93.184.216.35")
    assert address_group("2606:2800:220:1::1") == address_group("2606:2800:220:1:ffff::2")
    assert address_group("2606:2800:220:1::1") != address_group("2606:2800:220:2::1")
    assert address_group("") == ""
    assert address_group("127.0.0.1") is address_group("10.1.2.3") is None


# --- requests a second -----------------------------------------------------------------------------------------------


def test_over_any_ten_seconds_a_domain_gets_no_more_than_its_ceiling():
    crawl = Crawl(Ceiling(8, 0, 0))
    asked = []
    for step in range(3_000):  # half a minute, in which somebody wants something of a new host all the time
        crawl.clock.now = 1_000 + step / 100
        if crawl.fetch(f"h{step}.evil.com"):
            asked.append(crawl.clock.now)
    in_ten_seconds = [sum(begin <= time < begin + 10 for time in asked) for begin in asked]
    assert max(in_ten_seconds) <= 8 * 10 + 1
    assert len(asked) >= 0.9 * 8 * 30, "and it gets what it may have"


def test_a_domain_at_its_ceiling_tells_when_it_opens_and_others_are_free():
    crawl = Crawl(Ceiling(4, 0, 0))
    assert crawl.fetch("a.evil.com")
    wait = crawl.opens("b.evil.com")
    assert isinstance(wait, Closed)
    assert wait == crawl.clock.now + 0.25
    assert wait.line == crawl.opens("c.evil.com").line == "domain:evil.com"
    assert crawl.fetch("a.good.com")
    assert crawl.told == {"domain:evil.com": 2}
    crawl.clock.now += 0.25
    assert crawl.fetch("b.evil.com")


def test_requests_beside_the_frontier_take_their_time():
    crawl = Crawl(Ceiling(4, 0, 0))
    crawl.ask("a.evil.com")
    for _ in range(3):
        crawl.hosts.ask_beside("a.evil.com")
    assert crawl.opens("b.evil.com") == crawl.clock.now + 1


# --- requests at once ------------------------------------------------------------------------------------------------


def test_no_more_requests_are_out_at_once_than_the_ceiling_says():
    crawl = Crawl(Ceiling(0, 3, 0))
    assert [crawl.ask(host) for host in many("evil.com", 5)] == [True, True, True, False, False]
    assert crawl.opens("h4.evil.com") == crawl.clock.now + LOOK_AGAIN
    crawl.hosts.end("h1.evil.com")
    assert [crawl.ask(host) for host in many("evil.com", 5)[3:]] == [True, False]


# --- new hosts a minute ----------------------------------------------------------------------------------------------


def test_so_many_hosts_are_met_in_a_minute_and_those_that_are_known_go_on():
    crawl = Crawl(Ceiling(0, 0, 3))
    hosts = many("evil.com", 10)
    assert [crawl.fetch(host) for host in hosts[:4]] == [True, True, True, False]
    assert crawl.opens("h9.evil.com") == crawl.clock.now + MINUTE
    assert crawl.opens("h9.evil.com").line != crawl.opens("h9.evil.com").line.removesuffix(" new"), (
        "a line of their own"
    )
    assert crawl.fetch("h0.evil.com")
    crawl.clock.now += MINUTE
    assert [crawl.fetch(host) for host in hosts[4:8]] == [True, True, True, False]


def test_hosts_that_have_shown_something_relevant_make_room():
    crawl = Crawl(Ceiling(0, 0, 3))
    for host in many("wiki.org", 200):
        assert crawl.fetch(host)
        crawl.hosts.has_shown(host)
    nothing = many("evil.com", 200)
    assert sum(crawl.fetch(host) for host in nothing) == 3


# --- addresses -------------------------------------------------------------------------------------------------------

SERVER, OTHER = "93.184.216.34", "93.184.216.35"


def resolve(crawl, host, address=SERVER):
    assert crawl.hosts.is_unresolved(host)
    return crawl.hosts.resolved(host, address)


def test_domains_at_one_address_share_its_ceiling():
    crawl = Crawl(address=Ceiling(4, 0, 0))
    assert crawl.ask("a.com")
    assert resolve(crawl, "a.com") == 0
    assert not crawl.hosts.is_unresolved("a.com")
    assert crawl.ask("b.com"), "nothing is known of it yet"
    assert resolve(crawl, "b.com") == 0.25, "its address is at its ceiling: it is to go back"
    crawl.hosts.end("b.com")
    assert crawl.opens("b.com").line == f"address:{SERVER}"
    assert crawl.ask("c.com")
    assert resolve(crawl, "c.com", OTHER) == 0
    crawl.clock.now += 0.25
    assert crawl.ask("b.com")


def test_requests_at_once_to_an_address_count_from_when_it_is_known():
    crawl = Crawl(address=Ceiling(0, 2, 0))
    for name in "abc":
        crawl.ask(f"{name}.com")
    assert [resolve(crawl, f"{name}.com") > 0 for name in "abc"] == [False, False, True]
    crawl.hosts.end("c.com")
    assert not crawl.ask("c.com")
    crawl.hosts.end("a.com")
    assert crawl.ask("c.com")
    for name in "bc":
        crawl.hosts.end(f"{name}.com")
    assert crawl.hosts._groups[f"address:{SERVER}"].out == 0


def test_so_many_hosts_are_met_at_an_address_in_a_minute():
    crawl = Crawl(address=Ceiling(0, 0, 2))
    waits = []
    for name in "abcd":
        crawl.ask(f"{name}.com")
        waits.append(resolve(crawl, f"{name}.com"))
        crawl.hosts.end(f"{name}.com")
    assert waits == [0, 0, MINUTE, MINUTE]


def test_an_address_that_is_written_as_one_is_known():
    crawl = Crawl(address=Ceiling(4, 0, 0))
    assert crawl.ask(SERVER)
    assert not crawl.hosts.is_unresolved(SERVER)
    assert not crawl.ask(SERVER)


def test_what_our_user_has_allowed_has_no_ceiling():
    low = Ceiling(1, 1, 1)
    crawl = Crawl(low, low)
    assert all(crawl.ask("127.0.0.1") for _ in range(5))
    assert crawl.ask("wiki.corp.com")
    assert resolve(crawl, "wiki.corp.com", "10.0.0.5") == 0
    assert all(crawl.ask("wiki.corp.com") for _ in range(5))
    crawl.clock.now += 1
    assert crawl.ask("other.corp.com"), "it counts neither as a request that is out, nor as a host that was met"


def test_names_without_an_address_are_looked_up_once():
    crawl = Crawl(Ceiling(1, 0, 0))
    crawl.ask("no.com")
    assert resolve(crawl, "no.com", "") == 0
    assert not crawl.hosts.is_unresolved("no.com")
    assert not crawl.ask("no.com"), "its domain counts all the same"


def test_what_is_remembered_is_bounded_and_nobody_who_waits_is_forgotten(monkeypatch):
    monkeypatch.setattr("focused.safety.neighbourhoods._GROUPS", 100)
    crawl = Crawl(Ceiling(1, 0, 1))
    crawl.hosts._most = 100
    crawl.ask("a.slow.com")
    for n in range(3_000):
        crawl.clock.now += 1
        crawl.fetch(f"d{n}.com")
    assert len(crawl.hosts._groups) <= 300
    assert crawl.hosts._groups["domain:slow.com"].out == 1


# --- settings --------------------------------------------------------------------------------------------------------


def settings(**own):
    return Settings({**DEFAULTS, "DOWNLOAD_DELAY": 1.0, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, **own})


def test_a_ceiling_is_never_below_the_pace_of_one_host():
    domain, _ = ceilings_of(settings())
    assert domain == Ceiling(8.0, 8, 30)
    domain, address = ceilings_of(settings(DOWNLOAD_DELAY=0.02, CONCURRENT_REQUESTS_PER_DOMAIN=20))
    assert (domain.rate, domain.at_once, address.rate, address.at_once) == (50, 20, 50, 20)
    assert ceilings_of(settings(DOWNLOAD_DELAY=0))[0] == Ceiling(0.0, 8, 30)
    none = {name: 0 for name in SETTINGS if name.startswith(("FOCUSED_DOMAIN_", "FOCUSED_ADDRESS_"))}
    assert ceilings_of(settings(**none, CONCURRENT_REQUESTS_PER_DOMAIN=20)) == (ANY, ANY)


def test_a_crawl_has_ceilings_but_not_of_what_was_allowed_nor_of_a_recorded_web():
    def opens(address, **own):
        hosts = neighbours_of(get_crawler(settings_dict=dict(settings(TWISTED_REACTOR_ENABLED=False, **own))))
        for n in range(100):
            hosts.begin(f"h{n}.evil.com", is_new=True)
            hosts.resolved(f"h{n}.evil.com", address)
        return hosts.opens("h.evil.com", is_new=True)[0]

    assert opens(SERVER) > 0
    assert opens("") > 0
    assert opens("127.0.0.1") - monotonic() < 20, "none of them was met, and none is out"
    assert opens(SERVER, FOCUSED_REPLAY_WEB="web.warc.gz") == 0


def test_waits_are_counted_and_each_domain_is_told_once(caplog):
    caplog.set_level("INFO")
    counts = Counter()
    waits = Waits(lambda name, by: counts.update({name: by}))
    for _ in range(5):
        waits("domain:evil.com")
    waits(f"address:{SERVER}", 3)
    assert counts == {
        "focused/domain/waited": 5,
        "focused/domain/full": 1,
        "focused/address/waited": 3,
        "focused/address/full": 1,
    }
    assert ["the domain evil.com" in line for line in caplog.messages] == [True, False]
    for n in range(1_000):
        waits(f"domain:evil{n}.com")
    assert len(caplog.messages) <= 102, "a stranger's domains fill no log"


# --- the order of a frontier in which most hosts wait ----------------------------------------------------------------


class Frontier:
    """The order of links, one a host, and a gate that counts how often it is asked."""

    def __init__(self, crawl, hosts):
        self.crawl, self.names, self.asked = crawl, hosts, 0
        self.table = LinkTable()
        self.table.grow(len(hosts) + 1)
        self.order = LinkOrder(self.table)
        for n, _ in enumerate(hosts, 1):
            self.put(n, n)

    def put(self, link, host, score=None):
        self.table.grow(link + 1)
        self.table.host[link] = host
        self.order.put(link, 1 / (1 + link) if score is None else score)

    def gate(self, host):
        self.asked += 1
        return self.crawl.opens(self.names[host - 1])

    def lease(self, patience=0.0):
        link = self.order.pop(self.crawl.clock.now, self.gate, patience)
        if link is not None:
            self.crawl.fetch(self.names[int(self.table.host[link]) - 1])
        return link


def test_however_many_hosts_wait_a_lease_is_cheap():
    number = 10_000
    frontier = Frontier(Crawl(Ceiling(10, 0, 0)), many("evil.com", number))
    frontier.lease()
    frontier.lease()
    assert frontier.asked <= number + 2, "each is asked about once when it comes"
    frontier.asked, leased = 0, []
    for step in range(2_000):  # twenty seconds of a hundred looks each
        frontier.crawl.clock.now = 1_000 + step / 100
        leased.append(frontier.lease())
    leased = [link for link in leased if link is not None]
    assert len(leased) == pytest.approx(200, abs=10)
    assert frontier.asked <= 3 * len(leased)
    assert leased == sorted(leased), "the best of them go first"


def test_newcomers_do_not_hold_up_the_known_hosts_of_their_domain():
    crawl = Crawl(Ceiling(0, 0, 2))
    frontier = Frontier(crawl, many("evil.com", 100))
    assert [frontier.lease() for _ in range(3)] == [1, 2, None]
    frontier.put(101, 1, 0.001)
    assert frontier.lease() == 101
    assert frontier.order.next_wake() == 1_000 + MINUTE
    crawl.clock.now += MINUTE
    assert [frontier.lease() for _ in range(3)] == [3, 4, None]


def test_poor_links_of_others_do_not_wait_for_a_domain_without_end():
    crawl = Crawl(Ceiling(1, 0, 0))
    frontier = Frontier(crawl, [*many("evil.com", 50), *(f"good{n}.com" for n in range(50))])
    assert frontier.lease(patience=0.9) == 1
    frontier.put(101, 1, 1.0)
    taken = [frontier.lease(patience=0.9) for _ in range(60)]
    assert taken == [*range(51, 101), *[None] * 10]


def test_hosts_in_line_are_served_by_what_they_have_when_their_turn_comes():
    crawl = Crawl(Ceiling(1, 0, 0))
    frontier = Frontier(crawl, many("evil.com", 5))
    assert frontier.lease() == 1
    assert frontier.lease() is None
    frontier.put(6, 5, 0.99)  # its host gets a better link
    frontier.order.remove(2)  # and another one has none any more
    order = []
    for _ in range(6):
        crawl.clock.now += 1
        order.append(frontier.lease())
    assert order == [6, 3, 4, 5, None, None]


@pytest.mark.parametrize("seed", range(20))
def test_nobody_is_forgotten_in_a_line(seed):
    """Whatever happens to links and scores meanwhile, each is served in the end."""
    random = np.random.default_rng(seed)
    crawl = Crawl(Ceiling(2, 0, 0), Ceiling(3, 0, 5))
    hosts = [*many("evil.com", 12), *many("bad.com", 12), *(f"good{n}.com" for n in range(6))]
    for host in hosts[6:18]:
        crawl.hosts.resolved(host, SERVER)
    frontier = Frontier(crawl, hosts)
    waiting = set(range(1, 31))
    last = 30
    for step in range(2_000):
        crawl.clock.now += 0.05
        leased = frontier.lease(patience=float(random.choice([0.0, 0.5])))
        waiting.discard(leased)
        dice = random.integers(12) if step < 500 else 99
        if dice == 0 and waiting:
            gone = int(random.choice(sorted(waiting)))
            frontier.order.remove(gone)
            waiting.discard(gone)
        elif dice in {1, 2}:
            last += 1
            frontier.put(last, int(random.integers(1, 31)), float(random.random()))
            waiting.add(last)
        elif dice == 3:
            rescore(frontier, random)
    assert not waiting
    assert not frontier.order._lines


def rescore(frontier, random):
    from focused.frontier.order import sort

    snapshot = frontier.order.snapshot(len(frontier.table.state))
    frontier.order.adopt(sort(snapshot, random.random(len(snapshot.links)).astype(np.float32)))
