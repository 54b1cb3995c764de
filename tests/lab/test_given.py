"""What teaches the critic of a comparison: the title, words, or pages that are drawn."""

from __future__ import annotations

import json

import pytest

from focused.lab.cases import Preparer
from focused.lab.chosen import ChosenTopic, choose_topics
from focused.lab.given import GivenToCritic, parse_given
from focused.lab.present import table_of, tables
from focused.papers.paths.graph import build_graph
from focused.papers.paths.topics import KnownTopic, read_examples
from focused.topics.topic import Topic, load_topic
from focused.warc.web import Web
from tests.lab.test_compare import compare, fetched, plan
from tests.lab.test_resume import stats

TITLE, WORDS = "stars, night sky", ["galaxy", "telescope", "Stars"]
EXAMPLES = {f"http://{kind}.example/{i}": kind for kind in ("stars", "soups") for i in range(20)}
STARS = KnownTopic(name="Science.Stars", focus=["stars"], target_urls=[], title=TITLE, words=WORDS)


@pytest.fixture(scope="module")
def titled(small_web, tmp_path_factory):
    """The small web's topics, with a title and words."""
    topics = json.loads(small_web.topics.read_text())
    for topic in topics.values():
        topic |= {"title": TITLE, "words": WORDS}
    file = tmp_path_factory.mktemp("titled") / "titled.topics.json"
    file.write_text(json.dumps(topics))
    return str(file)


@pytest.fixture(scope="module")
def preparer(small_web, tmp_path_factory):
    web, folder = Web.open(small_web.warc), tmp_path_factory.mktemp("cases")
    return Preparer(web, build_graph(web), folder / "topics", folder / "models")


def cases(preparer, given, examples, draws=1):
    topic = Topic(name="stars", focus=["stars"] if parse_given(given).has_examples else [], keywords=["galaxy"])
    known = KnownTopic(name="stars", focus=["stars"], target_urls=list(preparer.web.urls))
    chosen = ChosenTopic(topic=topic, known=known, examples=examples, labelled=[])
    found = preparer.cases(chosen, parse_given(given), draws)
    for case in found:
        case.starts = [["http://one.example/"]]
    return found


def test_a_value_is_made_of_parts():
    assert parse_given("words+pages:5+others:20") == GivenToCritic(
        text="words+pages:5+others:20", words=True, pages=5, others=20
    )
    assert parse_given("all") == GivenToCritic(text="all", title=True, words=True, all_pages=True)
    assert parse_given("") == GivenToCritic(all_pages=True)
    assert [parse_given(text).has_examples for text in ("", "all", "title", "words+pages:1")] == [1, 1, 0, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name", "'name' is not understood: the parts are title, words, pages:K, others:M"),
        ("title:3", "'title:3' is not understood: the parts are"),
        ("title,words", "'title,words' is not understood"),
        ("words+", "'' is not understood"),
        ("all+words", "'all' is not understood"),
        ("pages", r"'pages' is not understood: how many\? Write pages:5"),
        ("pages:0", "'pages:0' is not understood: how many"),
        ("pages:5+others:-1", r"'others:-1' is not understood: how many\? Write others:5"),
        ("pages:5+pages:6", "'pages' is given twice; name it once"),
        ("words+others:5", r"others:M is given beside pages:K, such as pages:5\+others:20"),
    ],
)
def test_a_value_that_is_not_understood_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        parse_given(text)


def test_the_keywords_are_the_title_and_the_words_each_once():
    def keywords(text):
        return parse_given(text).keywords(STARS, "x.topics.json")

    assert keywords("title") == ["stars", "night sky"]
    assert keywords("words") == WORDS
    assert keywords("all") == keywords("title+words") == ["stars", "night sky", "galaxy", "telescope"]
    assert keywords("") == keywords("pages:5") == []


@pytest.mark.parametrize("name", ["title", "words"])
def test_a_topic_without_title_or_words_is_refused(name):
    bare = KnownTopic(name="birds", focus=["birds"], target_urls=[])
    words = rf"--given {name}: topic 'birds' has no '{name}' in x\.json: add it there, or give something else"
    with pytest.raises(ValueError, match=words):
        parse_given(name).keywords(bare, "x.json")


def test_pages_are_drawn_by_kind_and_the_same_each_time():
    given = parse_given("pages:4+others:6")
    drawn = [given.draw(EXAMPLES, STARS, number) for number in range(5)]
    assert drawn == [given.draw(dict(reversed(EXAMPLES.items())), STARS, number) for number in range(5)]
    assert [sorted(examples.values()) for examples in drawn] == [["soups"] * 6 + ["stars"] * 4] * 5
    assert len({frozenset(examples) for examples in drawn}) == 5
    # On every machine, with every Python.
    assert sorted(url for url, name in drawn[1].items() if name == "stars") == sorted(
        f"http://stars.example/{number}" for number in [3, 4, 8, 15]
    )


