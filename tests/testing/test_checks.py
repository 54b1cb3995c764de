"""The shipped checks: a critic or prioritizer that keeps its promises passes, one that breaks any is told which."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from focused.critics.base import Critic, Reason, Verdict
from focused.pages.evidence import Evidence
from focused.pages.page import Page
from focused.prioritizers.base import Contribution, Lessons
from focused.prioritizers.simple import Link, SimplePrioritizer
from focused.testing import check_critic, check_prioritizer


class Birds(Critic):
    """A critic in two lines: everything that it does not say has a default."""

    def judge(self, page: Page) -> Verdict:
        return Verdict(min(page.text.lower().count("bird") / 3, 1.0))


class Taught(Birds):
    """One that must be taught."""

    learns = True

    def fit(self, pages: Any, classes: Any, focus: Any) -> Any:
        self.birds_count = 0.3
        return self

    def judge(self, page: Page) -> Verdict:
        return Verdict(min(page.text.lower().count("bird") * self.birds_count, 1.0))


@pytest.mark.parametrize("good", [Birds, Taught])
def test_a_critic_that_keeps_all_passes(good: type[Critic]) -> None:
    check_critic(good)


class Percent(Birds):
    def judge(self, page: Page) -> Verdict:
        return Verdict(100 * super().judge(page).relevance)


class BareNumber(Birds):
    def judge(self, page: Page) -> Any:
        return 0.5


class WorstFirst(Birds):
    def judge(self, page: Page) -> Verdict:
        return Verdict(0.5, (("other", 0.2), ("birds", 0.8)))


class TooSure(Birds):
    def judge(self, page: Page) -> Verdict:
        return Verdict(0.5, (("birds", 0.8), ("other", 0.7)))


class Tiring(Birds):
    judged = 0

    def judge(self, page: Page) -> Verdict:
        self.judged += 1
        return Verdict(1 / self.judged)


class OneNumberForAll(Birds):
    def score_texts(self, texts: Any) -> Any:
        return np.zeros(1, np.float32)


class Doubles(Birds):
    def score_texts(self, texts: Any) -> Any:
        return np.zeros(len(texts))


class Relative(Birds):
    def score_texts(self, texts: Any) -> Any:
        return np.linspace(0, 1, len(texts), dtype=np.float32)


class Undecided(Birds):
    def score_texts(self, texts: Any) -> Any:
        return np.full(len(texts), np.nan, np.float32)


class Talkative(Birds):
    def explain(self, page: Page, most: int = 10) -> list[Reason]:
        return [Reason("word", 1.0)] * 20


class Anticlimactic(Birds):
    def explain(self, page: Page, most: int = 10) -> list[Reason]:
        return [Reason("word", 1.0), Reason("other", -2.0)]


class LearnsNothing(Taught):
    def judge(self, page: Page) -> Verdict:
        return Verdict(0.5)


class FitsAnother(Taught):
    def fit(self, pages: Any, classes: Any, focus: Any) -> Any:
        return Taught().fit(pages, classes, focus)


class Forgets(Taught):
    def __getstate__(self) -> dict[str, float]:
        return {"birds_count": 0.1}


class KeepsSeedsToItself(Birds):
    seeds = 0

    def judge(self, page: Page) -> Verdict:
        return Verdict(self.seeds / 10)

    def learn_from_seed(self, seed: Page) -> bool:
        self.seeds += 1
        return True


class KeepsPages(Birds):
    def state(self) -> dict[str, Any]:
        return {"page": Page.of_text("birds")}


BROKEN_CRITICS = [
    (Percent, "floats from 0 to 1"),
    (BareNumber, "judge gives a Verdict"),
    (WorstFirst, "best first"),
    (TooSure, "sum to 1 at most"),
    (Tiring, "same verdict whenever"),
    (OneNumberForAll, "a float32 a text"),
    (Doubles, "a float32 a text"),
    (Relative, "alone and among others"),
    (Undecided, "numbers from 0 to 1"),
    (Talkative, "no more reasons"),
    (Anticlimactic, "strongest first"),
    (LearnsNothing, "judged above the others"),
    (FitsAnother, "fit returns the critic itself"),
    (Forgets, "saved and loaded judges as before"),
    (KeepsSeedsToItself, "restore brings back"),
]


@pytest.mark.parametrize(("broken", "promise"), BROKEN_CRITICS, ids=lambda case: getattr(case, "__name__", ""))
def test_a_critic_that_breaks_a_promise_is_told_which(broken: type[Critic], promise: str) -> None:
    with pytest.raises(AssertionError, match=promise):
        check_critic(broken)


def test_a_state_that_is_not_plain_data_is_refused_by_its_kind() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        check_critic(KeepsPages)


class Guesses(SimplePrioritizer):
    """The score of a link is a guess."""

    def guess(self, link: Link) -> float:
        return min(len(link.anchor) / 50, 1.0)


class Learns(SimplePrioritizer):
    """Learns from what links are called."""

    def features(self, link: Link) -> Iterable[str]:
        return link.anchor.lower().split()


@pytest.mark.parametrize("good", [Guesses, Learns])
def test_a_prioritizer_that_keeps_all_passes(good: type[SimplePrioritizer]) -> None:
    check_prioritizer(good)


class Drops(Learns):
    def evidence(self, *args: Any, **known: Any) -> Evidence:
        return super().evidence(*args, **known).select([0])


class Elsewhere(Learns):
    def evidence(self, *args: Any, **known: Any) -> Evidence:
        found = super().evidence(*args, **known)
        found.leaf = found.leaf + 1
        return found


class Undeclared(Learns):
    dense = ("one", "two", "three")


class Neighbourly(Guesses):
    def evidence(self, page: Any, verdict: Any, links: Any, **known: Any) -> Evidence:
        found = super().evidence(page, verdict, links, **known)
        found.dense /= np.float32(max(len(links), 1))
        return found


class AboveOne(Guesses):
    def score(self, evidence: Evidence) -> Any:
        return super().score(evidence) + np.float32(1)


class Precise(Guesses):
    def score(self, evidence: Evidence) -> Any:
        return super().score(evidence).astype(np.float64)


class Fidgety(Guesses):
    times = 0

    def score(self, evidence: Evidence) -> Any:
        self.times += 1
        return super().score(evidence) / np.float32(self.times)


class Scribbles(Guesses):
    def score(self, evidence: Evidence) -> Any:
        scores = super().score(evidence)
        evidence.leaf = evidence.leaf + 1
        return scores


class Ranks(Guesses):
    def score(self, evidence: Evidence) -> Any:
        return super().score(evidence) / np.float32(max(len(evidence), 4))


class LooksAtAllBits(Learns):
    id_bits = 4


class LearnsInPlace(Learns):
    def learn(self, lessons: Lessons) -> Any:
        self.learner = self.learner.learn(lessons)
        return self


class SaysItLearns(Learns):
    def learn(self, lessons: Lessons) -> Any:
        return None


class LearnsFromTheDead(Learns):
    def learn(self, lessons: Lessons) -> Any:
        lessons.alive[:] = True
        return super().learn(lessons)


class Rolls(Guesses):
    made = 0

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        type(self).made += 1
        self.luck = np.float32(1 / type(self).made)

    def score(self, evidence: Evidence) -> Any:
        return super().score(evidence) * self.luck


class Amnesiac(Learns):
    def restore(self, state: Any) -> None:
        pass


class Mute(Learns):
    def explain(self, evidence: Evidence) -> list[Contribution]:
        return []


BROKEN_PRIORITIZERS = [
    (Drops, "a row for each link"),
    (Elsewhere, "links' first leaves"),
    (Undeclared, "a column for each name"),
    (Neighbourly, "when only some links are asked for"),
    (AboveOne, "numbers from 0 to 1"),
    (Precise, "float32 a row"),
    (Fidgety, "same score when only some|same scores"),
    (Scribbles, "leaves the evidence as it was"),
    (Ranks, "alone and in company"),
    (LooksAtAllBits, "stored evidence has the same scores"),
    (LearnsInPlace, "new snapshot, not itself"),
    (SaysItLearns, "whether learn gives a snapshot"),
    (LearnsFromTheDead, "`learns_of_the_dead` says whether dead links"),
    (Rolls, "same lessons give the same scores"),
    (Amnesiac, "restore brings back exactly"),
    (Mute, "each link is explained"),
]


@pytest.mark.parametrize(("broken", "promise"), BROKEN_PRIORITIZERS, ids=lambda case: getattr(case, "__name__", ""))
def test_a_prioritizer_that_breaks_a_promise_is_told_which(broken: type[SimplePrioritizer], promise: str) -> None:
    with pytest.raises(AssertionError, match=promise):
        check_prioritizer(broken)
