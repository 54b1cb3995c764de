"""How long a million waiting links take to be scored again, and what evidence and learning cost a page.

Of `crf`, `memm` and `hmm` evidence and score together, the features and the state of the page among them.

python -m bench.scoring --links 1000000 --features 80
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from focused.critics.base import Verdict
from focused.critics.logistic import LogisticCritic
from focused.critics.teach import fit_for_use
from focused.pages.evidence import Evidence
from focused.pages.page import Page, page_from_html
from focused.papers.critics.lexical import LexicalCritic
from focused.papers.paths.stops import Stop
from focused.papers.prioritizers.apprentice import Apprentice
from focused.papers.prioritizers.crf import Crf
from focused.papers.prioritizers.hmm import Hmm
from focused.papers.prioritizers.lexical import Lexical
from focused.papers.prioritizers.memm import Memm
from focused.prioritizers.base import Lessons
from focused.prioritizers.focused import Focused


def random_evidence(links: int, features: int) -> Evidence:
    """Rows of features spread over the whole table: the worst case for a cache."""
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 2**32, links * features, dtype=np.uint32)
    dense = rng.normal(size=(links, len(Apprentice.dense))).astype(np.float32)
    return Evidence.of(np.arange(links + 1, dtype=np.int64) * features, ids, dense)


def as_focused_sees(evidence: Evidence) -> Evidence:
    """The same features, taken for words around, ten words of the address and places."""
    dense = np.zeros((len(evidence), len(Focused().dense)), np.float32)
    dense[:, -1] = 10
    return replace(evidence, dense=dense)


def lessons_of(evidence: Evidence) -> Lessons:
    """Lessons of which one in twenty is good news."""
    n = len(evidence)
    good = np.where(np.arange(n) % 20 == 0, 0.9, 0.02).astype(np.float32)
    return Lessons(evidence, good, good, np.ones(n, np.float32), *np.ones((2, n), np.bool_))


def levels() -> LexicalCritic:
    """Three full levels, and each word of the page in about ten of their terms."""
    rng = np.random.default_rng(0)
    texts = [" . ".join(f"word{i} word{j}" for i, j in rng.integers(0, 300, (2_000, 2))) for _ in range(4)]
    pages = [page_from_html(f"<p>{text}</p>", "http://example.example/") for text in texts]
    return LexicalCritic(languages=["en"]).fit(pages, ["a.b.c", "a.b", "a", "other"], ["a.b.c"])


def scored(lexical: Lexical, page: Page) -> object:
    """What the crawl does with a page's links."""
    return lexical.score(lexical.evidence(page, Verdict(0.5), page.links))


def best_of(times: int, work: Callable[[], object]) -> float:
    """Milliseconds of the fastest of several runs."""
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    return 1000 * min(spent)


def taught_crf(page: Page, states: int = 14) -> Crf:
    """A CRF of so many states that knows every feature of a page."""
    names = ["goal", "fail", *(f"milestone {i}" for i in range(states - 2))]
    crf = Crf(iterations=5)
    crf.teach([[Stop(page, "milestone 0", 1, i), Stop(page, name, 0, -1)] for i, name in enumerate(names)])
    return crf


def crf_page(crf: Crf, page: Page) -> None:
    """What a crawl asks for a page that was reached by a link."""
    arrived_by = crf.evidence(page, Verdict(0.5), page.links.select([0]))
    # Another page with the same content: what is said of a page is remembered.
    fresh = replace(page)
    crf.score(crf.evidence(fresh, Verdict(0.5), fresh.links, arrived_by=arrived_by))


def page_of(number: int, links: int = 40) -> Page:
    """A page with so many links and some 30 words beside each."""
    words = " ".join(f"word{i}" for i in range(number % 7, 30 + number % 7))
    body = "".join(f"<p>{words}</p><a href=/{i}/list>link {i} {number % 9}</a>" for i in range(links))
    return page_from_html(f"<h1>page {number % 9}</h1>{body}", f"http://site.example/{number}")


def taught_by_layers(kind: type[Memm] | type[Hmm], targets: int = 300) -> Memm | Hmm:
    """One that is taught by paths of three pages, with so many targets."""
    pages = [page_of(number) for number in range(60)]
    classes = ["wanted" if number % 2 else "other" for number in range(2 * targets)]
    critic = fit_for_use(LogisticCritic(), [page_of(i) for i in range(2 * targets)], classes, ["wanted"])
    prioritizer = kind(critic=critic)
    layers = (2, 1, 0)
    prioritizer.teach([[Stop(pages[3 * i + j], "to goal", layers[j], j) for j in range(3)] for i in range(20)])
    return prioritizer


def page_on_path(prioritizer: Memm | Hmm, page: Page) -> Callable[[], object]:
    """What a crawl asks for a page that was reached by a link."""
    led_by = prioritizer.evidence(page, Verdict(0.5), page.links.select([0]))
    return lambda: prioritizer.score(prioritizer.evidence(page, Verdict(0.5), page.links, arrived_by=led_by))


def main() -> None:
    """Print milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=80)
    told = parser.parse_args()
    waiting = random_evidence(told.links, told.features)
    few = lessons_of(random_evidence(40, told.features))
    words = " ".join(f"word{i}" for i in range(30))
    page = page_from_html(
        "".join(f"<p>{words}</p><a href=/{i}>link {i}</a>" for i in range(40)), "http://site.example/"
    )
    lexical = Lexical(critic=levels())
    for learner in ("logistic", "naive-bayes"):
        apprentice = Apprentice(learner=learner)
        for _ in range(100):
            apprentice = apprentice.learn(few) or apprentice
        print(f"{learner}: score {told.links:,} links of {told.features} features", end=" ")
        print(f"{best_of(3, lambda a=apprentice: a.score(waiting)):.0f} ms")  # type: ignore[misc]
        print(f"{learner}: learn 40 lessons {best_of(20, lambda a=apprentice: a.learn(few)):.2f} ms")  # type: ignore[misc]
    print(f"evidence of 40 links {best_of(50, lambda: apprentice.evidence(page, Verdict(0.5), page.links)):.2f} ms")
    focused, seen = Focused(), lessons_of(as_focused_sees(few.evidence))
    for _ in range(100):
        focused = focused.learn(seen) or focused
    every = as_focused_sees(waiting)
    print(f"focused: score {told.links:,} links {best_of(3, lambda: focused.score(every)):.0f} ms,", end=" ")
    print(f"learn 40 lessons {best_of(20, lambda: focused.learn(seen)):.2f} ms,", end=" ")
    print(f"evidence of 40 links {best_of(50, lambda: focused.evidence(page, Verdict(0.5), page.links)):.2f} ms")
    print(f"lexical: verdict {best_of(50, lambda: lexical.critic.judge(page)):.2f} ms,", end=" ")  # type: ignore[union-attr]
    print(f"evidence and scores of 40 links {best_of(50, lambda: scored(lexical, page)):.2f} ms")
    crf = taught_crf(page)
    print(f"crf: evidence and score of 40 links, 14 states {best_of(50, lambda: crf_page(crf, page)):.2f} ms")
    for kind in (Memm, Hmm):
        spent = best_of(50, page_on_path(taught_by_layers(kind), page))
        print(f"{kind.name}: evidence and score of 40 links {spent:.2f} ms")


if __name__ == "__main__":
    main()
