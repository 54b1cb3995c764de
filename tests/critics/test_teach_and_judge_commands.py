"""``scrapy teach`` and ``scrapy judge``, as real processes, against a web on loopback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from scrapy.settings import Settings

from focused.lab.site.reply import Reply, SiteRequest
from focused.lab.site.server import SiteServer
from focused.teaching.plan import ExampleSource, plan_teaching
from focused.testing.toys import BIRDS, MEALS, STARS
from focused.topics.topic import load_topic

ROOT = Path(__file__).parent.parent.parent
HOST = "http://web.example"


def html(text: str) -> str:
    return f"<html><head><title>A page</title></head><body><p>{text}</p></body></html>"


@pytest.fixture
def site() -> Iterator[SiteServer]:
    kinds = {"birds": BIRDS, "stars": STARS, "meals": MEALS}
    pages = {f"/{kind}/{i}": html(text) for kind, texts in kinds.items() for i, text in enumerate(texts)}
    with SiteServer(pages) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"{HOST}/{kind}/{i}\tnature.{kind}\t{i % 2}" for kind in ("birds", "stars") for i in range(4)]
    rows += [f"{HOST}/meals/{i}\tmeals\t{i % 2}" for i in range(4)]
    (tmp_path / "birds.tsv").write_text("\n".join(["url\tclass\thalf", *rows]) + "\n")
    write_topic(tmp_path)
    return tmp_path


def write_topic(folder: Path, **values: object) -> None:
    topic = {"name": "birds", "examples": "birds.tsv", "focus": ["nature.birds"]} | values
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in topic.items() if value)
    (folder / "birds.toml").write_text(text)


def scrapy(folder: Path, *args: str, proxy: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scrapy", *args, "-s", "DOWNLOAD_DELAY=0", "-s", "RETRY_ENABLED=0"]
    values = {"FOCUSED_MODELS": str(folder / "models"), "http_proxy": proxy, "no_proxy": ""} | environment
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | values, capture_output=True, text=True, check=False, timeout=280
    )


def card(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "models" / "birds" / "card.json").read_text())
    return found


def test_teach_then_judge(site: SiteServer, folder: Path) -> None:
    topic = str(folder / "birds.toml")
    done = scrapy(folder, "teach", topic, proxy=site.url)
    assert done.returncode == 0, done.stderr
    for told in ("critic 'combined'", "12: ", "precision", "words for", "written to"):
        assert told in done.stdout
    assert "fetched" in done.stderr, "progress, as lines"
    assert card(folder)["examples"] == {"meals": 4, "nature.birds": 4, "nature.stars": 4}
    assert any(visit.url.endswith("/robots.txt") for visit in site.visits)

    (folder / "cake.html").write_text(html(MEALS[1]))
    done = scrapy(folder, "judge", topic, f"{HOST}/birds/0", str(folder / "cake.html"), proxy=site.url)
    assert done.returncode == 0, done.stderr
    relevance = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("  relevance")]
    assert relevance[0] > 0.5 > relevance[1]
    assert "nature.birds" in done.stdout
    assert "for  " in done.stdout


def test_examples_that_cannot_be_had_are_counted(site: SiteServer, folder: Path) -> None:
    for i in range(2):
        del site.pages[f"/meals/{i}"]  # type: ignore[attr-defined]
    done = scrapy(folder, "teach", str(folder / "birds.toml"), proxy=site.url)
    assert done.returncode == 0, done.stderr
    assert "not fetched    2: HTTP 404 2" in done.stdout
    assert card(folder)["unreachable"] == {"HTTP 404": 2}


def test_a_host_that_asks_for_a_moment_gets_it(site: SiteServer, folder: Path) -> None:
    asked: list[str] = []

    def busy_once(visit: SiteRequest) -> Reply:
        asked.append(visit.url)
        if len(asked) == 1:
            return Reply(status=429, headers={"Retry-After": "1"}, body=b"later")
        return Reply(body=html(BIRDS[0]).encode())

    site.pages["/birds/0"] = busy_once  # type: ignore[index]
    done = scrapy(folder, "teach", str(folder / "birds.toml"), proxy=site.url)
    assert done.returncode == 0, done.stderr
    assert card(folder)["unreachable"] == {}
    assert len(asked) == 2


def test_other_examples_and_focus_and_some_held_out(site: SiteServer, folder: Path) -> None:
    (folder / "birds.tsv").rename(folder / "other.tsv")
    write_topic(folder, examples="", focus=[], keywords=["owl"])
    options = ["--examples", str(folder / "other.tsv"), "--focus", "nature", "--hold-out", "half=1"]
    topic = str(folder / "birds.toml")
    done = scrapy(folder, "teach", topic, *options, "--critic", "naive-bayes", proxy=site.url)
    assert done.returncode == 0, done.stderr
    found = card(folder)
    assert found["critic"] == "naive-bayes"
    assert found["examples"] == {"meals": 2, "nature.birds": 2, "nature.stars": 2}
    assert found["source"]["hold_out"] == {"half": "1"}  # type: ignore[index]
    done = scrapy(folder, "judge", topic, f"{HOST}/stars/0", proxy=site.url)
    assert done.returncode == 0, "the topic is found by what the user wrote, whatever it was taught with"


def test_examples_at_hand_need_no_web(folder: Path) -> None:
    (folder / "owl.html").write_bytes(html("Der Uhu ist ein Vogel: schön, größer als andere").encode("latin-1"))
    rows = [f"birds\t\t{text}" for text in BIRDS] + [f"meals\t\t{text}" for text in MEALS] + ["birds\towl.html\t"]
    (folder / "birds.tsv").write_text("\n".join(["class\tfile\ttext", *rows]) + "\n")
    write_topic(folder, focus=["birds"])
    done = scrapy(folder, "teach", str(folder / "birds.toml"), proxy="http://127.0.0.1:9")
    assert done.returncode == 0, done.stderr
    assert card(folder)["examples"] == {"birds": 5, "meals": 4}


NOT_PAGES = {
    "tool": (b"\x7fELF\x02\x01\x01" + bytes(90), "not HTML"),
    "owls.gz": (b"\x1f\x8b\x08\x00" * 40, "not HTML"),
    "empty.html": (b"", "empty"),
    "blank.html": (b" \n", "empty"),
}


def test_files_that_are_no_pages_are_not_judged(folder: Path) -> None:
    write_topic(folder, examples="", focus=[], keywords=["owl"])
    for name, (body, _) in NOT_PAGES.items():
        (folder / name).write_bytes(body)
    (folder / "owl.html").write_bytes(html("An owl: größer").encode("utf-16"))
    given = [str(folder / name) for name in [*NOT_PAGES, "owl.html"]]
    done = scrapy(folder, "judge", str(folder / "birds.toml"), *given)
    assert done.returncode == 1, "as for pages that could not be had"
    told = [f"{folder / name}\n  not judged: {why}\n" for name, (_, why) in NOT_PAGES.items()]
    assert done.stdout.startswith("".join(told))
    assert f"{folder / 'owl.html'}\n  relevance " in done.stdout


def test_files_that_are_no_pages_are_not_taught(folder: Path) -> None:
    for name, (body, _) in NOT_PAGES.items():
        (folder / name).write_bytes(body)
    rows = [f"birds\t\t{text}" for text in BIRDS] + [f"meals\t\t{text}" for text in MEALS]
    (folder / "birds.tsv").write_text(
        "\n".join(["class\tfile\ttext", *rows, *(f"birds\t{one}\t" for one in NOT_PAGES)])
    )
    write_topic(folder, focus=["birds"])
    done = scrapy(folder, "teach", str(folder / "birds.toml"))
    assert done.returncode == 0, done.stderr
    assert card(folder)["examples"] == {"birds": 4, "meals": 4}
    assert card(folder)["unreachable"] == {"not HTML": 2, "empty": 2}


def test_all_unreachable_is_one_line(folder: Path) -> None:
    done = scrapy(folder, "teach", str(folder / "birds.toml"), proxy="http://127.0.0.1:9")
    assert done.returncode == 1
    reason = f"host not reached (12, first {HOST}/birds/0)"
    assert done.stderr.splitlines()[-1].endswith(f"none of the 12 example pages could be fetched: {reason}")
    assert "Traceback" not in done.stderr
    assert not (folder / "models").exists()


def test_no_wanted_page_left_is_one_line(site: SiteServer, folder: Path) -> None:
    for i in range(4):
        del site.pages[f"/birds/{i}"]  # type: ignore[attr-defined]
    done = scrapy(folder, "teach", str(folder / "birds.toml"), proxy=site.url)
    assert done.returncode == 1
    assert "'nature.birds' matches no class" in done.stderr.splitlines()[-1]
    assert "HTTP 404 (4, first " in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("values", "source", "told"),
    [
        ({"focus": ["nature.brids"]}, {}, "'nature.brids' matches no class"),
        ({"examples": "", "focus": [], "keywords": ["owl"]}, {}, "needs no teaching"),
        ({}, {"hold_out": {"half": "7"}}, "no example has this value"),
        ({}, {"hold_out": {"hlaf": "1"}}, r"no such column \(its columns: 'half'\)"),
        ({}, {"examples": "missing.tsv"}, "missing.tsv: there is no such file"),
        (
            {"critic": {"name": "logistic", "strenght": 3}},
            {},
            r"birds.toml: \[critic\] strenght=3 .* did you mean 'strength'\?",
        ),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_fetched(
    folder: Path, values: dict[str, object], source: dict[str, Any], told: str
) -> None:
    topic = msgspec.structs.replace(load_topic(str(folder / "birds.toml")), **values)
    with pytest.raises(ValueError, match=told):
        plan_teaching(topic, Settings(), ExampleSource(**source))


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--critic", "nosuch"], "--critic: 'nosuch' is not known (available: "),
        (["--focus", "nature.brids"], "'nature.brids' matches no class"),
        (["--hold-out", "half"], "COLUMN=VALUE"),
        (["--sample", "9", "--prioritizer", "crf", "--paths", "x.jsonl"], "--sample tries a critic"),
        (["--sample", "few"], "'few': give a whole number, 0 or more"),
        (["--web", "missing.warc.gz"], "missing.warc.gz"),
    ],
)
def test_bad_input_is_told_in_words(folder: Path, args: list[str], told: str) -> None:
    done = scrapy(folder, "teach", str(folder / "birds.toml"), *args)
    assert done.returncode in {1, 2}
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "models").exists()


def test_a_topic_of_words_is_tried_politely_on_a_sample(site: SiteServer, folder: Path) -> None:
    links = "".join(f"<a href=/{kind}/{i}>{kind} {i}</a> " for kind in ("birds", "stars", "meals") for i in range(4))
    more = "<a href=/private/bird>bird</a> <a href=http://127.0.0.1:9/bird>bird</a> <a href=/bird.pdf>bird</a>"
    site.pages["/"] = html(f"{BIRDS[0]} {links} {more}")  # type: ignore[index]
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /private/\n"  # type: ignore[index]
    write_topic(folder, examples="", focus=[], keywords=["bird", "feathers", "falcon"], seeds=[f"{HOST}/"])
    topic = str(folder / "birds.toml")
    done = scrapy(folder, "teach", topic, "--sample", "14", proxy=site.url)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("topic 'birds', tried on 12 pages: 1 seed, and pages linked from there\n")
    for told in ("forbidden by robots.txt (1", "inner address", "  wanted ", "  best ", "on no page     falcon"):
        assert told in done.stdout
    assert len(site.fetched(status=None)) == 12
    assert not (folder / "models").exists(), "there was nothing to teach"
    assert "sample: 12 of 14 fetched, 2 failed" in done.stderr

    done = scrapy(folder, "teach", topic, "--sample", "5", proxy="http://127.0.0.1:9")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        f"no page of the sample could be fetched: host not reached (1, first {HOST}/)"
    )
    write_topic(folder, examples="", focus=[], keywords=["bird"])
    done = scrapy(folder, "teach", topic, "--sample", "5")
    assert done.returncode == 2
    assert "topic 'birds' has no seeds and no examples to try it on: give it seeds" in done.stderr


def test_a_topic_with_examples_is_taught_and_tried_and_contradictions_are_named(site: SiteServer, folder: Path) -> None:
    rows = [f"meals\t{text}" for text in BIRDS] + [f"birds\t{text}" for text in MEALS]
    (folder / "birds.tsv").write_text("\n".join(["class\ttext", *rows]) + "\n")
    write_topic(folder, focus=["birds"], keywords=["penguin", "owl"])
    topic = str(folder / "birds.toml")
    contradiction = "warning: The words contradict the examples: no wanted example (such as Boil the potatoes"
    done = scrapy(folder, "teach", topic, "--sample", "30")
    assert done.returncode == 0, done.stderr
    assert "topic 'birds', tried on 8 pages, its examples, because it has no seeds" in done.stdout
    assert contradiction in done.stdout
    assert "--sample" not in done.stdout

    write_topic(folder, focus=["birds"], keywords=["penguin", "owl"], seeds=[f"{HOST}/meals/0"])
    done = scrapy(folder, "teach", topic)
    assert contradiction in done.stdout
    assert done.stdout.endswith(f"try it before you crawl: scrapy teach {topic} --sample 30\n")
    shutil.rmtree(folder / "models")
    again = scrapy(folder, "crawl", "focused", "-a", f"topic={topic}", "-s", f"JOBDIR={folder / 'job'}", proxy=site.url)
    assert again.returncode == 0, again.stderr
    assert again.stderr.count(contradiction.partition(": ")[2]) == 1, "when the crawl teaches"
    assert "1 page" in again.stderr


def test_judging_before_teaching_tells_what_to_do(folder: Path) -> None:
    done = scrapy(folder, "judge", str(folder / "birds.toml"), f"{HOST}/birds/0")
    assert done.returncode == 2
    assert f"scrapy teach {folder / 'birds.toml'}" in done.stderr


def test_a_hostile_title_does_nothing_to_a_terminal(folder: Path) -> None:
    write_topic(folder, examples="", focus=[], keywords=["owl"])
    (folder / "evil.html").write_text("<title>\x1b]0;owned\x07&#27;[31m Owls \u202e</title><p>An owl.", "utf-8")
    done = scrapy(folder, "judge", str(folder / "birds.toml"), str(folder / "evil.html"))
    assert "Owls" in done.stdout
    assert not set(done.stdout) & {"\x07", "\x1b", "\u202e"}


def test_plain_words_judge_without_seeds(folder: Path) -> None:
    (folder / "owl.html").write_text("<title>Owls</title><p>An owl at night.", "utf-8")
    done = scrapy(folder, "judge", "owl, wood pigeon", str(folder / "owl.html"))
    assert done.returncode == 0, done.stderr
    assert "owl +" in done.stdout
    done = scrapy(folder, "judge", "brids.toml", str(folder / "owl.html"))
    assert done.returncode == 2
    assert "there is no such file" in done.stderr
    done = scrapy(folder, "judge", "astronomi", str(folder / "owl.html"))
    assert done.returncode == 2
    assert "did you mean 'astronomy'?" in done.stderr


def test_a_critic_that_gives_no_reasons_is_not_said_to_know_no_word(folder: Path) -> None:
    write_topic(folder, examples="", focus=[], keywords=["owl"])
    (folder / "half.py").write_text(
        "from focused import Critic, Verdict\n\n\nclass Half(Critic):\n"
        "    def judge(self, page):\n        return Verdict(0.5)\n",
        "utf-8",
    )
    (folder / "page.html").write_text("<title>Owls</title><p>A pigeon.", "utf-8")
    page = [str(folder / "birds.toml"), str(folder / "page.html")]
    done = scrapy(folder, "judge", *page, "--critic", "half.Half", PYTHONPATH=str(folder))
    assert done.stdout.splitlines()[1:] == ["  relevance 0.500   Owls"], done.stderr
    done = scrapy(folder, "judge", "heron", page[1])
    assert "no word of this page is known to the critic" in done.stdout


def test_judging_what_is_not_there(folder: Path, site: SiteServer) -> None:
    write_topic(folder, examples="", focus=[], keywords=["owl"])
    done = scrapy(folder, "judge", str(folder / "birds.toml"), f"{HOST}/none", f"{HOST}/birds/0", proxy=site.url)
    assert done.returncode == 1
    assert "not judged: HTTP 404" in done.stdout
    assert "owl +" in done.stdout
    done = scrapy(folder, "judge", str(folder / "birds.toml"), "no/such/file.html")
    assert done.returncode == 2
    assert "neither a file nor an address" in done.stderr


def test_the_command_line_stands_above_the_environment(folder: Path, site: SiteServer) -> None:
    where = folder / "elsewhere"
    done = scrapy(folder, "teach", str(folder / "birds.toml"), "-s", f"FOCUSED_MODELS={where}", proxy=site.url)
    assert done.returncode == 0, done.stderr
    assert (where / "birds" / "critic.joblib").exists()
    assert not (folder / "models").exists()


def test_teaching_is_not_a_spider_to_crawl_with(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "list"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "examples" not in done.stdout.split()
