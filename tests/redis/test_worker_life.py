"""What a worker tells and learns: when requests went out, that it is to end, what the critic was shown elsewhere."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from redis.exceptions import AuthenticationError, BusyLoadingError, ResponseError
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import TimeoutError as NoAnswer
from scrapy import Request
from scrapy.settings import Settings

from focused.critics.keywords import KeywordsCritic
from focused.frontier.store import JobRefused, Lease, LinkHost, NewLink, StoreAway
from focused.pages.page import page_from_html
from focused.parts import Parts
from focused.prioritizers.best_first import BestFirst
from focused.redis.server import anew, is_at_work, operation, whose
from focused.redis.store import FORMAT, RedisStore
from focused.redis.workers.connection import connect, crawl_name, server_name, start_urls_key
from focused.redis.workers.departures import Departures
from focused.redis.workers.ending import Ending
from focused.redis.workers.opening import check_job, join
from focused.scheduling.engine import Pace
from focused.topics.topic import Topic
from focused.visits.seeds import CRITIC_STATE, learn_from_seed
from tests.redis.versions import Version


class Engine:
    """What `Departures` asks the engine for."""

    def __init__(self):
        self.out, self.last = set(), 0.0

    def is_out(self, request):
        return request in self.out

    def pace(self, host):
        return Pace(2.5, 4, self.last)


@pytest.fixture
def engine():
    return Engine()


@pytest.fixture
def told():
    return []


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=1_000.0)
    monkeypatch.setattr("focused.redis.workers.departures.monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def departures(engine, told, clock):
    return Departures(engine, SimpleNamespace(sent=lambda *what: told.append(what)))


def out(token, host):
    return Lease(token, 1, f"http://{host}/", LinkHost(1, host, 0))


def test_a_request_is_told_when_it_has_gone_out_and_not_before(departures, engine, told, clock):
    request = Request("http://a.example/")
    departures.watch(out(7, "a.example"), request)
    assert departures.look(), "it is still here"
    assert not told
    engine.out.add(request)
    engine.last = clock.now
    clock.now += 0.03
    assert not departures.look()
    ((lease, delay, concurrency, ago),) = told
    assert (lease.token, delay, concurrency) == (7, 2.5, 4)
    assert ago == pytest.approx(0.03)
    departures.came_back(7)
    assert len(told) == 1


def test_a_request_that_came_back_before_anybody_looked_is_told_then(departures, engine, told, clock):
    departures.watch(out(7, "a.example"), Request("http://a.example/"))
    engine.last = clock.now
    departures.came_back(7)
    assert [what[0].token for what in told] == [7]


def test_of_a_worker_that_was_too_busy_to_look_nobody_believes_that_it_sent_at_once(departures, engine, told, clock):
    departures.watch(out(7, "a.example"), Request("http://a.example/"))
    engine.last = clock.now
    clock.now += 60
    departures.came_back(7)
    assert told[0][3] < 0.1


def test_of_a_request_for_which_its_host_was_never_asked_nothing_is_told(departures, engine, told, clock):
    engine.last = clock.now - 60
    departures.watch(out(7, "a.example"), Request("http://a.example/"))
    departures.came_back(7)
    assert not told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_known_at_once_and_passed_on(number):
    heard = []
    before = signal.signal(number, lambda *_: heard.append(number))
    own = signal.getsignal(number)
    try:
        ending = Ending()
        ending.listen()
        assert not ending.is_asked
        os.kill(os.getpid(), number)
        assert ending.is_asked
        assert heard == [number]
        ending.stop()
        assert signal.getsignal(number) is own
    finally:
        signal.signal(number, before)


# --- the critic ------------------------------------------------------------------------------------------------------


@pytest.fixture
def parts_of_worker(redis):
    opened = []

    def make(name):
        store = RedisStore(redis.client(), "test", name, BestFirst())
        opened.append(store)
        critic = KeywordsCritic(keywords=["star", "galaxy"])
        return SimpleNamespace(critic=critic, store=store)

    yield make
    for store in opened:
        store.abandon()


def seed(number):
    words = " ".join(f"telescope nebula supernova word{number} star" for _ in range(20))
    return page_from_html(f"<html><body><p>{words}</p></body></html>".encode(), f"http://seed{number}.example/")


def test_seeds_that_two_workers_met_are_known_to_the_critic_of_both(parts_of_worker):
    one, other = parts_of_worker("one"), parts_of_worker("other")
    learn_from_seed(one.critic, one.store, seed(1))
    learn_from_seed(other.critic, other.store, seed(2))
    learn_from_seed(one.critic, one.store, seed(3))
    assert list(one.critic.state()["seeds"]) == [f"http://seed{n}.example/" for n in (1, 2, 3)]
    before = other.store.standing().revised
    other.store.beat()
    assert other.store.standing().revised > before, "that there is news is told with each sign of life"
    assert '"http://seed3.example/"' in other.store.noted(CRITIC_STATE)


def test_seeds_that_two_workers_meet_at_the_same_moment_are_both_kept(parts_of_worker):
    one, other = parts_of_worker("one"), parts_of_worker("other")
    noted = one.store.noted

    def noted_and_then_overtaken(key):
        kept = noted(key)
        one.store.noted = noted
        learn_from_seed(other.critic, other.store, seed(2))
        return kept

    one.store.noted = noted_and_then_overtaken
    learn_from_seed(one.critic, one.store, seed(1))
    assert sorted(one.critic.state()["seeds"]) == ["http://seed1.example/", "http://seed2.example/"]
    assert one.store.noted(CRITIC_STATE).count(".example") == 2


def test_who_joins_late_judges_by_the_newest_critic(redis):
    settings = Settings({"REDIS_URL": redis.url}, priority="project")

    def join_with(critic):
        parts = Parts(Topic(name="birds"), critic, BestFirst(critic=critic), trainer=None, scope=None, limits=None)
        return parts, join(parts, settings, lambda: False)

    _, first = join_with(Version())
    assert first._pool.publish_critic(Version(1), 25)
    late, store = join_with(Version())
    assert late.critic.version == store.prioritizer.critic.version == 1
    for each in (first, store):
        each.close()


# --- where it is -----------------------------------------------------------------------------------------------------


def test_a_crawl_is_named_after_its_topic_unless_it_is_named():
    topic = SimpleNamespace(name="Rock climbing")
    assert crawl_name(topic, Settings()) == "rock-climbing"
    assert crawl_name(topic, Settings({"FOCUSED_CRAWL": "mine.2"})) == "mine.2"
    for wrong in ("{a}", "a*", "ä", "a" * 101):
        with pytest.raises(JobRefused, match="FOCUSED_CRAWL"):
            crawl_name(topic, Settings({"FOCUSED_CRAWL": wrong}))


def test_the_list_of_seeds_is_called_as_scrapy_redis_calls_it():
    assert start_urls_key("focused", "stars", Settings()) == "focused:start_urls"
    own = Settings({"REDIS_START_URLS_KEY": "%(name)s/%(crawl)s"})
    assert start_urls_key("focused", "stars", own) == "focused/stars"


def test_passwords_are_not_shown():
    assert server_name(Settings({"REDIS_URL": "rediss://me:secret@h:1/2?password=secret"})) == "rediss://h:1/2"


def test_an_address_that_is_none_is_shown_as_it_was_typed():
    for typed in ("127.0.0.1:6391", "localhost:6391", "localhost"):
        assert server_name(Settings({"REDIS_URL": typed})) == typed
    assert server_name(Settings({"REDIS_URL": "me:secret@h:1?password=secret"})) == "h:1"


def test_options_that_cannot_be_read_are_told_without_what_may_be_a_password():
    for wrong in ("secret", '{"password": "secret"', "[1]"):
        with pytest.raises(JobRefused, match="REDIS_PARAMS cannot be read as a JSON object") as told:
            connect(Settings({"REDIS_PARAMS": wrong}))
        assert "secret" not in str(told.value)


def test_the_users_own_options_go_before_ours(redis):
    settings = Settings(
        {"REDIS_URL": redis.url, "REDIS_PARAMS": {"socket_timeout": 77}, "REDIS_DECODE_RESPONSES": True}
    )
    settings.freeze()
    with connect(settings) as client:
        assert client.connection_pool.connection_kwargs["socket_timeout"] == 77
        client.set("key", "value")
        assert client.get("key") == b"value"


def test_a_cluster_can_be_named(redis_cluster):
    params = {"redis_cls": "redis.cluster.RedisCluster"}
    with connect(Settings({"REDIS_URL": redis_cluster.url, "REDIS_PARAMS": params})) as client:
        store = RedisStore(client, "test", "one", BestFirst())
        store.beat()
        assert is_at_work(client, "test")
        assert whose(client, "test", "format") == str(FORMAT)
        store.server.call([operation("leave")])
        assert not is_at_work(client, "test")
        with anew(client, "test", lambda: False) as is_first:
            assert is_first
        assert not client.exists("{focused:test}:meta")


def test_a_worker_whose_critic_was_trained_apart_is_refused(redis):
    settings = Settings({"REDIS_URL": redis.url}, priority="project")
    topic = Topic(name="birds")

    def join_with(trained):
        critic = KeywordsCritic(keywords=["bird"])
        critic.trained = trained
        parts = Parts(topic, critic, BestFirst(), trainer=None, scope=None, limits=None)
        return join(parts, settings, lambda: False)

    one, same = join_with("1a2b"), join_with("1a2b")
    apart = "made with a critic of the training '1a2b', this one has '3c4d'"
    with pytest.raises(JobRefused, match=apart):
        join_with("3c4d")
    critic = KeywordsCritic(keywords=["bird"])
    critic.trained = "3c4d"
    with pytest.raises(JobRefused, match=apart):
        check_job(topic, settings, BestFirst(), critic)
    critic.trained = "1a2b"
    check_job(topic, settings, BestFirst(), critic)
    for store in (one, same):
        store.close()


def test_who_begins_anew_is_alone_until_it_is_at_work(redis):
    with redis.client() as client, ThreadPoolExecutor() as pool:
        store = RedisStore(client, "test", "old", BestFirst())
        store.admit(None, [NewLink("http://old.example/", "old.example")])
        store.commit()
        store.server.call([operation("leave")])

        def begin():
            with redis.client() as own, anew(own, "test", lambda: False) as is_first:
                return is_first

        with anew(client, "test", lambda: False) as is_first:
            assert is_first
            assert not client.exists("{focused:test}:meta")
            second = pool.submit(begin)
            with pytest.raises(TimeoutError):
                second.result(0.3)
            store = RedisStore(client, "test", "new", BestFirst())
            store.beat()
            assert second.result(10) is False, "it joins"
        assert is_at_work(client, "test")
        assert begin() is False
        assert not client.exists("{focused:test}/anew")


def test_a_server_that_throws_keys_away_is_told_of(redis, caplog):
    settings = Settings({"REDIS_URL": redis.url}, priority="project")
    parts = Parts(Topic(name="birds"), KeywordsCritic(keywords=["bird"]), BestFirst(), None, None, None)
    with redis.client() as client:
        for policy, is_told in (("noeviction", False), ("allkeys-lru", True)):
            client.config_set("maxmemory", 100_000_000)
            client.config_set("maxmemory-policy", policy)
            try:
                join(parts, settings, lambda: False).close()
            finally:
                client.config_set("maxmemory", 0)
                client.config_set("maxmemory-policy", "noeviction")
            assert ("set its maxmemory-policy to noeviction" in caplog.text) == is_told


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (BusyLoadingError("LOADING"), StoreAway, "is loading its data: try again"),
        (
            NoConnection("refused"),
            StoreAway,
            r"at redis://h:1/0 \(refused\): start it, or give .*REDIS_URL=redis://HOST",
        ),
        (NoAnswer("slow"), StoreAway, "does not answer"),
        (AuthenticationError("WRONGPASS"), JobRefused, "wants another name or password"),
        (
            ResponseError("DB index is out of range"),
            JobRefused,
            "DB index is out of range: give REDIS_URL=redis://HOST:PORT/DB with",
        ),
    ],
)
def test_who_does_not_answer_may_later_and_who_refuses_will_again(monkeypatch, error, kind, words):
    def fails(settings):
        raise error

    monkeypatch.setattr("focused.redis.workers.connection.get_redis_from_settings", fails)
    with pytest.raises(JobRefused, match=words) as told:
        connect(Settings({"REDIS_URL": "redis://:secret@h:1/0"}))
    assert type(told.value) is kind
    assert "secret" not in str(told.value)
