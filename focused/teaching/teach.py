"""From a topic to its trained critic: gather the example pages, teach, write the models folder.

Used by ``scrapy teach``, and by ``scrapy crawl`` when a topic's critic is missing::

    if needs_teaching(topic, settings):
        await carry_out(plan_teaching(topic, settings), settings, runner=process)
"""

from __future__ import annotations

from pathlib import Path

from scrapy.crawler import CrawlerRunnerBase
from scrapy.settings import Settings

from focused.critics.classes import NoSuchClass
from focused.critics.models import Card, save_critic
from focused.critics.teach import Taught, teach
from focused.defaults import read
from focused.pages.fetched import Fetched, NoPage
from focused.pages.page import Page, page_from_html
from focused.responses import limits_of
from focused.spiders.examples import Progress, fetch_pages
from focused.teaching.gathering import page_of_file, pages_of_web
from focused.teaching.plan import CannotTeach, TeachingPlan
from focused.topics.examples import Example
from focused.topics.identity import fingerprint, slug
from focused.topics.settings import apply_settings


async def carry_out(
    plan: TeachingPlan,
    settings: Settings,
    runner: CrawlerRunnerBase | None = None,
    progress: Progress = lambda *_: None,
) -> Card:
    """Gather the examples on a runner whose event loop runs, teach, and write the model; the card says how it went.

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
    taught = _teach(plan, fetched, own)
    return _save(plan, fetched, taught, models)


def _from_web(plan: TeachingPlan, settings: Settings) -> Fetched:
    try:
        return pages_of_web(plan.urls, plan.source.web, limits_of(settings))
    except (OSError, ValueError) as error:
        raise CannotTeach(f"--web {plan.source.web!r}: {error}") from error


def _teach(plan: TeachingPlan, fetched: Fetched, settings: Settings) -> Taught:
    if plan.urls and not fetched.pages:
        raise CannotTeach(f"none of the {len(plan.urls)} example pages could be fetched: {fetched.missing()}")
    pages = [(one.class_name, page) for one in plan.examples if (page := _page(one, fetched, settings)) is not None]
    try:
        return teach(pages, plan.choice.kind, plan.choice.options, plan.focus)
    except NoSuchClass as error:
        hint = f" ({fetched.missing()})" if fetched.failures else ""
        raise CannotTeach(f"{error}{hint}") from error


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


def _save(plan: TeachingPlan, fetched: Fetched, taught: Taught, models: Path) -> Card:
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
    )
    return save_critic(models, slug(plan.topic), taught.critic, card)
