"""What speaks against a topic: sentences for its author, each with a way out. A crawl goes on all the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scrapy.settings import BaseSettings

from focused.critics.base import LearningCritic
from focused.critics.choose import Choice, choose_critic, topic_reference
from focused.critics.gist import MOST_TERMS
from focused.critics.language import Language
from focused.critics.models import Card, load_card
from focused.critics.terms import Terms, language_of_phrases, phrases_of, rarity_of, shown_at_all, terms_of_phrases
from focused.defaults import read
from focused.pages.page import Page
from focused.report.text import WIDE, counted, short
from focused.topics.identity import slug
from focused.topics.topic import Topic

_UNLIKE = 0.1
"""A page that is less relevant does not look like the topic at all."""
_LONGEST_PHRASE = 5
_RARE_ENOUGH = 0.1
_NAMED = 5
_ENOUGH = 10
_FEWEST_COMPARED = 3
FIRST_PAGES = 50
"""So many tell whether all pages show the words of a topic."""


def choice_for(topic: Topic, settings: BaseSettings) -> Choice:
    """The critic that the settings and the topic name, or that was trained."""
    return choose_critic(topic, read(settings, "FOCUSED_CRITIC"), _card(topic, settings))


def doubts_about(topic: Topic, settings: BaseSettings) -> Iterator[str]:
    """What speaks against a topic's words, and what came up when its critic was taught."""
    choice, card = choice_for(topic, settings), _card(topic, settings)
    where = f"{topic.file}: keywords" if topic.file else f"topic {topic.name!r}"
    yield from (f"{where}: {doubt}" for doubt in _about_words(choice))
    if card is not None and choice.is_taught:
        yield from card.doubts


def _card(topic: Topic, settings: BaseSettings) -> Card | None:
    return load_card(Path(read(settings, "FOCUSED_MODELS")), slug(topic), topic=topic_reference(topic))


@dataclass(frozen=True, slots=True)
class GivenWords:
    """The words and phrases by which a critic judges, the language that they are taken to be in, and their terms."""

    phrases: dict[str, list[str]]
    language: Language
    terms: Terms


def words_of(choice: Choice) -> GivenWords | None:
    """The words by which a critic judges, if it does."""
    phrases = phrases_of(choice.options.get("keywords", ()))
    if not phrases:
        return None
    language = language_of_phrases(phrases, choice.options.get("languages", ()))
    return GivenWords(phrases, language, Terms(terms_of_phrases(phrases, language), language))


def _about_words(choice: Choice) -> Iterator[str]:
    words = words_of(choice)
    if words is None:
        return
    phrases, language = words.phrases, words.language
    for keyword in choice.options["keywords"]:
        read_as = " ".join(phrases_of([keyword]))
        if len(read_as) == 1:
            yield f"{keyword!r} is read as the single character {read_as!r}, which says little: give words"
        elif len(keyword.split()) > _LONGEST_PHRASE or "," in keyword:
            yield f"{short(keyword, WIDE)!r} is taken for one phrase: if it is several, make each an entry of its own"
    if all(rarity_of(word, language) < _RARE_ENOUGH for found in phrases.values() for word in found):
        yield f"{_named(phrases)}: too common to tell pages apart: give words that only wanted pages use"
    if len(language.codes) > 1 and not choice.options.get("languages"):
        codes = ", ".join(f'"{code}"' for code in language.codes)
        yield f"the words seem to be of several languages: confirm or correct them by languages = [{codes}] in [critic]"
    terms = len(words.terms.names)
    if terms > MOST_TERMS and issubclass(choice.kind, LearningCritic):
        yield f"too many words, {terms} with those of phrases: only the first {MOST_TERMS} count; leave some out"


def doubts_about_examples(
    choice: Choice, examples: Sequence[tuple[str, Page]], wanted: Sequence[bool]
) -> Iterator[str]:
    """Do the words contradict the example pages? ``examples`` are pages with what the user calls them."""
    words = words_of(choice)
    if words is None or not any(wanted):
        return
    terms = words.terms
    degree = shown_at_all(np.array([terms.shown_by(page) for _, page in examples]), terms.weights)
    is_wanted = np.array(wanted, bool)
    names = [short(name, WIDE) for name, _ in examples]
    one, given = names[int(np.argmax(is_wanted))], f"the keywords ({_named(words.phrases)})"
    if not any(terms.occur_on(page).any() for (_, page), is_so in zip(examples, wanted, strict=True) if is_so):
        said = f"no wanted example (such as {one}) shows any of {given}"
    elif _is_comparable(is_wanted) and degree[~is_wanted].mean() > degree[is_wanted].mean():
        other = names[int(np.argmax(np.where(is_wanted, -1, degree)))]
        said = f"unwanted examples (such as {other}) show {given} more than wanted ones do (such as {one})"
    else:
        return
    yield f"The words contradict the examples: {said}; change the keywords, the focus or the examples"


def _is_comparable(is_wanted: NDArray[np.bool_]) -> bool:
    """Are there enough on both sides? One page may show the words or not, by chance."""
    return min(int(is_wanted.sum()), int((~is_wanted).sum())) >= _FEWEST_COMPARED


def doubts_about_seeds(judged: Mapping[str, float]) -> Iterator[str]:
    """Does none of the pages to begin at look like the topic? ``judged`` is the relevance of each by its address."""
    if judged and max(judged.values()) < _UNLIKE:
        best = max(judged, key=judged.__getitem__)
        yield (
            f"None of the pages to begin at looks like the topic ({counted(len(judged), 'seed')}, the best with "
            f"relevance {judged[best]:.2f}: {best}): if they are on the topic, its words do not describe them; give "
            "other words or example pages, and try them with `scrapy judge`"
        )


def doubts_about_pages(relevance: Collection[float], found: int) -> Iterator[str]:
    """Did every page look like the topic when it was judged first, and is none of them found for all that?"""
    if len(relevance) >= _ENOUGH and min(relevance) >= _UNLIKE and not found:
        yield (
            f"Each of the first {len(relevance)} pages shows some of the topic (relevance {min(relevance):.2f} to "
            f"{max(relevance):.2f} at first), and none was found: what every page shows does not help to choose "
            "among them; give other words or example pages, and try them with `scrapy teach --sample`"
        )


def _named(phrases: Collection[str]) -> str:
    """Some words and phrases, quoted."""
    more = f" and {len(phrases) - _NAMED} more" if len(phrases) > _NAMED else ""
    return ", ".join(repr(short(phrase, WIDE)) for phrase in list(phrases)[:_NAMED]) + more
