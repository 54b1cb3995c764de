"""New crawls that somebody is trying: each has a process that fetches its sample and judges it (`sampling`).

A draft is what the page shows of it. Answers change what is judged; nothing is written before the crawl is started.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from threading import Condition, Lock, Thread
from typing import Any

import msgspec
from scrapy.settings import BaseSettings

from focused.critics.base import RELEVANT
from focused.frontier.records import FILE
from focused.topics.topic import Topic
from focused.watch.launching import Launcher, own_environment
from focused.watch.sampling import AnswersSoFar, SamplerLine, SampleTold, Wanted
from focused.watch.topic_file import BegunCrawl, NewFiles, topic_to_toml

FETCHING, READY, FAILED, STARTING, STARTED = "fetching", "ready", "failed", "starting", "started"
_MOST_DRAFTS = 4
_LONGEST_JUDGING = 30.0
_COMMAND = [sys.executable, "-m", "focused.watch.sampling"]
_NOT_HTML = "not HTML"
_DIED = "the process that tries the topic has ended (code {}): try again; what you said is kept"


class Draft:
    """One new crawl, from its words until it runs."""

    def __init__(self, place: BegunCrawl, wanted: Wanted, answers: Mapping[str, bool], launcher: Launcher) -> None:
        self.key = token_hex(8)
        self.place = place
        self.number = 0
        self.answers = dict(answers)
        self._wanted, self._launcher = wanted, launcher
        self._progress = (0, wanted.pages, 0)
        self._sample: SampleTold | None = None
        self._relevance: list[float] = []
        self._before: list[float] = []
        self._asked = self._judged = 0
        self._problem = ""
        self._is_started = False
        self._written: set[Path] = set()
        self._changed = Condition()
        self._process = subprocess.Popen(  # noqa: S603  # our own module
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=own_environment(),
            start_new_session=True,
        )
        self._send(wanted)
        Thread(target=self._listen, daemon=True).start()

    # --- the process --------------------------------------------------------------------------------------------

    def _send(self, what: Wanted | AnswersSoFar) -> None:
        # One that has died says so by the end of its output.
        with suppress(OSError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.write(msgspec.json.encode(what) + b"\n")
            self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                told = msgspec.json.decode(line, type=SamplerLine)
                with self._changed:
                    self._note(told)
                    self._news()
        code = self._process.wait()
        with self._changed:
            if not self._is_started:
                self._problem = self._problem or _DIED.format(code)
            self._news()

    def _note(self, told: SamplerLine) -> None:
        self._progress = told.progress or self._progress
        self._problem = told.problem or self._problem
        if told.sample is not None:
            self._sample = told.sample
            if told.sample.pages:
                self._ask()
            else:
                self._problem = "no page could be fetched: see below; give other seeds, and try again"
        if told.judged is not None:
            self._before = self._relevance or told.judged.relevance
            self._relevance, self._judged = told.judged.relevance, told.judged.number

    def _ask(self) -> None:
        self._asked += 1
        self._send(AnswersSoFar(self._asked, self.answers))

    def _news(self) -> None:
        self.number += 1
        self._changed.notify_all()

    def close(self) -> None:
        """Let the process end."""
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()

    # --- what is said and shown ---------------------------------------------------------------------------------

    def say(self, answers: Mapping[str, bool | None]) -> None:
        """Note whether pages are wanted (None takes it back), and wait until all were judged anew."""
        with self._changed:
            known = {page.url for page in self._sample.pages} if self._sample else set()
            strange = [url for url in answers if url not in known]
            if strange:
                raise ValueError(f"{strange[0][:200]!r} is no page of this sample")
            for url, is_wanted in answers.items():
                if is_wanted is None:
                    self.answers.pop(url, None)
                else:
                    self.answers[url] = is_wanted
            self._ask()
            mine = self._asked
            self._news()
            self._changed.wait_for(lambda: self._judged >= mine or self._problem, _LONGEST_JUDGING)

    def state(self) -> str:
        """How far it is."""
        if self._is_started:
            if (self.place.job / FILE).exists():
                return STARTED
            return STARTING if self._launcher.is_running(self.place) else FAILED
        return FAILED if self._problem else READY if self._relevance else FETCHING

    def shown(self) -> dict[str, Any]:
        """All that the page shows."""
        with self._changed:
            done, total, failed = self._progress
            missing = self._sample.missing if self._sample else {}
            problem = self._launcher.problem(self.place) if self._is_started else self._problem
            return {
                "id": self.key,
                "number": self.number,
                "state": self.state(),
                "problem": problem,
                "is_begun": self._is_started,
                "name": self._wanted.name,
                "keywords": self._wanted.keywords,
                "seeds": self._wanted.seeds,
                "job": self.place.name,
                "progress": {"done": done, "total": total, "failed": failed},
                "pages": self._pages(),
                "wanted": sum(self._relevance),
                "found": sum(one >= RELEVANT for one in self._relevance),
                "words": list(self._sample.given.items()) if self._sample else [],
                "missing": [{"url": url, "why": _why(why)} for url, why in missing.items()],
                "warnings": [
                    *(
                        f"Nothing begins at the seed {url}: {_why(missing[url])}"
                        for url in self._wanted.seeds
                        if url in missing
                    ),
                    *(self._sample.doubts if self._sample else ()),
                ],
            }

    def _pages(self) -> list[dict[str, Any]]:
        """The pages, in the order in which they were fetched, as they were judged last and before that."""
        if self._sample is None or not self._relevance:
            return []
        said = {True: "yes", False: "no", None: ""}
        return [
            {
                "url": page.url,
                "title": page.title,
                "is_seed": page.is_seed,
                "relevance": now,
                "before": before,
                "said": said[self.answers.get(page.url)],
                "near": page.near,
            }
            for page, now, before in zip(self._sample.pages, self._relevance, self._before, strict=True)
        ]

    # --- the crawl ----------------------------------------------------------------------------------------------

    @property
    def _marks(self) -> dict[str, bool]:
        return dict(sorted(self.answers.items(), key=lambda pair: not pair[1]))

    def files(self, settings: BaseSettings, toml: str | None = None) -> NewFiles:
        """The files as they would be written; ``toml`` is a text that was edited. ValueError says what is wrong."""
        if toml is None:
            toml = topic_to_toml(self._wanted.name, self._wanted.keywords, self._wanted.seeds)
        return self.place.files_of(toml, self._marks, settings)

    def start(self, settings: BaseSettings, toml: str, pages: int) -> None:
        """Write the files and start the crawl; ValueError or NotWritten say why that cannot be."""
        with self._changed:
            if self.state() in {STARTING, STARTED}:
                raise ValueError(f"{self.place.name!r} was started already")
            files = self.files(settings, toml)
            if not self._written:
                self.place.check_free(settings)
            self._written |= self.place.write(files, self._written)
            self._launcher.start(self.place, pages)
            self._is_started = True
            self._news()
        self.close()


def _why(reason: str) -> str:
    return "it is not a web page (HTML)" if reason == _NOT_HTML else f"it could not be fetched ({reason})"


class Drafts:
    """All new crawls of a folder of jobs; of those that are being tried, the last few. ``given`` is as for ``-s``."""

    def __init__(self, folder: Path, settings: BaseSettings, given: Sequence[str] = ()) -> None:
        self.folder, self.settings, self.launcher = folder.resolve(), settings, Launcher(given)
        self._given = dict(pair.split("=", 1) for pair in given)
        self._drafts: dict[str, Draft] = {}
        self._lock = Lock()

    def begin(self, topic: Topic, pages: int, answers: Mapping[str, bool], instead: str = "") -> Draft:
        """Try a new topic on so many pages; ValueError if there is one of its name. It may end an earlier try."""
        place = BegunCrawl.of(self.folder, topic)
        place.check_free(self.settings)
        wanted = Wanted(topic.name, topic.keywords, topic.seeds, pages, self._given)
        with self._lock:
            if instead in self._drafts:
                self._drafts.pop(instead).close()
            draft = Draft(place, wanted, answers, self.launcher)
            self._drafts[draft.key] = draft
            while len(self._drafts) > _MOST_DRAFTS:
                self._drafts.pop(next(iter(self._drafts))).close()
        return draft

    def get(self, key: str) -> Draft | None:
        """A draft that is still there."""
        return self._drafts.get(key)

    def close(self) -> None:
        """Let all processes end that try topics."""
        for draft in self._drafts.values():
            draft.close()

    def place_of(self, name: str) -> BegunCrawl | None:
        """Where the files of a crawl are that was begun here; None if it was not."""
        place = BegunCrawl(self.folder, name)
        is_plain = "/" not in name and name not in {"", ".", ".."}
        return place if is_plain and place.topic.is_file() and (place.job / FILE).exists() else None
