"""What may be done to a key of a crawl in Redis by somebody else."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from redis import Redis


def delete(client: Redis, key: str) -> None:
    client.delete(key)


def retype(client: Redis, key: str) -> None:
    kind = client.type(key)
    client.delete(key)
    if kind == b"string":
        client.rpush(key, "another type")
    else:
        client.set(key, "another type")


def scramble(client: Redis, key: str) -> None:
    _fill(client, key, Random(key).randbytes)


def bloat(client: Redis, key: str) -> None:
    _fill(client, key, lambda size: Random(key).randbytes(4_000_000), most=1)


def _fill(client: Redis, key: str, make: Callable[[int], bytes], most: int | None = None) -> None:
    """Other values under the same fields, other members with the same scores."""
    kind = client.type(key)
    if kind == b"hash":
        for field in client.hkeys(key)[:most]:
            client.hset(key, field, make(40))
    elif kind == b"zset":
        for entry in client.zrange(key, 0, -1, withscores=True)[:most]:
            client.zrem(key, entry[0])
            client.zadd(key, {make(4): entry[1]})
    elif kind == b"set":
        size = client.scard(key)
        client.delete(key)
        client.sadd(key, *[make(4) for _ in range(size)][:most])
    elif kind == b"list":
        for at in range(client.llen(key))[:most]:
            client.lset(key, at, make(40))
    else:
        client.set(key, make(80))


DAMAGES = [delete, retype, scramble, bloat]