def test_more_pages_are_those_of_fewer_and_others():
    few, many = (parse_given(text).draw(EXAMPLES, STARS, 3) for text in ("pages:4", "pages:9+others:2"))
    assert few.items() < many.items()


def test_all_pages_are_drawn_where_there_are_fewer():
    drawn = parse_given("pages:21").draw(EXAMPLES, STARS, 0)
    assert (len(drawn), set(drawn.values())) == (20, set(parse_given("pages:1").draw(EXAMPLES, STARS, 0).values()))
    assert len(parse_given("pages:1+others:50").draw(EXAMPLES, STARS, 0)) == 21


def test_others_are_refused_where_there_are_none():
    with pytest.raises(ValueError, match="has no recorded example pages of other classes: leave others out"):
        parse_given("pages:1+others:1").draw({"http://a.example/": "stars"}, STARS, 0)


def test_what_is_given_limits_what_teaches_and_not_what_counts(preparer, small_web):
    examples = read_examples(small_web.examples)
    every = [cases(preparer, given, examples)[0] for given in ("", "words", "pages:2", "pages:2+others:3")]
    assert [len(case.examples) for case in every] == [len(examples), 0, 2, 5]
    assert [case.wanted for case in every] == [every[0].wanted] * 4
    for case in every:
        assert (case.ground.counts == every[0].ground.counts).all()
        assert case.ignored.read_text().split() == list(examples)


def test_only_recorded_pages_are_drawn(preparer, small_web):
    wanted = [url for url, name in read_examples(small_web.examples).items() if name == "stars"][:2]
    examples = dict.fromkeys([*wanted, "http://one.example/gone/1", "http://nowhere.example/"], "stars")
    assert set(cases(preparer, "pages:3", examples)[0].examples) == set(wanted)


def test_each_draw_has_its_pages_its_critic_and_its_numbers(preparer, small_web):
    found = cases(preparer, "pages:2", read_examples(small_web.examples), draws=3)
    assert len({tuple(case.examples) for case in found}) == 3
    assert len({case.table for case in found}) == len({case.models for case in found}) == 3
    for case in found:
        case.starts = [["http://a.example/"], ["http://b.example/"]]
    assert [list(case.numbers) for case in found] == [[0, 1], [2, 3], [4, 5]]
    assert [found[2].seeds(number) for number in (4, 5)] == found[2].starts


def test_held_out_examples_are_never_drawn(small_web, titled):
    chosen = plan(small_web, "x", topics=["stars@east"], topics_file=titled, hold_out="side", given="pages:1")
    [topic] = choose_topics(chosen)
    west = read_examples(small_web.examples, without=("side", "east"))
    assert topic.examples == west
    drawn = [parse_given("pages:1").draw(topic.examples, topic.known, number) for number in range(20)]
    assert {url for examples in drawn for url in examples} <= set(west)


def test_words_alone_name_no_classes_and_need_no_examples(small_web, titled):
    [topic] = choose_topics(plan(small_web, "x", topics_file=titled, given="title", examples=""))
    assert (topic.topic.keywords, topic.topic.focus, topic.examples) == (["stars", "night sky"], [], {})
    [topic] = choose_topics(plan(small_web, "x", topics_file=titled, given="all"))
    assert topic.topic.keywords == ["stars", "night sky", "galaxy", "telescope"]
    assert topic.topic.focus == ["stars"]
    with pytest.raises(ValueError, match="give example pages of them with --examples"):
        choose_topics(plan(small_web, "x", topics_file=titled, given="words+pages:2", examples=""))


def test_a_title_is_missed_before_the_web_is_read(small_web):
    with pytest.raises(ValueError, match=r"--given title: topic 'stars' has no 'title' in .*small\.topics\.json"):
        compare(small_web, "x", web=["none.warc.gz"], given="title")


def test_words_are_judged_by_a_critic_that_needs_no_teaching(preparer, small_web):
    [case] = cases(preparer, "words", read_examples(small_web.examples))
    preparer.teach(case, "")
    assert case.critic.name == "combined"
    assert load_topic(str(case.folder / "teaching.toml")).keywords == ["galaxy"]
    with pytest.raises(ValueError, match="the critic 'logistic' is taught by example pages, and none are given"):
        preparer.teach(case, "logistic")


def test_critics_get_the_word_vectors_that_crawls_get(small_web, titled, tmp_path):
    """A broken table shows it: it is met before anything is crawled."""
    broken = tmp_path / "broken.npz"
    broken.touch()
    with pytest.raises(ValueError, match=r"broken.npz' is not a table of word vectors"):
        compare(small_web, tmp_path, topics_file=titled, given="title", settings={"FOCUSED_VECTORS": str(broken)})
    assert not (tmp_path / "crawls").exists()


