"""A topic is tried before it is crawled: its critic judges a small sample, the seeds and pages that they link to.

Half of the links in the sample are those whose own words the critic likes best, half are spread evenly over the rest,
so that there are pages of all kinds. Verdicts are those with which a crawl would begin. Then the critic learns from the
sample, as it would in a crawl, to show which words it adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scrapy.crawler import CrawlerRunnerBase
from scrapy.settings import Settings

from focused.critics.base import RELEVANT, Critic, LearningCritic
from focused.critics.choose import critic_for
from focused.defaults import read, read_all
from focused.pages.fetched import Fetched
from focused.pages.page import Page, Text, texts_of
from focused.responses import limits_of
from focused.safety.scope import Rules, Scope
from focused.spiders.examples import Progress, fetch_pages
from focused.teaching.doubts import GivenWords, choice_for, doubts_about_pages, doubts_about_seeds, words_of
from focused.teaching.gathering import pages_of_web
from focused.topics.topic import Topic

_READ_OF_A_PAGE = 200
_ON_NEARLY_ALL = 0.8
_ENOUGH = 5


@dataclass(frozen=True, slots=True)
class Tried:
    """A page of the sample, and its relevance."""

    page: Page
    relevance: float


@dataclass(frozen=True, slots=True)
class Trial:
    """What a critic made of a sample, the best page first.

    ``given`` says on how many pages each of the topic's words is. ``shown`` are the words that spoke for pages,
    ``added`` those that the critic then learned from them, the strongest first.
    """

    tried: list[Tried]
    given: dict[str, int]
    shown: list[str]
    added: list[str]
    doubts: list[str]

    @property
    def wanted(self) -> float:
        """About how many pages are wanted."""
        return sum(one.relevance for one in self.tried)

    @property
    def found(self) -> int:
        """How many pages are relevant."""
        return sum(one.relevance >= RELEVANT for one in self.tried)

    @property
    def never(self) -> list[str]:
        """The given words that are on no page."""
        return [word for word, pages in self.given.items() if not pages]

    @property
    def everywhere(self) -> list[str]:
        """The given words that are on nearly every page."""
        least = max(_ON_NEARLY_ALL * len(self.tried), _ENOUGH)
        return [word for word, pages in self.given.items() if pages >= least]


@dataclass
class Sample:
    """Pages without repetitions, which of them are ``seeds``, and why others are missing."""

    pages: list[Page] = field(default_factory=list)
    seeds: list[Page] = field(default_factory=list)
    missing: Fetched = field(default_factory=Fetched)

    def add(self, urls: Sequence[str], fetched: Fetched) -> list[Page]:
        """The pages at these addresses that are new, in this order."""
        self.missing.failures |= fetched.failures
        digests = {page.digest for page in self.pages}
        distinct: dict[int, Page] = {}
        for page in (fetched.pages[url] for url in urls if url in fetched.pages):
            if page.digest not in digests:
                distinct.setdefault(page.digest, page)
        self.pages += distinct.values()
        return list(distinct.values())


async def gather_sample(
    topic: Topic, settings: Settings, most: int, *, web: str, runner: CrawlerRunnerBase, progress: Progress
) -> Sample:
    """Fetch the seeds of a topic and pages that they link to, ``most`` addresses in all; or take them from a ``web``.

    OSError or ValueError if a recorded web cannot be read; Interrupted if the fetching was stopped.
    """
    critic, scope = _critic(topic, settings), Scope(read_all(Rules, settings, "SCOPE", "TRAP"))
    sample, asked = Sample(), dict[str, None]()

    async def get(urls: Sequence[str]) -> list[Page]:
        def show(done: int, _: int, failed: int) -> None:
            progress(before + done, most, missing + failed)

        before, missing = len(asked), len(sample.missing.failures)
        asked.update(dict.fromkeys(urls))
        if web:
            return sample.add(urls, pages_of_web(urls, web, limits_of(settings)))
        return sample.add(urls, await fetch_pages(urls, settings, runner, show))

    sample.seeds = await get(topic.seeds[: max(most // 2, 1)])
    for seed in sample.seeds:
        critic.learn_from_seed(seed)
    while len(asked) < most and (links := choose_links(critic, sample.pages, scope, asked, most - len(asked))):
        await get(links)
    return sample


def choose_links(critic: Critic, pages: Sequence[Page], scope: Scope, asked: Collection[str], most: int) -> list[str]:
    """Links of some pages: half are the best, half are spread over the rest."""
    texts: dict[str, Text] = {}
    for page in pages:
        links = page.links
        anchors = texts_of(page, page.starts[links.first], page.starts[links.last + 1])
        for url, text in zip(scope.admit(links.urls, 1), anchors, strict=True):
            if url and url not in asked:
                texts.setdefault(url, text)
    urls = list(texts)
    best = np.argsort(-critic.score_texts(list(texts.values())), kind="stable")[: (most + 1) // 2].tolist()
    rest = np.delete(np.arange(len(urls)), best)
    spread = rest[np.linspace(0, len(rest) - 1, min(most - len(best), len(rest))).astype(int)].tolist()
    return [urls[i] for i in (*best, *spread)]


def try_topic(topic: Topic, settings: Settings, sample: Sample) -> Trial:
    """What the critic of a topic makes of a sample."""
    critic = critic_to_try(topic, settings, sample)
    tried = [Tried(page, critic.judge(page).relevance) for page in sample.pages]
    learned: Critic | None = None
    if isinstance(critic, LearningCritic):
        learned = critic.learn_from_pages([critic.gist(page) for page in sample.pages])
    found = sum((learned or critic).judge(page).relevance >= RELEVANT for page in sample.pages)
    words = words_of(choice_for(topic, settings))
    added = _loudest(learned, tried) if learned else []
    return Trial(
        tried=sorted(tried, key=lambda one: -one.relevance),
        given=_counted(words, sample.pages) if words else {},
        shown=_loudest(critic, tried),
        added=[word for word in added if not (words and (word in words.terms.names or words.terms.knows(word)))],
        doubts=[
            *doubts_about_seeds({one.page.url: one.relevance for one in tried if one.page in sample.seeds}),
            *doubts_about_pages([one.relevance for one in tried], found),
        ],
    )


def critic_to_try(topic: Topic, settings: Settings, sample: Sample) -> Critic:
    """The critic with which a crawl of a topic would begin: it knows the seeds."""
    critic = _critic(topic, settings)
    for seed in sample.seeds:
        critic.learn_from_seed(seed)
    return critic


def _critic(topic: Topic, settings: Settings) -> Critic:
    return critic_for(topic, Path(read(settings, "FOCUSED_MODELS")), read(settings, "FOCUSED_CRITIC"))


def _counted(words: GivenWords, pages: Sequence[Page]) -> dict[str, int]:
    """On how many pages each of the given words and phrases occurs."""
    counts = np.sum([words.terms.occur_on(page) for page in pages], axis=0)
    on_pages = dict(zip(words.terms.names, counts.tolist(), strict=True))
    return {name: on_pages[name] for name in words.phrases}


def _loudest(critic: Critic, tried: Sequence[Tried]) -> list[str]:
    """The words that speak for pages, weighted by how relevant these are; the strongest first."""
    sums: Counter[str] = Counter()
    for one in tried:
        for reason in critic.explain(one.page, _READ_OF_A_PAGE):
            sums[reason.word] += one.relevance * reason.weight  # type: ignore[assignment]  # Counters sum floats
    return [word for word, weight in sums.most_common() if weight > 0]
