"""Trained critics on scrapyd: they come from a folder of the machine, and the egg has none."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZipFile

from tests.scrapyd.daemon import Scrapyd

TAUGHT_FIRST = "has no trained critic yet: training it first"


def cards(models: Path) -> list[dict[str, object]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in models.glob("*/card.json")]


def crawl(scrapyd: Scrapyd, jobid: str, topic: str, models: Path) -> str:
    """The log of a crawl of a few pages with such a models folder."""
    settings = {"FOCUSED_MODELS": models, "ROBOTSTXT_OBEY": False}
    scrapyd.schedule(jobid, topic=topic, pages="15", settings=settings)
    return scrapyd.text(scrapyd.finish(jobid)["log_url"])


def test_a_critic_taught_on_the_machine_serves_all_its_jobs(scrapyd: Scrapyd, topic: str, tmp_path: Path):
    models = tmp_path / "models"
    options = ("-s", f"FOCUSED_MODELS={models}", "-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_ENABLED=0")
    scrapyd.run("teach", topic, *options)
    [taught] = cards(models)
    log = crawl(scrapyd, "taught", topic, models)
    assert "The crawl ended: 15 pages fetched" in log
    assert TAUGHT_FIRST not in log
    assert cards(models) == [taught]


def test_a_first_job_teaches_into_the_folder_and_a_changed_critic_is_refused(
    scrapyd: Scrapyd, topic: str, tmp_path: Path
):
    models = tmp_path / "models"
    log = crawl(scrapyd, "teaching", topic, models)
    assert TAUGHT_FIRST in log
    assert "The crawl ended: 15 pages fetched" in log
    assert len(cards(models)) == 1

    [critic] = models.glob("*/critic.joblib")
    critic.write_bytes(critic.read_bytes() + b"more")
    log = crawl(scrapyd, "changed", topic, models)
    assert "is not the file that its card.json was written for" in log
    assert "Spider opened" not in log


def test_the_egg_has_no_models(egg: Path):
    assert not [name for name in ZipFile(egg).namelist() if name.endswith(".joblib") or name.startswith("models")]
