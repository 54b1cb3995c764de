"""The process in which a new topic is tried: it fetches a sample, and judges it anew with every answer.

Lines of JSON come in: first what to fetch (`Wanted`), then answers (`AnswersSoFar`); lines of JSON go out
(`SamplerLine`). It ends when its input does, however the page ends, or when nobody has said anything for an hour.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from queue import Empty, Queue
from threading import Thread
from typing import IO

import msgspec

_PATIENCE = 3_600.0
_LONGEST_TITLE, _LONGEST_WORD, _MOST_MISSING = 300, 40, 100


class Wanted(msgspec.Struct):
    """What to try, and on how many pages."""

    name: str
    keywords: list[str]
    seeds: list[str]
    pages: int
    settings: dict[str, str]


class AnswersSoFar(msgspec.Struct):
    """Which pages are wanted, by their addresses: all that was said so far."""

    number: int
    answers: dict[str, bool]


class SamplePage(msgspec.Struct):
    """A page of the sample; the words with what speaks for it."""

    url: str
    title: str
    is_seed: bool
    near: list[tuple[str, bool]]


class SampleTold(msgspec.Struct):
    """The sample is there. ``given`` says on how many pages each word is, ``missing`` why pages could not be had."""

    pages: list[SamplePage]
    given: dict[str, int]
    missing: dict[str, str]
    doubts: list[str]


class Judged(msgspec.Struct):
    """The relevance of each page, by what had been said."""

    number: int
    relevance: list[float]


class SamplerLine(msgspec.Struct, omit_defaults=True):
    """One line of what the process says."""

    progress: tuple[int, int, int] | None = None
    sample: SampleTold | None = None
    judged: Judged | None = None
    problem: str = ""


Tell = Callable[[SamplerLine], None]


def main() -> None:
    """Work off the lines."""
    # The pipe is ours alone: what components print goes to the terminal of the page.
    out, sys.stdout = sys.stdout.buffer, sys.stderr

    def tell(told: SamplerLine) -> None:
        out.write(msgspec.json.encode(told) + b"\n")
        out.flush()

    wanted = msgspec.json.decode(sys.stdin.buffer.readline(), type=Wanted)
    said: Queue[AnswersSoFar] = Queue()
    Thread(target=_listen, args=(sys.stdin.buffer, said), daemon=True).start()
    judge = _gather(wanted, tell)
    while judge is not None:
        try:
            asked = said.get(timeout=_PATIENCE)
        except Empty:
            break
        tell(SamplerLine(judged=Judged(asked.number, judge(asked.answers))))
    # The thread is still reading.
    os._exit(0)


def _listen(lines: IO[bytes], said: Queue[AnswersSoFar]) -> None:
    for line in lines:
        said.put(msgspec.json.decode(line, type=AnswersSoFar))
    # Nobody is there any more, whatever is being done.
    os._exit(0)


def _gather(wanted: Wanted, tell: Tell) -> Callable[[Mapping[str, bool]], list[float]] | None:
    """Fetch the sample and tell what is in it; gives who judges it. None if there is none."""
    from scrapy.crawler import AsyncCrawlerProcess  # noqa: PLC0415  # so that the lines can be read without it
    from scrapy.utils.project import get_project_settings  # noqa: PLC0415

    from focused.report.text import clean, short  # noqa: PLC0415
    from focused.running.loop import Stopped, run_to_end  # noqa: PLC0415
    from focused.running.progress import quieten  # noqa: PLC0415
    from focused.teaching.corrected import CorrectedSample  # noqa: PLC0415
    from focused.teaching.doubts import doubts_about  # noqa: PLC0415
    from focused.teaching.trial import gather_sample, try_topic  # noqa: PLC0415
    from focused.topics.topic import Topic  # noqa: PLC0415

    settings = get_project_settings()
    settings.setdict(wanted.settings, priority="cmdline")
    quieten(settings)
    topic = Topic(name=wanted.name, keywords=wanted.keywords, seeds=wanted.seeds)

    def show(done: int, total: int, failed: int) -> None:
        tell(SamplerLine(progress=(done, total, failed)))

    process = AsyncCrawlerProcess(settings)
    try:
        gathering = gather_sample(topic, settings, wanted.pages, web="", runner=process, progress=show)
        sample = run_to_end(process, gathering)
        corrected, trial = CorrectedSample(topic, settings, sample), try_topic(topic, settings, sample)
    except (ValueError, OSError, Stopped) as error:
        tell(SamplerLine(problem=clean(str(error)) or "it was interrupted"))
        return None
    missing = dict(list(sample.missing.failures.items())[:_MOST_MISSING])
    pages = [
        SamplePage(
            url=page.url,
            title=short(page.title, _LONGEST_TITLE),
            is_seed=page in sample.seeds,
            near=[(short(word, _LONGEST_WORD), speaks) for word, speaks in corrected.near(page)],
        )
        for page in sample.pages
    ]
    doubts = [clean(doubt) for doubt in (*doubts_about(topic, settings), *trial.doubts)]
    tell(SamplerLine(sample=SampleTold(pages, trial.given, missing, doubts)))
    return corrected.judge if pages else None


if __name__ == "__main__":
    main()
