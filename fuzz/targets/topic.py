"""A stranger's topic file, and the table of examples beside it, set apart by a zero byte.

Held: only TopicError comes out, with a sentence for each mistake; a topic that is read sets nothing but what is
harmless, names parts that have short names, and reads nothing outside its folder; its name makes a safe folder.
"""

from __future__ import annotations

import re
from atexit import register
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from focused.addresses import to_url
from focused.registry import names
from focused.topics import library
from focused.topics.examples import read_examples
from focused.topics.identity import fingerprint, slug
from focused.topics.settings import HARMLESS
from focused.topics.topic import TopicError, load_topic

TOPIC = """
name = "moons"
description = "what goes round"
keywords = ["moon", "red planet", "月"]
seeds = ["http://a.example/", "https://b.example/x?y=1"]
examples = "examples.tsv"
focus = ["Science.Moons"]
allowed_hosts = ["a.example", "münchen.example"]
[critic]
name = "logistic"
[prioritizer]
name = "best-first"
combine = "max"
[settings]
FOCUSED_PATIENCE = 0.5
FOCUSED_SAVE_EVERY = 10
"""
EXAMPLES = (
    "class\turl\tfile\ttext\tfold\nScience.Moons\thttp://a.example/1\t\t\t1\nOther\t\t\twords of a page\t2\n"
    "Other\t\ttopic.toml\t\n"
)
PIECES = (
    *(
        'name = ""',
        "keywords = 3",
        "keywords = [1, [2]]",
        'seeds = ["x"]',
        "[settings]\nEXTENSIONS = {a = 1}",
        "[settings]\nFOCUSED_PATIENCE = -1",
        "a.b.c = {d = [[1]]}",
    ),
    *(
        "name = 1979-05-27T07:32:00Z",
        'examples = "../x"',
        'examples = "/dev/zero"',
        'examples = "\\u0000"',
        "[[critic]]",
        "x = " + "9" * 500,
    ),
    *(
        "x = " + "[" * 400 + "]" * 400,
        "focus = ['nothing']",
        'name = "\ufeffmoon"',
        "[critic]\nname = 'os.system'",
        "x = inf\ny = nan",
    ),
    *(
        "name = '''\nmoon\n'''",
        "[prioritizer]\nname = 3",
        "settings = 1",
        '"" = 1',
        "name = '../../etc'",
        'name = "..."',
        "x = 0o777",
    ),
)
# Line ends separate the mistakes.
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def seeds() -> Iterator[bytes]:
    yield f"{TOPIC}\0{EXAMPLES}".encode()
    for piece in PIECES:
        yield f"{piece}\n{TOPIC}\0{EXAMPLES}".encode()
        yield f"{piece}\n".encode()
        yield f'name = "moons"\nseeds = ["http://a.example/"]\n{piece}'.encode()
    for table in (
        EXAMPLES[5:],
        EXAMPLES * 2,
        "class\ttext\n.\tx\na\t",
        "class\turl\turl\n",
        "",
        "\ufeffclass\ttext\r\na\tb\r\n",
    ):
        yield f"{TOPIC}\0{table}".encode()
    for name in library.shipped_topics():
        yield library.read_bytes(f"{library.SHIPPED}{name}.toml")[:6_000]


@cache
def folder() -> Path:
    """Where the files are, for as long as the process lives."""
    made = Path(mkdtemp(prefix="focused-fuzz-"))
    register(rmtree, made)
    return made.resolve()


def check(data: bytes) -> None:
    topic_file, _, table = data.partition(b"\0")
    path = folder() / "topic.toml"
    path.write_bytes(topic_file)
    (folder() / "examples.tsv").write_bytes(table)
    try:
        topic = load_topic(str(path), trusted=False)
        examples = read_examples(topic) if topic.examples else []
    except TopicError as error:
        check_error(error)
        return
    assert re.fullmatch(r"[a-z0-9-]{1,80}", slug(topic)), slug(topic)
    fingerprint(topic)
    assert all(to_url(seed) == seed for seed in topic.seeds)
    assert set(topic.settings) <= HARMLESS
    for part, table_of in (("critic", topic.critic), ("prioritizer", topic.prioritizer)):
        assert table_of.get("name", "") in {"", *names(part)}
    files = [topic.examples, *(example.file for example in examples)]
    assert all(Path(file).is_relative_to(folder()) for file in files if file)


def check_error(error: TopicError) -> None:
    assert error.problems
    assert all(problem.strip() for problem in error.problems), error.problems
    # What it quotes is shown on terminals.
    assert not _CONTROL.search(str(error)), str(error)
