"""A sample that somebody corrects: its pages are judged anew with every answer, as a crawl would judge them."""

from __future__ import annotations

from collections.abc import Mapping

from scrapy.settings import Settings

from focused.critics.base import LearningCritic
from focused.frontier.store import as_said
from focused.pages.page import Page
from focused.pages.tokens import words
from focused.teaching.trial import Sample, critic_to_try
from focused.topics.topic import Topic

_READ_OF_A_PAGE = 200
_WINDOW = 30


class CorrectedSample:
    """The critic of a topic and a sample. Answers are by the addresses of pages: are they wanted?"""

    def __init__(self, topic: Topic, settings: Settings, sample: Sample) -> None:
        self.pages = sample.pages
        self._critic = critic_to_try(topic, settings, sample)
        gist = self._critic.gist if isinstance(self._critic, LearningCritic) else lambda _: b""
        self._gists = [gist(page) for page in self.pages]

    def judge(self, answers: Mapping[str, bool]) -> list[float]:
        """The relevance of each page, once the critic has learned from all of them and from what was said."""
        critic, pairs = self._critic, list(zip(self.pages, self._gists, strict=True))
        if isinstance(critic, LearningCritic):
            met = [gist for page, gist in pairs if page.url not in answers]
            said = [(gist, answers[page.url]) for page, gist in pairs if page.url in answers]
            critic = critic.learn_from_pages(met, said) or critic
        return [as_said(critic.judge(page).relevance, answers.get(page.url)) for page in self.pages]

    def near(self, page: Page) -> list[tuple[str, bool]]:
        """The part of a page's text that says most to the critic, word by word, and whether the word speaks for it."""
        loud = {reason.word for reason in self._critic.explain(page, _READ_OF_A_PAGE) if reason.weight > 0}
        text = page.text.split()
        speaks = [not loud.isdisjoint(words(word)) for word in text]
        sums = [sum(speaks[:_WINDOW])]
        for left, come in zip(speaks, speaks[_WINDOW:], strict=False):
            sums.append(sums[-1] - left + come)
        first = sums.index(max(sums))
        return list(zip(text, speaks, strict=True))[first : first + _WINDOW]
