"""A crawl over TLS, by the users that docs/deploy.md gives: they may do what they need, and nothing else."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from redis import Redis
from redis.exceptions import NoPermissionError

from focused.lab.demo.bulk import bulk_web
from focused.lab.redis.server import RedisServer
from focused.lab.redis.workers import CRAWL, Workers
from focused.lab.site.reply import Reply
from focused.lab.site.server import SiteServer

PAGE = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text("utf-8")
USERS = re.findall(r"^ACL SETUSER (?:worker|reader|pusher) .+$", PAGE, re.MULTILINE)
PASSWORD = "sesame-0f"
DAY = timedelta(days=1)


class TlsServer(RedisServer):
    """Also listens on a port with TLS, for which `folder` holds the certificate of the authority, ``ca.pem``."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.tls_port: int = taken.getsockname()[1]
        _write_certificates(folder)
        self.authority = folder / "ca.pem"
        files = ["--tls-cert-file", "server.pem", "--tls-key-file", "server.key", "--tls-ca-cert-file", "ca.pem"]
        where = [str(folder / one) if one.endswith((".pem", ".key")) else one for one in files]
        super().__init__(folder, "--tls-port", str(self.tls_port), "--tls-auth-clients", "no", *where)

    def url_for(self, user: str) -> str:
        """The address with TLS for a user, with the password."""
        return f"rediss://{user}:{PASSWORD}@127.0.0.1:{self.tls_port}/0"


def _write_certificates(folder: Path) -> None:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Redis")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "server.pem").write_bytes(pem)
    (folder / "ca.pem").write_bytes(pem)
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "server.key").write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsServer]:
    folder = tmp_path_factory.mktemp("tls")
    server = TlsServer(folder)
    try:
        server.start()
    except RuntimeError:
        if "tls-port" in (folder / "redis.log").read_text("utf-8", "replace"):
            pytest.skip("this redis-server was built without TLS")
        raise
    with server.client() as client:
        for line in USERS:
            client.execute_command(*line.replace("PASSWORD", PASSWORD).split())
    yield server
    server.__exit__()


def client_of(redis: TlsServer, user: str, **options: Any) -> Redis:
    return Redis.from_url(redis.url_for(user), ssl_ca_certs=str(redis.authority), **options)


def params(redis: TlsServer) -> dict[str, Any]:
    return {"ssl_ca_certs": str(redis.authority)}


def test_a_crawl_and_all_who_read_it_can_do_with_these_users(redis: TlsServer, tmp_path: Path, scrapy: Any):
    web = bulk_web(60, size=2_000, links=8, hosts=4)
    pushed, star = "http://pushed.example/", Reply(body=b"<title>A star</title><p>The star shines on the galaxy.")
    pages = {url: Reply(body=page.body, wait=0.02) for url, page in web.pages.items()}
    settings = {"ROBOTSTXT_OBEY": False, "REDIS_URL": redis.url_for("worker"), "SCHEDULER_FLUSH_ON_START": True}
    seed = next(iter(pages))
    with SiteServer({**pages, pushed: star}) as site:
        arguments = {"topic": "star galaxy telescope", "seeds": seed}
        settings["REDIS_PARAMS"] = json.dumps(params(redis))
        with Workers(tmp_path, redis, site.url, arguments, settings) as workers:
            workers.start(2)
            workers.until(lambda: workers.count("pages") >= 20)
            with client_of(redis, "pusher") as client:
                client.lpush("focused:start_urls", pushed)
            codes = workers.wait()
            logs = [worker.log for worker in workers.started]
    assert codes == [0, 0], logs
    assert not any(re.search("Traceback|NOPERM|no permissions", log) for log in logs)
    assert not any(PASSWORD in log for log in logs)
    assert pushed in site.fetched()
    given = ("-s", f"REDIS_PARAMS={settings['REDIS_PARAMS']}")
    url = redis.url_for("reader")
    for command in (("status", url), ("why", "--job", url), ("why", seed, "--job", url)):
        run = scrapy(*command, *given)
        assert run.returncode == 0, run.stderr
        assert PASSWORD not in run.stdout
    assert scrapy("report", url, "--out", tmp_path / "r.html", *given).returncode == 0
    assert PASSWORD not in (tmp_path / "r.html").read_text("utf-8")
    assert scrapy("export", url, "-o", tmp_path / "all.jsonl", "--learned", tmp_path / "l.npz", *given).returncode == 0
    assert len((tmp_path / "all.jsonl").read_text("utf-8").splitlines()) > 50


