"""A new crawl from its words until it runs, whatever becomes of the processes on the way."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from scrapy.settings import Settings

from focused.watch import drafts as module
from focused.watch.app import make_app
from focused.watch.crawls import WatchedCrawls
from focused.watch.drafts import Draft, Drafts
from focused.watch.launching import Launcher
from focused.watch.topic_file import BegunCrawl
from tests.watch.asking import Asker

SEED = "https://tea.example/"
ASKED = {"words": "tea, oolong", "seeds": SEED, "pages": 5}
LONG = 60
# It says in its log what it was started with; it fails, or runs until it is told to end.
CRAWL = """
import sys, time, pathlib
folder = pathlib.Path(sys.argv[1])
print("2026 [x] ERROR: told: there is no such word", flush=True)
if (folder / "fails").exists(): sys.exit(1)
job = folder / sys.argv[2]; job.mkdir(exist_ok=True)
(job / "job.db").touch()
while not (folder / "end").exists(): time.sleep(0.01)
"""


def until(condition: Callable[[], Any]) -> Any:
    end = monotonic() + LONG
    while not (found := condition()):
        assert monotonic() < end
        sleep(0.01)
    return found


class Played(Launcher):
    """Starts a script in place of a crawl."""

    def command(self, place: BegunCrawl, pages: int) -> list[str]:
        self.asked = super().command(place, pages)
        return [sys.executable, "-c", CRAWL, str(place.folder), place.name]


class Scene:
    """A folder of jobs, where new crawls are tried and started."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.gate = folder, folder.parent / "gate"
        self.crawls = WatchedCrawls(str(folder), None, Settings())
        self.crawls.find()
        settings = Settings({"FOCUSED_MODELS": str(folder.parent / "models")})
        self.drafts = Drafts(folder, settings, ["DOWNLOAD_DELAY=3"])
        self.drafts.launcher = Played(["DOWNLOAD_DELAY=3"])
        self.asker = Asker(make_app(self.crawls, drafts=self.drafts))
        self.gate.touch()

    def begin(self, **asked: Any) -> str:
        answer = self.asker.post("/api/drafts", {**ASKED, **asked})
        assert answer.status == 200, answer.error
        return f"/api/drafts/{answer.json['id']}"

    def get(self, call: str) -> Any:
        return self.asker.get(call).json

    def ready(self, **asked: Any) -> str:
        call = self.begin(**asked)
        until(lambda: self.get(call)["state"] == "ready")
        return call

    def draft(self, call: str) -> Draft:
        found = self.drafts.get(call.rpartition("/")[2])
        assert found is not None
        return found

    def refused(self, call: str, asked: Any) -> str:
        answer = self.asker.post(call, asked)
        assert answer.status == 400, answer.body
        return answer.error

    def close(self) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "end").touch()
        self.drafts.close()
        self.asker.close()


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    command = [sys.executable, "-m", "tests.watch.sampler", str(tmp_path / "gate")]
    monkeypatch.setattr(module, "_COMMAND", command)
    with closing(Scene(tmp_path / "jobs")) as made:
        yield made


def said(shown: Any) -> dict[str, tuple[float, float, str]]:
    return {page["url"]: (page["relevance"], page["before"], page["said"]) for page in shown["pages"]}


def test_a_sample_is_fetched_and_judged_anew_with_every_answer(scene: Scene) -> None:
    scene.gate.unlink()
    call = scene.begin(seeds=f"{SEED} {SEED}x.bin")
    shown = until(lambda: (now := scene.get(call))["progress"]["done"] and now)
    assert (shown["state"], shown["pages"], shown["progress"]["total"]) == ("fetching", [], 5)
    scene.gate.touch()
    shown = until(lambda: (now := scene.get(call))["state"] == "ready" and now)
    assert shown["warnings"] == [f"Nothing begins at the seed {SEED}x.bin: it is not a web page (HTML)", "A doubt."]
    assert said(shown)[SEED] == (0.25, 0.25, "")
    assert (shown["wanted"], shown["found"], shown["words"]) == (1.25, 0, [["tea", 5]])
    shown = scene.asker.post(f"{call}/answers", {"answers": [{"url": SEED, "said": "yes"}]}).json
    assert (said(shown)[SEED], shown["found"]) == ((1.0, 0.25, "yes"), 1)
    shown = scene.asker.post(f"{call}/answers", {"answers": [{"url": SEED, "said": "forget"}]}).json
    assert said(shown)[SEED] == (0.25, 1.0, "")
    assert "'https://far.example/' is no page of this sample" in scene.refused(
        f"{call}/answers", {"answers": [{"url": "https://far.example/", "said": "no"}]}
    )
    assert not scene.folder.exists(), "nothing is written before the start"


