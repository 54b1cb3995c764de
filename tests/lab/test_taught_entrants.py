"""Entrants that must be taught by paths: given ones, or those that a best-first crawl has seen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from focused.lab.page import write_page
from focused.lab.plan import write_results
from focused.lab.present import notes, tables
from focused.lab.process import LOG
from focused.papers.paths.path import Path as Way
from focused.papers.paths.path import Step, write_paths
from focused.papers.paths.reading import read_paths
from focused.papers.prioritizers.taught import TaughtCard
from focused.topics.identity import slug
from focused.topics.topic import Topic
from tests.lab.test_compare import PAGES, compare, fetched, scrapy
from tests.small_web import SmallWeb

TOY, VISITS = "toy_taught.Toy", "toy_taught.ToyVisits"


@pytest.fixture(scope="module", autouse=True)
def toy_is_found():
    """Here, and in the processes of the crawls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))
        yield


@pytest.fixture(scope="module")
def other_web(tmp_path_factory):
    """Another web of the same kind."""
    return SmallWeb(tmp_path_factory.mktemp("other"), seed=2)


@pytest.fixture(scope="module")
def given(other_web, tmp_path_factory):
    """Paths of one click each in the other web, to one of its targets."""
    file = tmp_path_factory.mktemp("paths") / "stars.jsonl"
    write_paths(file, [Way([Step(url), Step(to, "goal")]) for url, to in links_to_targets(other_web)])
    return file


def links_to_targets(web):
    pages = {url: page for url, page in web.pages.items() if isinstance(page, str)}
    return [(url, to) for url, page in pages.items() for to in web.targets if f"'{to}'" in page]


@pytest.fixture(scope="module")
def drawn(small_web, tmp_path_factory):
    out = tmp_path_factory.mktemp("drawn")
    entrants = ["best-first", TOY, VISITS, f"{TOY}:least=100000"]
    return compare(small_web, out, prioritizers=entrants, fast=True, limits=("bound",)), out


def test_without_paths_a_best_first_crawl_teaches(drawn):
    results, out = drawn
    assert fetched(out, "observed-0") == fetched(out, "best-first-0")
    runs = {run.row: run for run in results.runs}
    assert {TOY, VISITS} < set(runs)
    assert runs[TOY].figures.pages == PAGES
    assert runs[TOY].cpu_ms > 0


def test_what_was_taught_is_told_with_the_cards_figures(drawn):
    results, out = drawn
    told = {taught.row: taught for taught in results.taught}[TOY]
    assert told.figures["paths to a target"] > 0
    assert told.paths > 100
    assert 0 < told.pages == told.own_pages <= len(fetched(out, "observed-0"))
    assert told.start == 0
    card = msgspec.json.decode((out / f"taught/{TOY}-0/stars/toy.card.json").read_bytes(), type=TaughtCard)
    assert card.figures == told.figures
    assert card.paths["job"].endswith("observed-0/job")


def test_paths_go_over_fetched_pages_only_and_end_where_the_critic_found_something(drawn, small_web):
    results, out = drawn
    told = {taught.row: taught for taught in results.taught}[VISITS]
    assert 0 < told.pages <= len({url for status, url in fetched(out, "observed-0") if status == 200})


def test_who_cannot_be_taught_does_not_crawl_and_the_rest_goes_on(drawn):
    results, out = drawn
    refused = f"{TOY}:least=100000"
    assert refused not in {run.row for run in results.runs}
    assert refused not in {cells[0] for _, _, rows in tables(results) for cells in rows}
    [note] = notes(results)
    assert note.startswith(f"stars, start 0: {refused} was not taught:")
    assert "100000 are needed" in note
    assert "100000 are needed" in write_page(results, out).read_text()
    assert json.loads((out / "results.json").read_text())["taught"][-1]["row"]


def test_what_was_taught_before_an_interruption_is_not_taught_again(small_web, tmp_path):
    values = {"prioritizers": [TOY], "fast": True, "limits": ()}
    before = compare(small_web, tmp_path, **values)
    interrupted = msgspec.structs.replace(before, runs=[])
    write_results(interrupted, tmp_path)
    shutil.rmtree(tmp_path / "crawls")
    results = compare(small_web, tmp_path, **values, resume=True)
    assert [path.name for path in (tmp_path / "crawls/stars").iterdir()] == [f"{TOY}-0"]
    assert [run.figures for run in results.runs] == [run.figures for run in before.runs]
    assert results.taught == before.taught


def test_a_crawl_that_found_nothing_teaches_nobody(small_web, tmp_path):
    topics = json.loads(small_web.topics.read_text())
    lonely = next(url for url in small_web.pages if url.endswith("/page/3.html"))
    topics["stars"] |= {"seeds_root": [lonely], "hosts": ["nowhere.example"]}
    file = tmp_path / "lonely.topics.json"
    file.write_text(json.dumps(topics))
    results = compare(
        small_web, tmp_path, topics_file=str(file), prioritizers=[TOY, "best-first"], fast=True, limits=()
    )
    assert [run.row for run in results.runs] == ["best-first"]
    [told] = results.taught
    assert "none was judged relevant" in told.refused


