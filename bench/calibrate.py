"""Fits the constants of the critic `combined` on crawls of recorded webs, and shows how well they hold on another web.

    scrapy compare all --web WEB.warc.gz … --given words --prioritizers focused --limits '' --fast --out out/words-web
    python -m bench.calibrate out/words-web out/title-web out/words-other …

Each folder is that of a comparison; its first part of the name, up to the last ``-``, says what was given, the rest
which web it was. From the pages that each crawl fetched, the views of the critic are made anew as after its last page:
words, likeness to wanted pages, and the classifier that has learned from the pages met. Where words and pages were
given, the same pages are judged by critics that were given less: three of the pages, or no words. The constants are
those of a logistic regression on the true labels, in which every crawl weighs the same; first without the classifier,
whose soft labels these are, then with it. Printed are both, and for each web and kind of input the expected calibration
error and the Brier skill score over all pages: with constants from all webs, and with those fitted without this web.

With ``--vectors TABLE`` (as for FOCUSED_VECTORS) only what near words add is fitted (`focused.critics.near`), while all
other constants stay as they are; once more without each web.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from focused.critics import combined
from focused.critics.choose import critic_for
from focused.critics.combined import CombinedCritic
from focused.critics.gist import Gist
from focused.frontier.records import read_records
from focused.lab.calibration import Calibration, measure_calibration, pooled
from focused.lab.plan import read_results
from focused.papers.paths.topics import read_topics
from focused.topics.topic import load_topic

BEFORE = ("words", "V1", "W", "pages", "both", "V2")
AFTER = (*BEFORE, "V3")
NEAR = ("near", "N")


@dataclass
class Crawled:
    """The pages of one crawl that count: a row of views for each, those of word vectors, and whether it is wanted."""

    web: str
    given: str
    views: NDArray[np.float64]
    near: NDArray[np.float64]
    wanted: NDArray[np.bool_]


def read(folder: Path, vectors: str = "") -> list[Crawled]:
    """All crawls of a comparison."""
    given, _, web = folder.name.rpartition("-")
    results = read_results(folder)
    known = read_topics(results.plan.topics_file)
    crawls = []
    for job in sorted((folder / "crawls").glob("*/*/job")):
        topic = load_topic(str(folder / "topics" / job.parts[-3] / f"{job.parts[-2]}.toml"))
        critic = critic_for(topic, folder / "models", vectors=vectors)
        assert isinstance(critic, CombinedCritic)
        ignored = set((folder / "topics" / job.parts[-3] / "ignored.txt").read_text("utf-8").split())
        with closing(read_records(job)) as records:
            pages = records.execute("SELECT url, data FROM pages JOIN gists USING (link) ORDER BY seq").fetchall()
        targets = set(known[topic.name].target_urls)
        for less, judge in given_less(critic):
            new = judge.learn_from_pages([row["data"] for row in pages])
            kept = [row for row in pages if row["url"] not in ignored]
            if new is not None and kept:
                views = new.views([Gist.from_bytes(row["data"]) for row in kept])
                table, near = (
                    np.stack([views.get(name, np.zeros(len(kept))) for name in names], axis=1)
                    for names in (AFTER, NEAR)
                )
                wanted = np.array([row["url"] in targets for row in kept])
                crawls.append(Crawled(web, given + less, table, near, wanted))
    return crawls


def given_less(critic: CombinedCritic) -> Iterator[tuple[str, CombinedCritic]]:
    """A critic, and others that were given less of the same."""
    yield "", critic
    if critic.has_words and critic._wanted:
        for name, has_words, pages in ((" (3 pages)", True, 3), (" (no words)", False, None)):
            less = copy(critic)
            less.has_words, less._wanted = has_words, critic._wanted[:pages]
            yield name, less


def fit(crawls: Sequence[Crawled], names: Sequence[str]) -> LogisticRegression:
    """The constants that make the labels of some crawls most likely."""
    weights = np.concatenate([np.full(len(one.wanted), 1 / len(one.wanted)) for one in crawls])
    model = LogisticRegression(C=1_000, max_iter=1_000)
    views = np.concatenate([one.views[:, : len(names)] for one in crawls])
    return model.fit(views, np.concatenate([one.wanted for one in crawls]), weights * len(weights) / len(crawls))


def fit_near(crawls: Sequence[Crawled], names: Sequence[str], constants: dict[str, float]) -> NDArray[np.float64]:
    """The constants of `NEAR` that make the labels most likely, beside the ``constants`` of the other views."""
    others = np.array([constants.get(name, 0.0) for name in names])
    odds = [constants[""] + one.views[:, : len(names)] @ others for one in crawls]

    def loss(near: NDArray[np.float64]) -> float:
        each = [given + one.near @ near for given, one in zip(odds, crawls, strict=True)]
        parts = [np.logaddexp(0, z) - one.wanted * z for z, one in zip(each, crawls, strict=True)]
        return float(np.mean([part.mean() for part in parts]))

    found: NDArray[np.float64] = minimize(loss, np.array([0.0, 50.0]), method="Nelder-Mead").x
    return found


def print_near(crawls: Sequence[Crawled]) -> None:
    """What near words add before the classifier and with it, by all webs and without each."""
    rests = {f"without {web}": [one for one in crawls if one.web != web] for web in sorted({one.web for one in crawls})}
    for name, chosen in {"all webs": list(crawls), **rests}.items():
        if chosen:
            before = fit_near(chosen, BEFORE, combined._BEFORE)
            after = fit_near(chosen, AFTER, combined._AFTER)
            print(f"{name:<16} before: near {before[0]:+.2f}, N {before[1]:+.0f}", end="   ")
            print(f"with the classifier: near {after[0]:+.2f}, N {after[1]:+.0f}")


def calibration(model: LogisticRegression, crawl: Crawled) -> Calibration:
    """How the probabilities of a model hold for a crawl."""
    relevance = model.predict_proba(crawl.views)[:, 1].astype(np.float32)
    found = measure_calibration(range(len(relevance)), crawl.wanted, relevance)
    assert found is not None
    return found


def in_words(model: LogisticRegression, names: Sequence[str]) -> str:
    """Constants, by their names."""
    each = zip(("", *names), (float(model.intercept_[0]), *model.coef_[0].tolist()), strict=True)
    return ", ".join(f"{name or 'always'} {value:+.2f}" for name, value in each)


def main() -> None:
    """Fit, and hold out one web after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--vectors", default="", metavar="TABLE", help="a table as for FOCUSED_VECTORS")
    options = parser.parse_args()
    crawls = [crawl for folder in options.folders for crawl in read(folder, options.vectors)]
    print(f"{len(crawls)} crawls, {sum(len(one.wanted) for one in crawls):,} pages")
    if options.vectors:
        print_near(crawls)
        return
    print("before the classifier:", in_words(fit(crawls, BEFORE), BEFORE))
    everywhere = fit(crawls, AFTER)
    print("with it:              ", in_words(everywhere, AFTER))
    print(f"{'web':<8} {'given':<16} {'ECE':>6} {'skill':>6}   without this web: ECE  skill")
    for web in sorted({one.web for one in crawls}):
        rest = [one for one in crawls if one.web != web]
        models = [everywhere, *([fit(rest, AFTER)] if rest else [])]
        for given in sorted({one.given for one in crawls if one.web == web}):
            here = [one for one in crawls if (one.web, one.given) == (web, given)]
            figures = []
            for model in models:
                together = pooled([calibration(model, one) for one in here])
                figures.append(f"{together.ece:6.3f} {together.skill:6.2f}")
            print(f"{web:<8} {given:<16} {'            '.join(figures)}")


if __name__ == "__main__":
    main()