def test_a_process_that_dies_is_told_and_what_was_said_is_kept_for_the_next_try(scene: Scene) -> None:
    call = scene.ready()
    scene.asker.post(f"{call}/answers", {"answers": [{"url": SEED, "said": "yes"}]})
    os.kill(scene.draft(call)._process.pid, signal.SIGKILL)
    shown = until(lambda: (now := scene.get(call))["state"] == "failed" and now)
    assert shown["problem"] == "the process that tries the topic has ended (code -9): try again; what you said is kept"
    answers = [{"url": SEED, "said": "no"}, {"url": f"{SEED}1", "said": "yes"}]
    assert said(scene.asker.post(f"{call}/answers", {"answers": answers}).json)[SEED][2] == "no"
    old = scene.draft(call)
    again = scene.ready(answers=answers, instead=call.rpartition("/")[2])
    shown = scene.get(again)
    assert (said(shown)[SEED], said(shown)[f"{SEED}1"]) == ((0.0, 0.0, "no"), (1.0, 1.0, "yes"))
    assert scene.asker.get(call).error == "this try is not there any more: try again"
    assert old._process.wait(LONG) == -9


def test_one_that_finds_no_page_says_why(scene: Scene) -> None:
    call = scene.begin(words="none", seeds=f"{SEED} {SEED}x.bin")
    shown = until(lambda: (now := scene.get(call))["state"] == "failed" and now)
    assert "no page could be fetched" in shown["problem"]
    assert shown["missing"] == [{"url": f"{SEED}x.bin", "why": "it is not a web page (HTML)"}]


def test_only_the_last_few_tries_have_a_process(scene: Scene) -> None:
    tries = [scene.draft(scene.ready(name=f"tea {number}")) for number in range(6)]
    for one in tries[:2]:
        assert one._process.wait(LONG) == 0
    assert all(one._process.poll() is None for one in tries[2:])


def test_the_start_writes_the_files_and_leads_to_the_crawl(scene: Scene) -> None:
    call = scene.ready(name="Tea time")
    scene.asker.post(f"{call}/answers", {"answers": [{"url": SEED, "said": "yes"}, {"url": f"{SEED}2", "said": "no"}]})
    files = scene.get(f"{call}/topic")
    assert (files["file"], files["folder"]) == ("tea-time.topic.toml", str(scene.folder))
    toml = f"# mine\n{files['toml']}"
    assert scene.asker.post(f"{call}/check", {"toml": toml}).json["toml"] == toml
    assert "colour: unknown key" in scene.refused(f"{call}/start", {"toml": f"colour = 1\n{toml}", "pages": 70})
    assert not scene.folder.exists()
    shown = scene.asker.post(f"{call}/start", {"toml": toml, "pages": 70}).json
    shown = until(lambda: (now := scene.get(call))["state"] == "started" and now)
    assert shown["crawl"] == "tea-time"
    assert (scene.folder / "tea-time.topic.toml").read_text() == toml
    assert (scene.folder / "tea-time.topic.tsv").read_text() == f"class\turl\nwanted\t{SEED}\nunwanted\t{SEED}2\n"
    assert "there is no such word" in (scene.folder / "tea-time.log").read_text()
    assert [crawl["name"] for crawl in scene.get("/api/crawls")["crawls"]] == ["tea-time"]
    process = scene.drafts.launcher._started["tea-time"]
    assert os.getsid(process.pid) == process.pid, "Ctrl-C does not reach it"
    assert "was started already" in scene.refused(f"{call}/start", {"toml": toml, "pages": 70})
    assert "tea-time' is there already" in scene.refused("/api/drafts", {**ASKED, "name": "TEA TIME"})


def test_the_command_trusts_nobody_and_comes_after_the_settings_of_the_page(scene: Scene) -> None:
    command = Launcher(["DOWNLOAD_DELAY=3", "FOCUSED_TOPICS_TRUSTED=True"]).command(BegunCrawl(scene.folder, "tea"), 70)
    assert command[:4] == [sys.executable, "-m", "focused", "crawl"]
    settings = [value for option, value in pairwise(command) if option == "-s"]
    assert settings[-2:] == ["FOCUSED_TOPICS_TRUSTED=False", f"JOBDIR={scene.folder}/tea"]
    assert settings[:2] == ["DOWNLOAD_DELAY=3", "FOCUSED_TOPICS_TRUSTED=True"]
    assert command[-4:] == ["-a", f"topic={scene.folder}/tea.topic.toml", "-a", "pages=70"]


