"""From a topic to its trained critic: gather the example pages, teach, write the models folder.

Used by ``scrapy teach``, and by ``scrapy crawl`` when a topic's critic is missing::

    if needs_teaching(topic, settings):
        await carry_out(plan_teaching(topic, settings), settings, runner=process)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scrapy.crawler import CrawlerRunnerBase
from scrapy.settings import Settings

from focused.critics.classes import NoSuchClass, wanted_among
from focused.critics.models import Card, save_critic
from focused.critics.teach import Taught, teach
from focused.defaults import read
from focused.pages.fetched import Fetched, NoPage
from focused.pages.page import Page, page_from_html
from focused.responses import limits_of
from focused.spiders.examples import Progress, fetch_pages
from focused.teaching.doubts import doubts_about_examples
from focused.teaching.gathering import page_of_file, pages_of_web
from focused.teaching.plan import CannotTeach, TeachingPlan
from focused.topics.examples import Example
from focused.topics.identity import fingerprint, slug
from focused.topics.settings import apply_settings


@dataclass(frozen=True, slots=True)
class Teaching:
    """A critic was taught: its card, and the pages that taught it."""

    card: Card
    pages: list[Page]


async def carry_out(
    plan: TeachingPlan,
    settings: Settings,
    runner: CrawlerRunnerBase | None = None,
    progress: Progress = lambda *_: None,
) -> Teaching:
    """Gather the examples on a runner whose event loop runs, teach, and write the model; its card says how it went.

    CannotTeach or Interrupted say why not.
    """
    # What the topic sets, such as a delay, holds for its examples, too; the caller's settings stay as they are.
    own = settings.copy()
    apply_settings(plan.topic, own)
    models = Path(read(own, "FOCUSED_MODELS"))
    if plan.source.web:
        fetched = _from_web(plan, own)
    else:
        fetched = await fetch_pages(plan.urls, own, runner, progress)
    examples = _examples(plan, fetched, own)
    taught = _teach(plan, fetched, [(one.class_name, page) for one, page in examples])
    card = _save(plan, fetched, taught, _doubts(plan, examples), models)
    return Teaching(card, [page for _, page in examples])


def _from_web(plan: TeachingPlan, settings: Settings) -> Fetched:
    try:
        return pages_of_web(plan.urls, plan.source.web, limits_of(settings))
    except (OSError, ValueError) as error:
        raise CannotTeach(f"--web {plan.source.web!r}: {error}") from error


def _examples(plan: TeachingPlan, fetched: Fetched, settings: Settings) -> list[tuple[Example, Page]]:
    """The examples whose pages are there."""
    if plan.urls and not fetched.pages:
        raise CannotTeach(f"none of the {len(plan.urls)} example pages could be fetched: {fetched.missing()}")
    pages = [(one, _page(one, fetched, settings)) for one in plan.examples]
    return [(one, page) for one, page in pages if page is not None]


def _teach(plan: TeachingPlan, fetched: Fetched, pages: list[tuple[str, Page]]) -> Taught:
    try:
        return teach(pages, plan.choice.kind, plan.choice.options, plan.focus)
    except NoSuchClass as error:
        hint = f" ({fetched.missing()})" if fetched.failures else ""
        raise CannotTeach(f"{error}{hint}") from error


def _doubts(plan: TeachingPlan, examples: list[tuple[Example, Page]]) -> list[str]:
    wanted = wanted_among([one.class_name for one, _ in examples], plan.focus)
    return list(doubts_about_examples(plan.choice, [(one.source[1], page) for one, page in examples], wanted))


def _page(example: Example, fetched: Fetched, settings: Settings) -> Page | None:
    """The page of an example; if a file holds none, the reason is noted."""
    if example.url:
        return fetched.pages.get(example.url)
    if example.file:
        try:
            return page_of_file(Path(example.file), limits_of(settings))
        except NoPage as error:
            fetched.failures[example.file] = str(error)
            return None
    return page_from_html(example.text, "", limits_of(settings))


def _save(plan: TeachingPlan, fetched: Fetched, taught: Taught, doubts: list[str], models: Path) -> Card:
    card = Card(
        topic=plan.topic.name,
        fingerprint=fingerprint(plan.topic),
        critic=plan.choice.name,
        options=plan.choice.options,
        focus=plan.focus,
        examples=taught.examples,
        unreachable=fetched.reasons(),
        source=plan.source.described(),
        report=taught.report,
        doubts=doubts,
    )
    return save_critic(models, slug(plan.topic), taught.critic, card)
