"""A topic that was corrected in mid-crawl: the job goes on, and its pages are judged anew where that can be.

A topic is the same if it has the same name and the same classes are wanted; other words and examples, or another
critic, make another version of it. The job keeps a list of all.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from focused.arrays import Damaged
from focused.critics.base import LearningCritic
from focused.frontier.records import damaged
from focused.frontier.store import JobRefused
from focused.frontier.store_sqlite import SqliteStore
from focused.parts import Parts
from focused.scheduling.starts import ABOUT, parse_about
from focused.topics.topic import Topic
from focused.visits.seeds import CRITIC_STATE
from focused.visits.training import CRITIC

logger = logging.getLogger(__name__)

VERSIONS = "topic versions"
"""The note of a job that lists the versions of its topic, once there are several."""
_KEYS = ("topic", "critic")


def check_focus_of_job(folder: object, about: Mapping[str, Any], topic: Topic) -> None:
    """JobRefused if other classes were wanted; a topic may get its first examples."""
    was = about.get("topic", {}).get("focus") or []
    if was and topic.focus and sorted(was) != sorted(topic.focus):
        raise JobRefused(
            f"job folder {str(folder)!r} was made with the focus {was}, this crawl has {topic.focus}: other classes "
            f"are wanted. Give another JOBDIR, or start the crawl as it was"
        )


def correct(parts: Parts, store: SqliteStore, identity: Mapping[str, str]) -> None:
    """Have a job go on with its topic as it is now, if that is not as it was."""
    was = {key: store.noted(key) or "" for key in _KEYS}
    now = {key: identity[key] for key in _KEYS}
    if was == now:
        return
    pages = store.standing().pages
    can_judge = was["critic"] == now["critic"] and _keywords(store) == parts.topic.keywords
    if not can_judge:
        _begin_anew(parts, store)
    time = datetime.now(UTC).isoformat(timespec="seconds")
    store.revise(VERSIONS, lambda known: json.dumps([*_known(known, was), {**now, "pages": pages, "time": time}]))
    for key in _KEYS:
        store.note(key, now[key])
    store.commit()
    is_learning = isinstance(parts.critic, LearningCritic) and parts.critic.is_learning
    logger.info("The topic was corrected, or has another critic. %s", _what_follows(pages, can_judge, is_learning))
    store.news += can_judge and is_learning


def _known(known: str | None, first: Mapping[str, str]) -> list[Any]:
    try:
        return list(json.loads(known)) if known else [{**first, "pages": 0}]
    except (ValueError, RecursionError, TypeError) as error:
        raise Damaged(f"the note {VERSIONS!r} cannot be read: {error}") from error


def _keywords(store: SqliteStore) -> list[str] | None:
    """Those with which the job was started last."""
    try:
        kept = store.noted(ABOUT)
        keywords: list[str] | None = parse_about(kept)["topic"].get("keywords") if kept else None
    except Damaged as error:
        raise damaged(store.path, error) from error
    return keywords


def _begin_anew(parts: Parts, store: SqliteStore) -> None:
    """What was kept of pages and seeds is how far they show other words, or is of use to another critic only."""
    critic, learned = parts.critic, store.load_model(CRITIC)
    store.forget_gists()
    if store.noted(CRITIC_STATE) is not None:
        store.note(CRITIC_STATE, json.dumps(critic.state()))
    if learned is None:
        return
    version = learned[0].get("version")
    if version is None:
        raise damaged(store.path, "what its critic has learned has no version")
    # Verdicts carry the versions of critics, which must not begin again.
    critic.version = int(version)
    if isinstance(critic, LearningCritic):
        store.save_model(CRITIC, critic.learned(), critic.version)


def _what_follows(pages: int, can_judge: bool, is_learning: bool) -> str:
    if can_judge and is_learning:
        return "All pages are judged anew"
    why = (
        "the critic does not learn here" if can_judge else "what is kept of them is for other words, or another critic"
    )
    return f"The {pages:,} pages fetched before keep their verdicts ({why}), but for those that are marked"