def test_a_crawl_that_does_not_start_is_told_from_its_log_and_is_tried_again(scene: Scene) -> None:
    call = scene.ready(name="tea")
    toml = scene.get(f"{call}/topic")["toml"]
    scene.folder.mkdir()
    (scene.folder / "fails").touch()
    scene.asker.post(f"{call}/start", {"toml": toml, "pages": 70})
    shown = until(lambda: (now := scene.get(call))["state"] == "failed" and now)
    assert shown["problem"] == "told: there is no such word"
    (scene.folder / "fails").unlink()
    # The file is ours by now; somebody else's is not.
    assert scene.asker.post(f"{call}/start", {"toml": f"# 2\n{toml}", "pages": 70}).status == 200
    until(lambda: scene.get(call)["state"] == "started")
    assert (scene.folder / "tea.topic.toml").read_text() == f"# 2\n{toml}"


def test_one_that_rests_goes_on_by_the_same_command(scene: Scene, job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert job.parent == scene.folder
    call = "/api/crawls/stars"
    assert scene.get(f"{call}/startable")["possible"] is False
    assert "was not begun on the page" in scene.refused(f"{call}/start", {"pages": 90})
    (scene.folder / "stars.topic.toml").touch()
    assert scene.get(f"{call}/startable") == {"possible": True, "is_starting": False, "problem": ""}
    assert "Expected `int` >= 1" in scene.refused(f"{call}/start", {"pages": 0})
    assert scene.asker.post(f"{call}/start", {"pages": 90}).json["is_starting"]
    launcher = scene.drafts.launcher
    assert isinstance(launcher, Played)
    assert launcher.asked == Launcher(["DOWNLOAD_DELAY=3"]).command(BegunCrawl(scene.folder, "stars"), 90)
    assert scene.get(f"{call}/startable") == {"possible": False, "is_starting": True, "problem": ""}
    assert "was started already" in scene.refused(f"{call}/start", {"pages": 90})
    (scene.folder / "end").touch()
    until(lambda: scene.get(f"{call}/startable")["possible"])
    (scene.folder / "fails").touch()
    scene.asker.post(f"{call}/start", {"pages": 90})
    shown = until(lambda: (now := scene.get(f"{call}/startable"))["possible"] and now)
    assert shown["problem"] == "told: there is no such word"
    # Of what an earlier start has said nothing is told.
    monkeypatch.setattr(Played, "command", lambda *_: [sys.executable, "-c", "raise SystemExit(3)"])
    scene.asker.post(f"{call}/start", {"pages": 90})
    shown = until(lambda: (now := scene.get(f"{call}/startable"))["possible"] and now)
    assert shown["problem"] == f"the crawl has failed (code 3): see {scene.folder}/stars.log"


def test_so_many_crawls_are_started_and_no_more(scene: Scene) -> None:
    scene.folder.mkdir()
    for number in range(8):
        scene.drafts.launcher.start(BegunCrawl(scene.folder, f"n{number}"), 9)
    with pytest.raises(ValueError, match="8 crawls that were started here are running"):
        scene.drafts.launcher.start(BegunCrawl(scene.folder, "n9"), 9)


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        ({"words": ""}, "new crawl: words: missing"),
        ({"seeds": "http://127.0.0.1/"}, "is an inner address"),
        ({"pages": 201}, "Expected `int` <= 200"),
        ({"answers": [{"url": "x", "said": "yes"}]}, "answer 1: 'x' is not an http(s) address"),
        ({"answers": [{"url": SEED, "said": "maybe"}]}, "Invalid enum value 'maybe'"),
        ({"settings": {}}, "unknown field `settings`"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(scene: Scene, asked: Any, wrong: str) -> None:
    assert wrong in scene.refused("/api/drafts", {**ASKED, **asked})


def test_where_no_crawl_can_be_begun_that_is_said(asker: Asker) -> None:
    assert "where a folder of jobs is watched" in asker.post("/api/drafts", ASKED).error
    assert asker.get("/new").status == 404
    assert b"New crawl" not in asker.get("/").body
    assert asker.get("/api/crawls/stars/startable").json["possible"] is False
