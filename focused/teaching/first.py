"""Before a crawl: all that can be wrong is found, and a critic that is missing is taught."""

from __future__ import annotations

import logging
from pathlib import Path
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.extensions.feedexport import FileFeedStorage
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, Settings
from scrapy.utils.misc import load_object

from focused.asking import find_teacher
from focused.critics.base import Critic
from focused.critics.choose import choose_critic, critic_for
from focused.critics.models import ModelRefused
from focused.critics.targets import Targets
from focused.defaults import read
from focused.extras import need
from focused.files import check_file, make_folder
from focused.job import place_of
from focused.learned import begin_with
from focused.parts import make_prioritizer
from focused.problems import Problems, ProblemsError
from focused.scheduling.resume import identity_of
from focused.spiders.examples import Interrupted
from focused.starting import refuse, topic_of
from focused.teaching.doubts import doubts_about
from focused.teaching.plan import CannotTeach, needs_teaching, plan_teaching
from focused.teaching.teach import carry_out
from focused.topics.settings import check_settings
from focused.topics.topic import Topic

logger = logging.getLogger(__name__)


def check_start(topic: Topic, settings: Settings) -> dict[str, str]:
    """Check all that can be wrong before anything is fetched. Gives whose crawl it is (`identity_of`).

    ValueError says what is wrong, and the way out.
    """
    problems = Problems()
    check_settings(settings, problems)
    problems.raise_as(ProblemsError)
    if read(settings, "FOCUSED_ARCHIVE"):
        need("fastwarc", "FOCUSED_ARCHIVE")
    if teacher := read(settings, "FOCUSED_TEACHER"):
        find_teacher(teacher)
    _check_feeds(settings)
    vectors = read(settings, "FOCUSED_VECTORS")
    if needs_teaching(topic, settings):
        plan_teaching(topic, settings)
        make_folder("FOCUSED_MODELS", Path(read(settings, "FOCUSED_MODELS")))
        critic = choose_critic(topic, read(settings, "FOCUSED_CRITIC")).make()
        # Whoever compares with the targets finds them when the critic has been taught.
        critic.targets = Targets.of_words({})
        if vectors:
            critic.use_vectors(vectors)
    else:
        models = Path(read(settings, "FOCUSED_MODELS"))
        critic = critic_for(topic, models, read(settings, "FOCUSED_CRITIC"), vectors=vectors)
    for doubt in doubts_about(topic, settings):
        logger.warning("%s", doubt)
    return _check_learner(topic, critic, settings)


def _check_feeds(settings: BaseSettings) -> None:
    """Refuse a file for items that cannot be written: Scrapy opens it with the first item, and would lose them all."""
    storages = settings.getwithbase("FEED_STORAGES")
    is_option = settings.getpriority("FEEDS") == SETTINGS_PRIORITIES["cmdline"]
    for uri, options in settings.getdict("FEEDS").items():
        storage = storages.get(urlsplit(str(uri)).scheme)
        if storage and issubclass(load_object(storage), FileFeedStorage):
            option = "-O" if options.get("overwrite") else "-o"
            # No file has a name with placeholders in it: what is checked then is the folder.
            path = Path(FileFeedStorage(str(uri)).path)
            check_file(f"{option if is_option else 'FEEDS:'} {str(uri)!r}", path)


def _check_learner(topic: Topic, critic: Critic, settings: Settings) -> dict[str, str]:
    """Can the prioritizer begin with what is said to be learned, and in the job that it is to work on? Whose it is."""
    prioritizer = make_prioritizer(topic, settings, critic)
    saved = read(settings, "FOCUSED_LEARNED")
    if saved:
        begin_with(prioritizer, saved)
    place_of(settings).check_job(topic, settings, prioritizer, critic)
    return identity_of(topic, prioritizer, critic)


async def teach_first(crawler: Crawler) -> None:
    """Teach the critic of a crawl if it is missing; a crawl whose critic cannot be taught is refused."""
    topic = topic_of(crawler)
    if topic is None or not needs_teaching(topic, crawler.settings):
        return
    logger.info("Topic %r has no trained critic yet: training it first", topic.name)
    # Those of a crawl are frozen, and so would be a copy.
    own = Settings()
    own.update(crawler.settings)
    try:
        card = (await carry_out(plan_teaching(topic, own), own)).card
    except (CannotTeach, ModelRefused, ProblemsError, Interrupted, OSError) as error:
        refuse(crawler, str(error), closing="not_taught")
    else:
        given, missing = sum(card.examples.values()), sum(card.unreachable.values())
        logger.info("Critic %s trained on %d examples; %d more could not be fetched", card.critic, given, missing)
        for doubt in card.doubts:
            logger.warning("%s", doubt)
