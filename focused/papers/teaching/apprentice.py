"""What a job's apprentice has learned, or what one can learn from the job's lessons, as a file for the next crawl."""

from __future__ import annotations

import sqlite3

from focused.arrays import save_arrays
from focused.frontier.lessons import read_lessons
from focused.frontier.starts import untaught_prioritizer
from focused.papers.prioritizers.apprentice import Apprentice
from focused.papers.prioritizers.observed import BestFirstObserved, for_apprentice
from focused.prioritizers.base import Lessons


class NothingLearned(ValueError):
    """A job with no apprentice in it; the message says how to come by one."""


def saved_apprentice(connection: sqlite3.Connection) -> bytes:
    """The state that the job saved last, for ``-a learned=FILE``."""
    row = connection.execute("SELECT data FROM models WHERE name = 'prioritizer'").fetchone()
    if row is None:
        raise NothingLearned("this job has saved nothing learned; --train has an apprentice learn from its lessons")
    return bytes(row[0])


def trained_apprentice(connection: sqlite3.Connection) -> tuple[bytes, int]:
    """The state of an apprentice that has studied all lessons of the job, and how many there were."""
    apprentice = _untaught(connection)
    lessons = list(read_lessons(connection))
    if not lessons:
        raise NothingLearned("this job has no lessons: no link to a page that was fetched has kept its evidence")
    batch = for_apprentice(Lessons.concat(lessons))
    return save_arrays(apprentice.study(batch).state()), len(batch)


def _untaught(connection: sqlite3.Connection) -> Apprentice:
    """A new apprentice that fits the evidence of the job."""
    prioritizer = made = untaught_prioritizer(connection)
    if isinstance(prioritizer, BestFirstObserved):
        prioritizer = prioritizer.apprentice
    if not isinstance(prioritizer, Apprentice):
        raise NothingLearned(
            f"a crawl with the prioritizer {made.name!r} keeps no evidence that an apprentice can learn from; one with "
            f"{Apprentice.name!r} does, and one with {BestFirstObserved.name!r}, which fetches what best-first does"
        )
    return prioritizer