def test_the_name_of_a_topic_is_no_keyword(preparer, small_web):
    [case] = cases(preparer, "pages:2", read_examples(small_web.examples))
    case.chosen.topic.keywords.clear()
    with pytest.raises(ValueError, match="the critic 'keywords' judges by keywords, and none are given"):
        preparer.teach(case, "keywords")
    preparer.teach(case, "")
    assert case.critic.name == "combined"


@pytest.fixture(scope="module")
def drawn(small_web, titled, tmp_path_factory):
    """A comparison with two draws and two starts."""
    out = tmp_path_factory.mktemp("drawn")
    return compare(small_web, out, topics_file=titled, **TWICE, prioritizers=["best-first"]), out


TWICE = {
    "given": "words+pages:3",
    "draws": 2,
    "start": "on",
    "starts": 2,
    "limits": ("foresight", "bound"),
    "fast": True,
}


def test_every_draw_is_crawled_from_every_start(drawn):
    results, out = drawn
    assert sorted(run.key for run in results.runs if run.row == "best-first") == [
        ("stars", "best-first", number) for number in range(4)
    ]
    assert results.examples == {"stars": 3}
    assert results.critics == {"stars": "combined"}
    tables_of_draws = [(out / "topics/stars" / name).read_text() for name in ("examples.tsv", "examples-1.tsv")]
    assert len(set(tables_of_draws)) == 2
    assert [text.count("http://") for text in tables_of_draws] == [3, 3]
    losses = {run.start: run.figures.loss for run in results.runs if run.row == "foresight"}
    assert losses[0] != losses[2], "another critic, from the same start"


def test_a_row_has_the_mean_and_spread_over_starts_and_draws(drawn):
    results, _ = drawn
    [(title, headings, rows)] = tables(results)
    assert title.endswith("3 examples, given words+pages:3, critic combined")
    assert [row[0] for row in rows] == ["best-first", "foresight", "bound"]
    assert all("±" in row[1] for row in rows)
    found = [run.figures.found[50] for run in results.runs if run.row == "best-first"]
    assert rows[0][headings.index("at 50")].startswith(f"{sum(found) / 4:.1f} ±")


def test_a_missing_draw_is_a_missing_crawl(drawn):
    results, _ = drawn
    some = [run for run in results.runs if run.start < 2]
    kept, results.runs = results.runs, some
    try:
        _, rows = table_of(results, ["stars"], [])
    finally:
        results.runs = kept
    assert rows[0] == ["best-first (2 of 4 crawls)"]


def test_the_same_draws_give_the_same_crawls(drawn, small_web, titled, tmp_path):
    again = compare(
        small_web, tmp_path, topics_file=titled, **TWICE | {"limits": ()}, prioritizers=["best-first"], workers=1
    )
    for number in range(4):
        assert fetched(tmp_path, f"best-first-{number}") == fetched(drawn[1], f"best-first-{number}")
    assert {run.start: run.figures for run in again.runs} == {
        run.start: run.figures for run in drawn[0].runs if run.row == "best-first"
    }


def test_draws_are_resumed(drawn, small_web, titled):
    results, out = drawn
    before = stats(out, "best-first-3")
    more = compare(small_web, out, topics_file=titled, **TWICE, prioritizers=["random"], resume=True)
    assert stats(out, "best-first-3") == before
    assert [run for run in more.runs if run.row != "random"] == [run for run in results.runs if run.row != "random"]
    assert sorted(run.start for run in more.runs if run.row == "random") == [0, 1, 2, 3]
    for change, words in (({"draws": 3}, "made with draws 2, not 3"), ({"given": "pages:3"}, "made with given")):
        with pytest.raises(ValueError, match=words):
            compare(small_web, out, topics_file=titled, **TWICE | change, prioritizers=["random"], resume=True)


def test_words_are_compared_and_a_critic_of_an_earlier_comparison_does_not_matter(small_web, titled, tmp_path):
    crawl = {"topics_file": titled, "prioritizers": ["best-first"], "fast": True}
    taught = compare(small_web, tmp_path, **crawl, limits=())
    results = compare(small_web, tmp_path, **crawl, given="title", limits=("foresight", "two-clicks"))
    assert results.critics == {"stars": "combined"}
    assert results.targets == taught.targets
    assert [run.row for run in results.runs] == ["foresight", "two-clicks", "best-first"]
    assert all(run.figures.loss is not None for run in results.runs)
    assert "critic combined" in (tmp_path / "crawls/stars/best-first-0/crawl.log").read_text()
