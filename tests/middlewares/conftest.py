"""A server whose answers a test writes down, and small crawls in a process of their own."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

TINY = Path(__file__).with_name("tiny_crawls.py")
PAGE = b"<html><head><title>A page</title></head><body><p>Some words.</p></body></html>"


class Server:
    """``answers`` maps a path to (status, headers, body), or to a list of those, of which the last is repeated."""

    def __init__(self):
        self.answers = {"/": (200, {"Content-Type": "text/html"}, PAGE)}
        self.seen = []
        self.sent = 0
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.port = self._http.server_address[1]
        self.root = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self):
        self._http.shutdown()
        self._http.server_close()

    def answer_to(self, path):
        known = self.answers.get(path, (404, {"Content-Type": "text/html"}, b"<html>no</html>"))
        if isinstance(known, list):
            return known.pop(0) if len(known) > 1 else known[0]
        return known


def handler_of(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            server.seen.append(self.path)
            status, headers, body = server.answer_to(self.path)
            self.send_response(status)
            chunked = headers.get("Transfer-Encoding") == "chunked"
            for name, value in headers.items():
                self.send_header(name, value)
            if not chunked:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            try:
                self._send(body, chunked)
            except OSError:
                self.close_connection = True

        def _send(self, body, chunked):
            for at in range(0, len(body), 65536):
                piece = body[at : at + 65536]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
                server.sent += len(piece)
            if chunked:
                self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *args):
            pass

    return Handler


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


class Crawled:
    def __init__(self, told):
        self.ends = told["ends"]
        self.stats = told["stats"]
        self.log = told["log"]

    @property
    def errors(self):
        return [end.get("error") for end in self.ends]

    @property
    def only(self):
        assert len(self.ends) == 1, (self.ends, self.log)
        return self.ends[0]


@pytest.fixture(scope="session")
def crawler_process():
    """One process for all the small crawls: starting one takes longer than a crawl."""
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        [sys.executable, str(TINY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    yield process
    process.stdin.close()
    process.wait(10)
    process.stdout.close()


@pytest.fixture
def crawl(crawler_process):
    def run(*urls, **orders):
        crawler_process.stdin.write(json.dumps({"urls": urls, **orders}) + "\n")
        crawler_process.stdin.flush()
        return Crawled(json.loads(crawler_process.stdout.readline()))

    return run
