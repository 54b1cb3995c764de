"""Joining a crawl in Redis: as its first worker or as one more, with what the crawl knows so far."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from secrets import token_hex
from socket import gethostname

from redis import Redis
from redis.exceptions import ResponseError
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from focused.critics.base import Critic
from focused.defaults import read
from focused.frontier.store import JobRefused
from focused.job import OpenJob
from focused.parts import Parts
from focused.prioritizers.base import Prioritizer
from focused.redis.inbox import RedisInbox
from focused.redis.server import anew, is_at_work, whose
from focused.redis.store import RedisStore, of_another
from focused.redis.workers.connection import connect, crawl_name, server_name, start_urls_key
from focused.redis.workers.ending import Ending
from focused.redis.workers.learning import PooledTraining
from focused.redis.workers.membership import Membership
from focused.redis.workers.neighbours import SharedNeighbours
from focused.redis.workers.questions import SharedCandidates
from focused.safety.neighbourhoods import Neighbours, Waits
from focused.scheduling.engine import EngineAccess
from focused.scheduling.neighbours import ceilings_of
from focused.scheduling.resume import identity_of, store_options, take_up
from focused.topics.topic import Topic

logger = logging.getLogger(__name__)


def check_job(topic: Topic, settings: BaseSettings, prioritizer: Prioritizer, critic: Critic) -> None:
    """JobRefused if a crawl cannot be joined; nothing is changed."""
    crawl = crawl_name(topic, settings)
    start_urls_key("focused", crawl, settings)
    with connect(settings) as client:
        if settings.getbool("SCHEDULER_FLUSH_ON_START") and not is_at_work(client, crawl):
            return
        try:
            _check_identity(client, crawl, _shared_identity(topic, prioritizer, critic))
        except ResponseError as error:
            raise JobRefused(f"Redis at {server_name(settings)} refuses: {error}") from error


def _check_identity(client: Redis, crawl: str, identity: Mapping[str, str]) -> None:
    for what, mine in identity.items():
        kept = whose(client, crawl, what)
        if kept not in {None, mine}:
            raise of_another(crawl, what, str(kept), mine)


def open_job(crawler: Crawler, parts: Parts) -> OpenJob:
    """One worker's part in the crawl that the settings and the topic name."""
    engine, ending = EngineAccess(crawler), Ending()

    def is_ending() -> bool:
        """Is there nothing left to wait for a store that is away for?"""
        is_broken = parts.frontier is not None and parts.frontier.is_broken
        return ending.is_asked or is_broken or engine.is_closing()

    store = join(parts, crawler.settings, is_ending)
    company = Membership(crawler, parts, store, ending)
    store.server.tell_of_wait = Waits(crawler.stats.inc_value)
    neighbours = SharedNeighbours(store) if ceilings_of(crawler.settings) else Neighbours()
    candidates = SharedCandidates(store)
    inbox = RedisInbox(store.server.client, store.server.crawl, store.server.read)
    training = PooledTraining(parts, store)
    name = f"{server_name(crawler.settings)} --crawl {store.server.crawl}"
    return OpenJob(store, training, company, candidates=candidates, inbox=inbox, neighbours=neighbours, name=name)


def join(parts: Parts, settings: BaseSettings, is_ending: Callable[[], bool]) -> RedisStore:
    """Join the crawl that the settings and the topic name; JobRefused if it is another's."""
    client, crawl = connect(settings), crawl_name(parts.topic, settings)
    _warn_of_eviction(client)
    begins_anew = settings.getbool("SCHEDULER_FLUSH_ON_START")
    with anew(client, crawl, is_ending) if begins_anew else nullcontext(True) as is_first:
        if not is_first:
            logger.info("SCHEDULER_FLUSH_ON_START: others are at work on %r already; it is joined", crawl)
        return _join(parts, settings, client, is_ending)


def _warn_of_eviction(client: Redis) -> None:
    """A server that throws keys away when it is full leaves a crawl of which parts are missing."""
    # Who may not ask is not told.
    with suppress(ResponseError):
        memory = client.info("memory")
        if memory.get("maxmemory") and memory.get("maxmemory_policy") != "noeviction":
            logger.warning(
                "Redis will throw parts of this crawl away when it is full: set its maxmemory-policy to noeviction"
            )


def _join(parts: Parts, settings: BaseSettings, client: Redis, is_ending: Callable[[], bool]) -> RedisStore:
    crawl = crawl_name(parts.topic, settings)
    store = RedisStore(
        client,
        crawl,
        f"{gethostname()}-{os.getpid()}-{token_hex(3)}",
        parts.prioritizer,
        identity=_shared_identity(parts.topic, parts.prioritizer, parts.critic),
        most_anew=read(settings, "FOCUSED_LESSONS_ANEW") if parts.critic.is_learning else 0,
        most_waiting=read(settings, "FOCUSED_MOST_WAITING"),
        lease_seconds=read(settings, "FOCUSED_LEASE_SECONDS"),
        redis_patience=read(settings, "FOCUSED_REDIS_PATIENCE"),
        ceilings=ceilings_of(settings),
        is_ending=is_ending,
        **store_options(parts, settings),
    )
    try:
        what = f"what the crawl {crawl!r} has learned"
        take_up(parts, store, settings, what=what, instead="give it another name (FOCUSED_CRAWL)")
        # From now on it is seen to be at work.
        store.beat()
    except BaseException:
        store.close()
        raise
    standing = store.standing()
    logger.info(
        "Worker %s joins the crawl %r in Redis: %d pages, %d links waiting, %d in progress elsewhere; "
        "`scrapy status %s` shows its status",
        store.server.worker,
        crawl,
        standing.pages,
        standing.waiting,
        standing.leased_elsewhere,
        server_name(settings),
    )
    return store


def _shared_identity(topic: Topic, prioritizer: Prioritizer, critic: Critic) -> dict[str, str]:
    """What must be the same for all workers. They must judge alike: by the same file, if the critic was taught."""
    training = {"a critic of the training": critic.trained} if critic.trained else {}
    return {**identity_of(topic, prioritizer, critic), **training}
