"""The apprentice trained offline: on the lessons of a best-first crawl (§3.5 of the paper)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from focused.critics.base import Critic
from focused.frontier.store_sqlite import SqliteStore
from focused.pages.evidence import Evidence
from focused.prioritizers.apprentice import Apprentice
from focused.prioritizers.base import Lessons

NOTES = "focused.lab.offline.Notes"


class Notes(Apprentice):
    """Crawls best-first, and keeps the evidence that an apprentice would have seen."""

    name = "best-first with notes"
    learns = False

    def __init__(self, *, critic: Critic | None = None, **options: Any) -> None:
        super().__init__(critic=critic, **{**options, "combine": "first"})

    def score(self, evidence: Evidence) -> NDArray[np.float32]:
        """R(*u*), which an apprentice's evidence holds as log-odds (cut off where they say no more)."""
        return np.asarray(expit(evidence.dense[:, 0]), np.float32)


def study(job: Path, apprentice: Apprentice, file: Path) -> None:
    """Train an apprentice on the lessons of a finished job, and save it for ``-a apprentice=FILE``."""
    store = SqliteStore(job, apprentice)
    try:
        lessons = [lesson for lesson in store.lessons_since(0) if lesson is not None and len(lesson)]
    finally:
        store.close()
    if not lessons:
        raise ValueError(f"{job}: the crawl brought no lessons to study")
    state = apprentice.study(Lessons.concat(lessons)).state()
    with file.open("wb") as out:
        np.savez_compressed(out, **state)  # type: ignore[arg-type]  # the stubs take the keywords for allow_pickle
