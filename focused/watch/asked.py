"""What a page or a program asks for as JSON: decoded and checked, or refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec
from starlette.requests import Request

T = TypeVar("T")


class Wrong(ValueError):
    """A request that asks for what cannot be."""


def decode(body: bytes, kind: type[T]) -> T:
    """What is in a body; ValueError if it is something else."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ValueError(f"this is not the JSON that is wanted: {error}") from error


async def given(request: Request, read: Callable[[bytes], T]) -> T:
    """What is read from the body of a request; Wrong if it cannot be."""
    try:
        return read(await request.body())
    except ValueError as error:
        raise Wrong(str(error)) from error
