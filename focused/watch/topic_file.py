"""The topic file of a new crawl: made from what was given and marked, read as a stranger's, written beside the job."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from scrapy.settings import BaseSettings

from focused.critics.choose import choose_critic
from focused.defaults import read
from focused.files import NotWritten, write_text
from focused.problems import Problems, ProblemsError
from focused.report.text import short
from focused.safety.addresses import AddressPolicy
from focused.topics.examples import read_examples
from focused.topics.identity import slug
from focused.topics.keys import KEYS
from focused.topics.library import TRUST
from focused.topics.marked import UNWANTED, WANTED, Marked, add_examples
from focused.topics.topic import Topic, load_topic

_TOPIC, _TABLE, _LOG = ".topic.toml", ".topic.tsv", ".log"
_MOST_TEXT, _MOST_SEEDS, _LONGEST_NAME = 100_000, 50, 100
_WHAT = "new crawl"


def topic_of_words(name: str, words: str, seeds: str, settings: BaseSettings) -> Topic:
    """A topic from what somebody has typed: words separated by commas or lines, addresses by spaces or lines.

    ProblemsError has a sentence for each mistake.
    """
    problems = Problems()
    if len(words) + len(seeds) > _MOST_TEXT:
        raise ValueError(f"{_WHAT}: words and seeds have more than {_MOST_TEXT:,} characters: give fewer")
    keywords = [short(part, _MOST_TEXT) for part in words.replace("\n", ",").split(",") if part.strip()]
    addresses = seeds.split()
    if not keywords:
        problems.add(f"{_WHAT}: words", "missing: give words and phrases that the pages you want use")
    if not addresses:
        problems.add(f"{_WHAT}: seeds", "missing: give the address of a page to begin at, such as https://example.org/")
    if len(addresses) > _MOST_SEEDS:
        problems.add(f"{_WHAT}: seeds", f"{len(addresses):,} are too many: give at most {_MOST_SEEDS}")
    called = short(name, _LONGEST_NAME) or short(", ".join(keywords), _LONGEST_NAME)
    table = {"name": called, "keywords": keywords, "seeds": addresses[:_MOST_SEEDS]}
    values = {key: KEYS[key].convert(value, f"{_WHAT}: {key}", problems) for key, value in table.items() if value}
    problems.raise_as(ProblemsError)
    topic = Topic(**values)
    _check_seeds(topic, settings, problems)
    problems.raise_as(ProblemsError)
    return topic


def _check_seeds(topic: Topic, settings: BaseSettings, problems: Problems) -> None:
    """Add which seeds are inner addresses; names that resolve to some are refused when they are fetched."""
    if read(settings, "FOCUSED_INNER_ADDRESSES") == "allow":
        return
    policy = AddressPolicy(read(settings, "FOCUSED_INNER_ALLOWED"))
    for seed in topic.seeds:
        if refusal := policy.refusal(seed):
            problems.add(f"seed {seed}", f"{refusal}: give another one, or allow it (FOCUSED_INNER_ALLOWED)")


def topic_to_toml(name: str, keywords: Sequence[str], seeds: Sequence[str]) -> str:
    """The text of a topic file."""
    lines = [f"name = {_quoted(name)}"]
    for key, values in (("keywords", keywords), ("seeds", seeds)):
        lines += [f"{key} = [", *(f"    {_quoted(value)}," for value in values), "]"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class NewFiles:
    """What is written beside a job: the topic file, and the table of its examples if there are any."""

    toml: str
    table: str


@dataclass(frozen=True, slots=True)
class BegunCrawl:
    """Where a crawl that was begun on the page is: a job in a folder of jobs, and its files beside it."""

    folder: Path
    name: str

    @classmethod
    def of(cls, folder: Path, topic: Topic) -> BegunCrawl:
        """The place for a topic; its name is made of the letters that are safe in names of files."""
        return cls(folder, slug(topic))

    @property
    def job(self) -> Path:
        """The job folder."""
        return self.folder / self.name

    @property
    def topic(self) -> Path:
        """The topic file."""
        return self.folder / f"{self.name}{_TOPIC}"

    @property
    def table(self) -> Path:
        """The table of examples."""
        return self.folder / f"{self.name}{_TABLE}"

    @property
    def log(self) -> Path:
        """The log of the crawl."""
        return self.folder / f"{self.name}{_LOG}"

    def check_free(self, settings: BaseSettings) -> None:
        """ValueError if something of this name is there: nothing is overwritten."""
        trained = Path(read(settings, "FOCUSED_MODELS")) / self.name
        for path in (self.job, self.topic, self.table, self.log, trained):
            if os.path.lexists(path):
                raise ValueError(f"{str(path)!r} is there already: give the new crawl another name")

    def files_of(self, toml: str, marks: Mapping[str, bool], settings: BaseSettings) -> NewFiles:
        """The files for a text that somebody may have edited, with the marks as examples.

        They are read as those of a stranger; ValueError has a sentence for each mistake.
        """
        if len(toml) > _MOST_TEXT:
            raise ValueError(f"{self.topic.name}: it has more than {_MOST_TEXT:,} characters: leave some out")
        if marks and not any(marks.values()):
            raise ValueError("all pages that are marked are marked with no: mark one that is wanted with yes as well")
        with TemporaryDirectory() as scratch:
            try:
                return BegunCrawl(Path(scratch), self.name)._checked(toml, marks, settings)
            except ProblemsError as error:
                # Nobody has to know where it was tried; and nobody is trusted here.
                told = (line.replace(f"{scratch}{os.sep}", "") for line in error.problems)
                raise ProblemsError([line.replace(f", or {TRUST}", "") for line in told]) from error
            except OSError as error:
                raise NotWritten(f"a temporary file in {str(Path(scratch).parent)!r}", error) from error

    def _checked(self, toml: str, marks: Mapping[str, bool], settings: BaseSettings) -> NewFiles:
        self.topic.write_text(toml, "utf-8")
        if marks and _names(toml, self.table.name):
            rows = (f"{WANTED if is_wanted else UNWANTED}\t{url}\n" for url, is_wanted in marks.items())
            self.table.write_text("class\turl\n" + "".join(rows), "utf-8")
        topic = self._load()
        if marks and not topic.examples:
            add_examples(str(self.topic), [Marked(url, is_wanted) for url, is_wanted in marks.items()])
            topic = self._load()
        problems = Problems()
        _check_seeds(topic, settings, problems)
        problems.raise_as(ProblemsError)
        if topic.examples:
            read_examples(topic)
        choose_critic(topic, read(settings, "FOCUSED_CRITIC")).make()
        return NewFiles(_text(self.topic), _text(self.table) if topic.examples and self.table.exists() else "")

    def _load(self) -> Topic:
        return load_topic(self.topic.name, folder=self.folder, seeds_needed=True, trusted=False)

    def write(self, files: NewFiles, ours: Collection[Path] = ()) -> set[Path]:
        """Write the files, over none but ``ours``, those of an earlier try; gives what was written.

        ValueError or NotWritten say why that cannot be; then nothing new is left.
        """
        wanted = {path: text for path, text in ((self.table, files.table), (self.topic, files.toml)) if text}
        new: list[Path] = []
        try:
            for path, text in wanted.items():
                if path not in ours:
                    _reserve(path)
                    new.append(path)
                write_text(path, text)
        except BaseException:
            for path in new:
                with suppress(OSError):
                    path.unlink()
            raise
        return set(wanted)


def _reserve(path: Path) -> None:
    """Make an empty file, if nothing at all has its name."""
    try:
        path.parent.mkdir(exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
    except FileExistsError as error:
        raise ValueError(f"{str(path)!r} is there already: give the new crawl another name") from error
    except OSError as error:
        raise NotWritten(repr(str(path)), error) from error


def _names(toml: str, table: str) -> bool:
    """Does a topic file name this table? One that cannot be read is refused later, with its place."""
    with suppress(ValueError, RecursionError):
        return tomllib.loads(toml.replace("\r\n", "\n")).get("examples") == table
    return False


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8-sig")