@pytest.mark.parametrize("user", ["worker", "reader", "pusher"])
@pytest.mark.parametrize(
    "command",
    [
        *("FLUSHALL", "FLUSHDB", "CONFIG GET requirepass", "ACL LIST", "SHUTDOWN NOSAVE", "KEYS *"),
        *("GET other", "SET other 1", "DEL other", "FUNCTION FLUSH", "SCRIPT FLUSH", "EVAL 'return 1' 0", "MONITOR"),
        *("REPLICAOF 127.0.0.1 1", "CLIENT LIST", "PUBLISH c x", "MODULE LIST", "HSET {other:x}:meta a b"),
    ],
)
def test_they_can_do_nothing_else(redis: TlsServer, user: str, command: str):
    with client_of(redis, user) as client, pytest.raises(NoPermissionError):
        client.execute_command(*command.split())


@pytest.mark.parametrize(
    ("user", "command"),
    [
        ("reader", "HSET {meta} a b"),
        ("reader", "DEL {meta}"),
        ("reader", "LPUSH focused:start_urls a"),
        ("pusher", "HGET {meta} a"),
        ("pusher", "LRANGE focused:start_urls 0 -1"),
    ],
)
def test_whoever_reads_or_pushes_cannot_change_a_crawl(redis: TlsServer, user: str, command: str):
    words = command.replace("{meta}", f"{{focused:{CRAWL}}}:meta").split()
    with client_of(redis, user) as client, pytest.raises(NoPermissionError):
        client.execute_command(*words)


# What the code asks for outside its scripts, on connecting included.
OUTSIDE = {
    "worker": "ping select info fcall function|load hmget hget lrem srem zrem set expire del scan unlink time zcard",
    "reader": "ping select eval_ro scan type get hget hmget hkeys hlen hscan llen lrange scard zcard zrange "
    "memory|usage",
}


@pytest.mark.parametrize(("user", "scripts"), [("worker", "lua"), ("reader", "reading")])
def test_they_may_do_what_the_code_asks_for_and_no_more(user: str, scripts: str):
    folder = Path(__file__).parents[2] / "focused" / "redis" / scripts
    text = "".join(path.read_text("utf-8") for path in folder.glob("*.lua"))
    asked = {name.lower() for name in re.findall(r"(?:call|ask)\('([A-Z]+)'", text)} - {"memory"}
    granted = {name for line in USERS if line.split()[2] == user for name in re.findall(r" \+(\S+)", line)}
    assert granted == asked | {*OUTSIDE[user].split()}


@pytest.mark.parametrize(
    ("url", "options", "words"),
    [
        ("rediss://worker:wrong@127.0.0.1:{port}/0", True, "wants another name or password"),
        ("rediss://127.0.0.1:{port}/0", False, "certificate verify failed"),
        ("redis://worker:sesame-0f@127.0.0.1:{port}/0", False, "does not answer"),
    ],
    ids=["password", "certificate", "no TLS"],
)
def test_what_is_wrong_with_a_connection_is_told_without_the_password(
    redis: TlsServer, scrapy: Any, url: str, options: bool, words: str
):
    given = ("-s", f"REDIS_PARAMS={json.dumps(params(redis))}") if options else ()
    run = scrapy("status", url.format(port=redis.tls_port), *given)
    assert run.returncode == 2
    assert words in run.stderr
    assert "sesame" not in run.stderr
    assert "Traceback" not in run.stderr
