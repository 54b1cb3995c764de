"""Opening a job: a new one, or one that was cut short, with what it had learned."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.job import job_dir

from focused.critics.base import Critic, LearningCritic
from focused.defaults import read
from focused.files import make_folder
from focused.frontier.inbox import FileInbox
from focused.frontier.job_file import JobFile
from focused.frontier.records import FILE, read_records
from focused.frontier.store import FrontierStore, JobRefused
from focused.frontier.store_sqlite import SqliteStore
from focused.job import Company, OpenJob
from focused.learned import begin_with, restore
from focused.parts import Parts
from focused.prioritizers.base import Prioritizer
from focused.scheduling.correction import check_focus_of_job, correct
from focused.scheduling.starts import ABOUT, check_scheduler, note_start, noted, read_about
from focused.topics.identity import fingerprint
from focused.topics.topic import Topic
from focused.visits.seeds import restore_critic
from focused.visits.training import CRITIC, LESSONS, MODEL, LocalTraining

_MOST_DIGITS = 18
# What a critic does not understand shows itself in some such way.
_MISFITS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

logger = logging.getLogger(__name__)


def identity_of(topic: Topic, prioritizer: Prioritizer, critic: Critic) -> dict[str, str]:
    """What must be the same for a job to be gone on with."""
    return {"topic": f"{topic.name} ({fingerprint(topic)})", "prioritizer": prioritizer.name, "critic": critic.name}


def check_job(topic: Topic, settings: BaseSettings, prioritizer: Prioritizer, critic: Critic) -> None:
    """Refuse a JOBDIR that is in use, of another crawl, or cannot be made."""
    if settings["JOBDIR"]:
        folder = Path(settings["JOBDIR"])
        if (folder / FILE).exists():
            JobFile(folder, identity_of(topic, prioritizer, critic)).close()
            check_scheduler(folder, settings)
            with closing(read_records(folder)) as records:
                check_focus_of_job(folder, read_about(records) if noted(records, ABOUT) else {}, topic)
        make_folder("JOBDIR", folder)


def open_job(crawler: Crawler, parts: Parts) -> OpenJob:
    """The job of a crawl alone, in its folder; a temporary one without a JOBDIR."""
    given = job_dir(crawler.settings)
    folder = Path(given or _temporary_folder(crawler))
    store = open_folder(parts, folder, crawler.settings)
    training = LocalTraining(store, parts.trainer)
    return OpenJob(
        store, training, Company(), folder, lasts=given is not None, inbox=FileInbox(folder), name=str(folder)
    )


def _temporary_folder(crawler: Crawler) -> str:
    """A folder that goes when the engine has stopped: a report at the end reads it."""
    temporary = TemporaryDirectory(prefix="focused-")
    crawler.signals.connect(temporary.cleanup, signals.engine_stopped, weak=False)
    return temporary.name


def open_folder(parts: Parts, folder: Path, settings: BaseSettings) -> SqliteStore:
    """The store of a job folder. A job that was cut short goes on: its critic, its model, its order."""
    identity = identity_of(parts.topic, parts.prioritizer, parts.critic)
    store = SqliteStore(folder, parts.prioritizer, identity=identity, **store_options(parts, settings))
    standing = store.standing()
    if standing.pages or standing.waiting:
        logger.info("Resuming the job in %s: %d pages, %d links waiting", folder, standing.pages, standing.waiting)
    try:
        correct(parts, store, identity)
        what = f"what the job in {str(folder)!r} has learned"
        learned_up_to = take_up(parts, store, settings, what=what, instead="give another JOBDIR")
        parts.trainer.begin_at(learned_up_to, _number(store.noted(LESSONS)))
        if parts.prioritizer.learns:
            store.prioritizer = parts.trainer.catch_up(parts.prioritizer, store.lessons_since(learned_up_to, MODEL))
        rescoring = store.rescoring()
        rescoring.score()
        rescoring.adopt()
    except BaseException:
        store.close()
        raise
    return store


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < _MOST_DIGITS else 0


def store_options(parts: Parts, settings: BaseSettings) -> dict[str, Any]:
    """What every store is told of a crawl."""
    most_late = read(settings, "FOCUSED_LATE_LESSONS")
    return {
        "lexicon": parts.lexicon,
        "most_pieces": read(settings, "FOCUSED_EVIDENCE_PIECES"),
        "most_deaths": read(settings, "FOCUSED_DEATHS"),
        "most_late": parts.prioritizer.late_lessons if most_late < 0 else most_late,
        "patience": read(settings, "FOCUSED_PATIENCE"),
    }


def take_up(parts: Parts, store: FrontierStore, settings: BaseSettings, *, what: str, instead: str) -> int:
    """Judge pages and links as the job does so far; the number of the last lessons that its model knows.

    JobRefused if its model (``what`` it is called) does not fit, with what may be done ``instead``.
    """
    critic, learned = parts.critic, store.load_model(CRITIC)
    try:
        restore_critic(critic, store)
        if learned is not None and isinstance(critic, LearningCritic):
            critic.restore_learned(learned[0])
            store.prioritizer = parts.prioritizer
    except JobRefused:
        raise
    except _MISFITS as error:
        raise JobRefused(f"{what} does not fit the critic {critic.name!r} ({error!r}): {instead}") from error
    prioritizer, saved, started_from = parts.prioritizer, store.load_model(MODEL), read(settings, "FOCUSED_LEARNED")
    if saved is not None:
        restore(prioritizer, saved[0], what, instead)
        store.prioritizer = prioritizer
    elif started_from:
        shown = begin_with(prioritizer, started_from)
        if shown:
            logger.info("The prioritizer %s begins with %s (%s)", prioritizer.name, shown, started_from)
    if saved is None and (started_from or prioritizer.taught or not prioritizer.learns) and prioritizer.state():
        # A job goes on with what it began with, and can be asked, even if the prioritizer is taught anew meanwhile.
        store.save_model(MODEL, prioritizer.state(), 0)
    note_start(store, parts, settings)
    return saved[1] if saved is not None else 0
