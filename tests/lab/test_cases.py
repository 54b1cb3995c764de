"""Topics made ready: files that the crawler takes, starts that can be drawn again, examples held out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from focused.lab.bounds import Truth
from focused.lab.cases import Preparer, draw_starts, judge_all
from focused.lab.chosen import ChosenTopic, choose_topics
from focused.lab.entrants import parse_entrant
from focused.lab.plan import Plan
from focused.papers.paths.graph import build_graph
from focused.papers.paths.topics import KnownTopic, read_examples, read_labels, read_topics, with_label
from focused.topics.topic import Topic, load_topic
from focused.warc.web import Web


@pytest.fixture(scope="module")
def preparer(small_web, tmp_path_factory):
    web, folder = Web.open(small_web.warc), tmp_path_factory.mktemp("cases")
    return Preparer(web, build_graph(web), folder / "topics", folder / "models")


def chosen(known, examples, **topic):
    own = Topic(name=known.name, focus=known.focus, **topic)
    return ChosenTopic(topic=own, known=known, examples=examples, labelled=[])


@pytest.fixture
def case(preparer, small_web):
    lab = read_topics(small_web.topics)["stars"]
    case = preparer.case(chosen(lab, read_examples(small_web.examples)))
    case.starts = [lab.seeds_on, lab.seeds_root]
    return case


def test_targets_and_examples_are_apart(case, small_web):
    assert case.wanted == len(small_web.targets)
    assert len(case.chosen.examples) == len(small_web.taught)
    assert not (case.ground.targets & ~case.ground.counts).any()
    assert (case.ground.labelled & ~case.ground.counts).sum() == len(set(small_web.taught) & set(small_web.on_topic))


def test_hosts_that_a_topic_allows_bring_their_subdomains(preparer):
    known = KnownTopic(name="stars", focus=["stars"], target_urls=[])
    assert preparer.case(chosen(known, {}, allowed_hosts=["example"])).ground.inside.all()
    inside = preparer.case(chosen(known, {}, allowed_hosts=["one.example"])).ground.inside
    assert {host for host, is_in in zip(preparer.graph.hosts, inside, strict=True) if is_in} == {"one.example"}


def test_an_example_is_no_target_even_if_the_topics_file_says_so(preparer, small_web):
    lab = KnownTopic(name="all", focus=["stars"], target_urls=small_web.targets)
    examples = dict.fromkeys(small_web.targets[:3], "stars")
    assert preparer.case(chosen(lab, examples)).wanted == len(small_web.targets) - 3


def test_a_topic_file_is_one_that_the_crawler_takes(case):
    file = case.write_topic(1, {"name": "apprentice", "d_max": 3, "offsets": False}, 'a "name"')
    topic = load_topic(str(file))
    assert (topic.name, topic.focus, topic.seeds) == ("stars", ["stars"], case.starts[1])
    assert topic.prioritizer == {"name": "apprentice", "d_max": 3, "offsets": False}
    assert topic.examples == str(case.table)


def test_teaching_makes_a_critic(preparer, case, small_web):
    preparer.teach(case, "logistic")
    [relevance] = judge_all(preparer.web, [case.critic])
    on, off = relevance[case.ground.targets], relevance[preparer.web.find(small_web_off(small_web))]
    assert on.min() > off


def small_web_off(small_web):
    return next(url for url in small_web.pages if url.endswith("/page/3.html"))


def test_starts_are_those_of_the_file_unless_some_are_drawn(case, small_web):
    lab = read_topics(small_web.topics)["stars"]
    assert draw_starts(lab, "on", case.ground, 0) == [lab.seeds_on]
    assert draw_starts(lab, "root", case.ground, 5) == [lab.seeds_root]


def test_drawn_starts_are_targets_and_the_same_each_time(case, small_web):
    lab = read_topics(small_web.topics)["stars"]
    drawn = draw_starts(lab, "on", case.ground, 4)
    assert drawn == draw_starts(lab, "on", case.ground, 4)
    assert drawn[:2] == draw_starts(lab, "on", case.ground, 2)
    assert len({tuple(start) for start in drawn}) == 4
    assert {len(start) for start in drawn} == {2}
    assert {url for start in drawn for url in start} <= set(small_web.targets)


def test_far_starts_are_two_clicks_away_and_can_get_there(preparer):
    # 0 → 1 → 2*; 3 has no way there; 4 is an example, 5 is not inside.
    graph = preparer.graph.__class__(
        [f"http://{host}/{i}" for i, host in enumerate("aaaaab")],
        np.arange(6),
        np.array([0, 1, 2, 2, 2, 3, 4]),
        np.array([1, 2, 1, 1]),
    )
    counts, targets = np.array([1, 1, 1, 1, 0, 1], bool), np.array([0, 0, 1, 0, 0, 0], bool)
    ground = Truth(graph, targets, targets, counts, np.array([1, 1, 1, 1, 1, 0], bool))
    lab = KnownTopic(name="x", focus=["x"], target_urls=[], seeds_far=["http://a/0"])
    assert draw_starts(lab, "far", ground, 3) == [["http://a/0"]] * 3


def test_a_kind_of_start_that_is_not_there_is_refused_with_those_that_are(case, small_web):
    lab = read_topics(small_web.topics)["stars"]
    with pytest.raises(ValueError, match="no seeds of kind 'far'; it has on, root"):
        draw_starts(lab, "far", case.ground, 0)


def test_starts_cannot_be_drawn_where_there_is_no_page_of_their_kind(preparer):
    lab = KnownTopic(name="x", focus=["x"], target_urls=[], seeds_on=["http://nowhere.example/"])
    ground = preparer.case(chosen(lab, {})).ground
    with pytest.raises(ValueError, match="--starts 3: no page of this web can be a start of kind 'on'"):
        draw_starts(lab, "on", ground, 3)


def test_examples_are_held_out_by_a_column(small_web):
    everything = read_examples(small_web.examples)
    west = read_examples(small_web.examples, without=("side", "east"))
    assert 0 < len(west) < len(everything)
    with pytest.raises(ValueError, match="no column 'university'"):
        read_examples(small_web.examples, without=("university", "cornell"))


def test_a_topic_whose_examples_are_texts_is_taught_by_another_table(small_web, tmp_path):
    (tmp_path / "texts.tsv").write_text("class\ttext\nstars\ta galaxy of stars\n")
    topic = tmp_path / "mine.toml"
    topic.write_text('name = "mine"\nfocus = ["stars"]\nseeds = ["http://one.example/"]\nexamples = "texts.tsv"\n')
    plan = {"topics": [str(topic)], "web": [str(small_web.warc)], "prioritizers": [], "pages": 1, "out": str(tmp_path)}
    with pytest.raises(ValueError, match="name a table that has them with --examples"):
        choose_topics(Plan(**plan))
    [mine] = choose_topics(Plan(**plan, examples=str(small_web.examples)))
    assert mine.examples == read_examples(small_web.examples)


def test_labels_in_the_focus_are_found(small_web):
    labels = read_labels(small_web.labels)
    assert len(with_label(labels, ["stars"])) == len(small_web.on_topic)
    assert not with_label(labels, ["star"])


def test_a_topics_file_that_is_none_is_refused_by_name(tmp_path):
    path = tmp_path / "x.topics.json"
    path.write_text(json.dumps({"a": {"focus": "not a list", "target_urls": []}}))
    with pytest.raises(ValueError, match=r"x\.topics\.json.*focus"):
        read_topics(path)


@pytest.mark.parametrize("read", [read_topics, read_examples, read_labels])
def test_a_file_that_is_no_text_is_refused_by_name(tmp_path, read):
    path = tmp_path / "binary"
    path.write_bytes(b"\x7fELF\n\xff\xfe")
    with pytest.raises(ValueError, match=r"binary:2:1: not UTF-8: byte 0xff"):
        read(path)


@pytest.mark.parametrize(
    ("read", "words"),
    [(read_topics, "none: empty: a topics file is"), (read_labels, "none: a table of labels has the columns")],
)
def test_an_empty_file_is_refused_by_name(tmp_path, read, words):
    path = tmp_path / "none"
    path.touch()
    with pytest.raises(ValueError, match=words):
        read(path)


def test_examples_without_classes_are_refused(tmp_path):
    path = tmp_path / "examples.tsv"
    path.write_text("url\tlabel\nhttp://a/\tstars\n")
    with pytest.raises(ValueError, match=r"examples\.tsv: no column 'class' among 'url', 'label'"):
        read_examples(path)


def test_entrants_carry_options():
    entrant = parse_entrant("apprentice:learner=naive-bayes:d_max=3:offsets=false")
    assert entrant.table() == {"name": "apprentice", "learner": "naive-bayes", "d_max": 3, "offsets": False}
    assert parse_entrant("offline:d_max=2").table() == {"name": "apprentice", "d_max": 2}
    assert [parse_entrant(name).studies for name in ("offline", "warm", "best-first")] == [True, True, False]
    with pytest.raises(ValueError, match="name:option=value"):
        parse_entrant("apprentice:quick")
