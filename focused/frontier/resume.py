"""Opening a job: a new one, or one that was cut short, with what it had learned."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from zipfile import BadZipFile

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from focused.arrays import Arrays, load_arrays
from focused.critics.base import Critic
from focused.defaults import read
from focused.frontier.job import Company, OpenJob
from focused.frontier.job_folder import job_folder, make_folder
from focused.frontier.records import check_records
from focused.frontier.starts import note_start
from focused.frontier.store import JobRefused
from focused.frontier.store_sqlite import SqliteStore
from focused.parts import Parts
from focused.prioritizers.base import Prioritizer
from focused.topics.identity import fingerprint
from focused.topics.topic import Topic
from focused.visits.seeds import CRITIC_STATE
from focused.visits.training import LESSONS, MODEL, LocalTraining

logger = logging.getLogger(__name__)


def identity_of(topic: Topic, prioritizer: Prioritizer, critic: Critic) -> dict[str, str]:
    """What must be the same for a job to be gone on with."""
    return {"topic": f"{topic.name} ({fingerprint(topic)})", "prioritizer": prioritizer.name, "critic": critic.name}


def check_job(topic: Topic, settings: BaseSettings, prioritizer: Prioritizer, critic: Critic) -> None:
    """Refuse a JOBDIR that is in use, of another crawl, or cannot be made."""
    if settings["JOBDIR"]:
        folder = Path(settings["JOBDIR"])
        check_records(folder, identity_of(topic, prioritizer, critic))
        make_folder("JOBDIR", folder)


def open_job(crawler: Crawler, parts: Parts) -> OpenJob:
    """The job of a crawl alone, in its folder; a temporary one without a JOBDIR."""
    folder, lasts = job_folder(crawler)
    store = open_folder(parts, folder, crawler.settings)
    return OpenJob(store, LocalTraining(store, parts.trainer), Company(), folder, lasts)


def open_folder(parts: Parts, folder: Path, settings: BaseSettings) -> SqliteStore:
    """The store of a job folder. A job that was cut short goes on: its critic, its model, its order."""
    most_late = read(settings, "FOCUSED_LATE_LESSONS")
    store = SqliteStore(
        folder,
        parts.prioritizer,
        identity=identity_of(parts.topic, parts.prioritizer, parts.critic),
        lexicon=parts.lexicon,
        most_pieces=read(settings, "FOCUSED_EVIDENCE_PIECES"),
        most_deaths=read(settings, "FOCUSED_DEATHS"),
        patience=read(settings, "FOCUSED_PATIENCE"),
        most_late=parts.prioritizer.late_lessons if most_late < 0 else most_late,
    )
    critic = store.noted(CRITIC_STATE)
    if critic is not None:
        parts.critic.restore(json.loads(critic))
    standing = store.standing()
    if standing.pages or standing.waiting:
        logger.info("Going on with the job in %s: %d pages, %d links wait", folder, standing.pages, standing.waiting)
    try:
        _learn_again(parts, store, folder, read(settings, "FOCUSED_LEARNED"))
        note_start(store, parts, settings)
    except BaseException:
        store.close()
        raise
    return store


def _learn_again(parts: Parts, store: SqliteStore, folder: Path, started_from: str) -> None:
    prioritizer = parts.prioritizer
    saved = store.load_model(MODEL)
    if saved is not None:
        restore(prioritizer, saved[0], f"what the job in {str(folder)!r} has learned", "give another JOBDIR")
    elif started_from:
        begin_with(prioritizer, started_from)
    learned_up_to = saved[1] if saved else 0
    parts.trainer.begin_at(learned_up_to, int(store.noted(LESSONS) or 0))
    if prioritizer.learns and store.standing().last_page > learned_up_to:
        prioritizer = parts.trainer.catch_up(prioritizer, store.lessons_since(learned_up_to))
    if saved is None and (prioritizer.taught or (not prioritizer.learns and prioritizer.state())):
        # A job goes on with what it began with, and can be asked, even if the prioritizer is taught anew meanwhile.
        store.save_model(MODEL, prioritizer.state(), 0)
    store.prioritizer = prioritizer
    rescoring = store.rescoring()
    rescoring.score()
    rescoring.adopt()


def begin_with(prioritizer: Prioritizer, path: str) -> None:
    """Let a prioritizer begin with what an earlier crawl has learned; JobRefused if it cannot."""
    if not prioritizer.learns:
        raise JobRefused(
            f"learned={path!r}: {prioritizer.name!r} does not learn on the job: name the prioritizer that saved it"
        )
    try:
        state = load_arrays(Path(path).read_bytes())
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise JobRefused(
            f"learned={path!r} is not what a crawl has learned: make such a file with scrapy export --learned"
        ) from error
    restore(prioritizer, state, f"learned={path!r}", "begin without it")


def restore(prioritizer: Prioritizer, state: Arrays, what: str, instead: str) -> None:
    """Give a prioritizer what was learned; JobRefused if it does not fit, with what may be done ``instead``."""
    try:
        prioritizer.restore(state)
    except (ValueError, KeyError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else error
        raise JobRefused(f"{what} does not fit the prioritizer {prioritizer.name!r}: {reason}, or {instead}") from error
