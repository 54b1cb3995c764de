"""Serves the page: one port, one process, nothing logged but what is wrong."""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

from starlette.types import ASGIApp
from uvicorn import Config, Server

from focused.watch.app import make_app
from focused.watch.crawls import WatchedCrawls
from focused.watch.drafts import Drafts
from focused.watch.guard import Guard

_MOST_AT_ONCE = 200
_SHORTEST_TOKEN = 20


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; ValueError if the port is taken, or the host is not one of this machine's."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise ValueError(f"--host {host!r} is not an address of this machine ({error.strerror})") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise ValueError(
            f"port {port} on {host} cannot be used ({error.strerror}): give another --port, or 0 for any that is free"
        ) from error
    return listening


def token_in(file: str | None) -> str:
    """The token in a file, which is made if it is not there, for its owner alone; without one a new token."""
    if file is None:
        return secrets.token_urlsafe(32)
    path = Path(file)
    with suppress(FileExistsError), open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
        new.write(f"{secrets.token_urlsafe(32)}\n")
    if path.stat().st_mode & 0o077:
        raise ValueError(f"--token-file {file!r} can be read by others: chmod 600 {file}")
    token = path.read_text("ascii").strip()
    if len(token) < _SHORTEST_TOKEN or not token.replace("-", "").replace("_", "").isalnum():
        raise ValueError(f"--token-file {file!r}: give one token of {_SHORTEST_TOKEN} letters and digits or more")
    return token


def address_of(listening: socket.socket, host: str, token: str) -> str:
    """The address to open in a browser."""
    name = "localhost" if is_everywhere(host) else f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}/?token={token}"


def is_everywhere(host: str) -> bool:
    """Is it all addresses of this machine?"""
    with suppress(ValueError):
        return ip_address(host).is_unspecified
    return False


def serve(crawls: WatchedCrawls, listening: socket.socket, host: str, token: str, drafts: Drafts | None = None) -> None:
    """Answer until the process is interrupted. Where there are ``drafts``, crawls can be begun."""
    server: list[Server] = []
    app = make_app(crawls, lambda: server[0].should_exit, drafts)
    server.append(Server(config_of(Guard(app, token, listening.getsockname()[1], names_of(host)))))
    try:
        server[0].run(sockets=[listening])
    finally:
        if drafts is not None:
            drafts.close()


def names_of(host: str) -> list[str]:
    """What a server is called that listens on an address."""
    return [host, *((socket.gethostname(), socket.getfqdn()) if is_everywhere(host) else ())]


def config_of(guarded: ASGIApp) -> Config:
    """How an application is served."""
    return Config(
        guarded,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_AT_ONCE,
        timeout_graceful_shutdown=10,
    )
