"""What every critic must keep. Each check is a function that raises AssertionError with a sentence.

A critic is given as its class, or as any function that makes one::

    def test_my_critic():
        check_critic(MyCritic)
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from copy import copy

import numpy as np

from focused.critics.base import Critic, LearningCritic, Verdict
from focused.pages.page import Page, Text
from focused.testing.must import must
from focused.testing.toys import BIRDS, MEALS, STARS, UNUSUAL, examples, page

MakeCritic = Callable[[], Critic]
_MOST_KEPT = 4_096
_ROUNDING = 1e-6
_TEXTS = ["bird", "", "boil the potatoes", "zzzz", "owl bird of prey"]


def check_critic(make: MakeCritic) -> None:
    """All checks. A critic that learns is taught with a few small pages first."""
    for check in CRITIC_CHECKS:
        check(make)


def ready(make: MakeCritic) -> Critic:
    """A critic that can judge."""
    critic = make()
    if not critic.learns:
        return critic
    pages, classes = examples()
    taught = critic.fit(pages, classes, ["nature.birds"])
    must(taught is critic, "fit returns the critic itself", taught)
    return critic


def pages() -> list[Page]:
    """Usual and unusual pages."""
    return [page(text) for text in [*BIRDS, *STARS, *MEALS, *UNUSUAL]]


def check_verdicts(make: MakeCritic) -> None:
    """A verdict's relevance, and the probability of each class, is a float from 0 to 1."""
    critic = ready(make)
    for one in pages():
        verdict = critic.judge(one)
        must(isinstance(verdict, Verdict), "judge gives a Verdict", verdict)
        for number in (verdict.relevance, *(chance for _, chance in verdict.classes)):
            must(
                type(number) is float and 0 <= number <= 1, "relevance and probabilities are floats from 0 to 1", number
            )


def check_classes(make: MakeCritic) -> None:
    """Classes come best first, and their probabilities sum to 1 at most."""
    critic = ready(make)
    for one in pages():
        chances = [chance for _, chance in critic.judge(one).classes]
        must(chances == sorted(chances, reverse=True), "classes come best first", chances)
        must(sum(chances) <= 1 + 1e-6, "probabilities of classes sum to 1 at most", sum(chances))


def check_judging_changes_nothing(make: MakeCritic) -> None:
    """Judging, scoring texts and explaining leave a critic as it was: verdicts depend on the page alone."""
    critic, every = ready(make), pages()
    first = [critic.judge(one) for one in every]
    critic.score_texts([Text.of(text) for text in _TEXTS])
    for one in every:
        critic.explain(one)
    again = [critic.judge(one) for one in reversed(every)][::-1]
    must(again == first, "a page gets the same verdict whenever it is judged", (first, again))


def check_texts(make: MakeCritic) -> None:
    """Texts get a float32 number from 0 to 1 each, alone as in company."""
    critic, texts = ready(make), [Text.of(text) for text in _TEXTS]
    scores = critic.score_texts(texts)
    must(scores.dtype == np.float32 and scores.shape == (len(texts),), "score_texts gives a float32 a text", scores)
    must(bool(((scores >= 0) & (scores <= 1)).all()), "scores of texts are numbers from 0 to 1", scores)
    alone = [critic.score_texts([text])[0] for text in texts]
    must(np.allclose(scores, alone, atol=1e-6), "a text gets the same score alone and among others", (scores, alone))
    must(critic.score_texts([]).shape == (0,), "score_texts gives an empty array for no texts", critic.score_texts([]))


def check_reasons(make: MakeCritic) -> None:
    """Reasons come strongest first, and no more than were asked for."""
    critic = ready(make)
    for one in pages():
        reasons = critic.explain(one, 5)
        sizes = [abs(reason.weight) for reason in reasons]
        must(len(reasons) <= 5, "explain gives no more reasons than were asked for", reasons)
        must(sizes == sorted(sizes, reverse=True), "reasons come strongest first", reasons)
        must(all(np.isfinite(sizes)), "reasons have finite weights", reasons)


def check_learned(make: MakeCritic) -> None:
    """One that learns puts wanted examples above the others, and judges the same when it was saved and loaded."""
    critic = ready(make)
    if not critic.learns:
        return
    wanted, others = ([critic.judge(page(text)).relevance for text in texts] for texts in (BIRDS, [*STARS, *MEALS]))
    must(min(wanted) > max(others), "examples that are wanted are judged above the others", (wanted, others))
    loaded = pickle.loads(pickle.dumps(critic))  # noqa: S301  # our own
    same = [loaded.judge(one) == critic.judge(one) for one in pages()]
    must(all(same), "a critic that was saved and loaded judges as before", same)


def check_seeds(make: MakeCritic) -> None:
    """What it takes from seeds is plain data, and comes back."""
    critic = ready(make)
    for number, text in enumerate(("The heron wades. ", "The heron fishes. ")):
        changed = critic.learn_from_seed(page(text * 40, url=f"http://seed.example/{number}"))
        must(isinstance(changed, bool), "learn_from_seed says True or False", changed)
    stored = json.loads(json.dumps(critic.state()))
    other = ready(make)
    other.restore(stored)
    heron = page("The heron stands in the water, a heron among others.")
    verdicts = other.judge(heron), critic.judge(heron)
    must(verdicts[0] == verdicts[1], "restore brings back what state gave", verdicts)


def check_on_the_job(make: MakeCritic) -> None:
    """One that learns from the pages of its crawl gives a new snapshot, judges kept pages as it judges pages now, and
    goes on with what it learned.
    """
    critic = ready(make)
    if not (isinstance(critic, LearningCritic) and critic.is_learning):
        return
    kept = [critic.gist(one) for one in pages()]
    must(max(map(len, kept)) <= _MOST_KEPT, "at most 4 KB are kept of a page", max(map(len, kept)))
    before = [critic.judge(one) for one in pages()]
    again = critic.judge_again(kept)
    must(all(map(_alike, again, before)), "judge_again gives the verdicts that judge gives", (again, before))
    new = critic.learn_from_pages(kept * 4, [(kept[0], True)])
    must([critic.judge(one) for one in pages()] == before, "a critic that has learned is a new one", before)
    if new is None:
        return
    must(new.version == critic.version + 1, "what has learned is of the next version", new.version)
    other = ready(make)
    must(isinstance(other, LearningCritic), "every critic that is made learns on the job", other)
    if isinstance(other, LearningCritic):
        restored = copy(other)
        restored.restore_learned(new.learned())
        verdicts = [restored.judge(one) for one in pages()], [new.judge(one) for one in pages()]
        must(verdicts[0] == verdicts[1], "restore_learned brings back what learned gave", verdicts)
        verdicts = [other.judge(one) for one in pages()], before
        must(verdicts[0] == verdicts[1], "restore_learned changes nothing of what it is a copy of", verdicts)


def _alike(one: Verdict, other: Verdict) -> bool:
    return abs(one.relevance - other.relevance) < _ROUNDING


CRITIC_CHECKS: tuple[Callable[[MakeCritic], None], ...] = (
    check_verdicts,
    check_classes,
    check_judging_changes_nothing,
    check_texts,
    check_reasons,
    check_learned,
    check_seeds,
    check_on_the_job,
)