def test_given_paths_teach_once_for_all_starts(small_web, other_web, given, tmp_path):
    results = compare(
        small_web,
        tmp_path,
        prioritizers=[TOY],
        start="on",
        starts=2,
        fast=True,
        limits=(),
        paths=str(given),
        paths_web=[str(other_web.warc)],
    )
    assert sorted(run.start for run in results.runs) == [0, 1]
    [told] = results.taught
    assert (told.start, told.paths) == (None, len(read_paths(given)))
    assert not (tmp_path / "crawls/stars/observed-0").exists()
    assert (tmp_path / f"taught/{TOY}/stars/toy.npz").exists()


def test_given_paths_teach_anew_for_each_draw_as_its_critic_is_another(small_web, other_web, given, tmp_path):
    results = compare(
        small_web,
        tmp_path,
        prioritizers=[TOY],
        given="pages:2",
        draws=2,
        fast=True,
        limits=(),
        paths=str(given),
        paths_web=[str(other_web.warc)],
    )
    assert sorted(run.start for run in results.runs) == sorted(taught.start for taught in results.taught) == [0, 1]
    critics = [(tmp_path / f"taught/{TOY}-{number}/stars/critic.joblib").read_bytes() for number in (0, 1)]
    assert critics == [(tmp_path / models / "stars/critic.joblib").read_bytes() for models in ("models", "models-1")]
    assert critics[0] != critics[1]


def test_a_real_crawl_finds_what_was_taught(small_web, other_web, given, tmp_path):
    values = {"prioritizers": [TOY], "limits": (), "paths": str(given), "paths_web": [str(other_web.warc)]}
    compare(small_web, tmp_path / "real", **values)
    compare(small_web, tmp_path / "fast", **values, fast=True)
    assert fetched(tmp_path / "real", f"{TOY}-0") == fetched(tmp_path / "fast", f"{TOY}-0")


def test_the_default_prioritizer_begins_with_ways_that_were_shown(small_web, other_web, given, tmp_path):
    values = {"prioritizers": ["shown"], "limits": (), "paths": str(given), "paths_web": [str(other_web.warc)]}
    results = compare(small_web, tmp_path, **values, fast=True)
    (told,) = results.taught
    assert told.figures["ways"] == told.paths > 1
    log = (tmp_path / "crawls/stars/shown-0" / LOG).read_text()
    shown = f"{told.figures['steps']:.0f} steps of {told.paths} ways shown"
    assert f"The prioritizer focused begins with {shown} ({tmp_path}/taught/shown/stars/focused.npz)" in log


@pytest.mark.parametrize("name", [slug(Topic(name="stars@east")), "stars@east", "stars@east.walks"])
def test_a_folder_holds_paths_by_the_topics_name(small_web, other_web, given, tmp_path, name):
    (tmp_path / f"{name}.jsonl").write_bytes(given.read_bytes())
    results = compare(
        small_web,
        tmp_path / "out",
        topics=["stars@east"],
        prioritizers=[TOY],
        fast=True,
        limits=(),
        paths=str(tmp_path),
        paths_web=[str(other_web.warc)],
    )
    assert [run.topic for run in results.runs] == ["stars@east"]


def test_a_folder_without_a_topics_paths_is_refused_before_any_crawl(small_web, other_web, tmp_path):
    with pytest.raises(
        ValueError, match=r"no paths for topic 'stars': none of these files exists: stars\.walks\.jsonl, stars\.jsonl"
    ):
        compare(
            small_web,
            tmp_path / "out",
            prioritizers=[TOY, "best-first"],
            paths=str(tmp_path),
            paths_web=[str(other_web.warc)],
        )
    assert not (tmp_path / "out/crawls").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--paths", "GIVEN"], "--paths and --paths-web: give both"),
        (["--paths", "nothing.jsonl", "--paths-web", "WEB"], "--paths: there is no 'nothing.jsonl'"),
        (["--paths", "GIVEN", "--paths-web", "WEB,nothing.warc"], "--paths-web: there is no 'nothing.warc'"),
        (["--paths", "GIVEN", "--paths-web", "WEB", "--prioritizers", "random"], "none of random is taught by paths"),
        (["--gamma", "half"], "--gamma: 'half' are not cosines"),
    ],
)
def test_what_does_not_go_together_is_told(small_web, given, tmp_path, arguments, words):
    files = {"GIVEN": str(given), "WEB": str(small_web.warc)}
    told = [files.get(one, one).replace("WEB,", f"{small_web.warc},") for one in arguments]
    entrants = () if "--prioritizers" in arguments else ("--prioritizers", TOY)
    run = scrapy(
        "stars", "--topics-file", small_web.topics, "--web", small_web.warc, "--out", tmp_path, *entrants, *told
    )
    assert run.returncode != 0
    assert words in " ".join(run.stderr.split()) + " ".join(run.stdout.split())
