"""Opening a job: a new one, or one that was cut short, with what it had learned."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scrapy.settings import BaseSettings

from focused.defaults import read
from focused.frontier.starts import note_start
from focused.frontier.store_sqlite import SqliteStore
from focused.topics.identity import fingerprint

if TYPE_CHECKING:
    from focused.parts import Parts

logger = logging.getLogger(__name__)

MODEL = "prioritizer"
CRITIC_STATE = "critic state"


def open_store(parts: Parts, folder: Path, settings: BaseSettings) -> SqliteStore:
    """The store of a job folder. A job that was cut short goes on: its critic, its model, its order."""
    prioritizer = parts.prioritizer
    identity = {"topic": fingerprint(parts.topic), "prioritizer": prioritizer.name, "critic": parts.critic.name}
    store = SqliteStore(
        folder,
        prioritizer,
        identity=identity,
        most_pieces=read(settings, "FOCUSED_EVIDENCE_PIECES"),
        most_leases=read(settings, "FOCUSED_LEASES"),
    )
    critic = store.noted(CRITIC_STATE)
    if critic is not None:
        parts.critic.restore(json.loads(critic))
    if store.pages or store.waiting:
        logger.info("Going on with the job in %s: %d pages, %d links wait", folder, store.pages, store.waiting)
    _learn_again(parts, store, read(settings, "FOCUSED_APPRENTICE"))
    note_start(store, parts, settings)
    return store


def _learn_again(parts: Parts, store: SqliteStore, started_from: str) -> None:
    prioritizer = parts.prioritizer
    saved = store.load_model(MODEL)
    if saved is not None:
        prioritizer.restore(saved[0])
    elif started_from:
        with np.load(started_from, allow_pickle=False) as arrays:
            prioritizer.restore({name: arrays[name] for name in arrays.files})
    learned_up_to = saved[1] if saved else 0
    if prioritizer.learns and store.last_page > learned_up_to:
        prioritizer = parts.trainer.catch_up(prioritizer, store.lessons_since(learned_up_to))
    store.prioritizer = prioritizer
    store.rescore()()()


def save_model(parts: Parts) -> None:
    """Keep what the prioritizer has learned so far with the job."""
    store = parts.store
    if store is not None and store.prioritizer.learns:
        store.save_model(MODEL, store.prioritizer.state(), store.last_page - parts.trainer.pages_waiting)
