"""The prioritizer by lexical profiles: three levels of a link, and the crawl that follows them."""

from __future__ import annotations

import heapq
from math import log

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.pages.page import Page, page_from_html
from focused.papers.critics.levels import FRACTION, relevance_of
from focused.papers.critics.lexical import LexicalCritic
from focused.papers.prioritizers.lexical import Lexical
from focused.prioritizers.options import build
from tests.prioritizers.prioritizer_cases import OneWordCritic

EXAMPLES = {
    "Science.Biology.Owls": ["The barn owl is quiet. See the barn owl.", "The eagle owl and the snowy owl."],
    "Science.Biology": ["A living cell has a membrane.", "The plant cell and its organism."],
    "Science": ["A scientist measures in the laboratory.", "The laboratory of a scientist."],
    "Sport": ["The football team won the match.", "A tennis player in the final match."],
}
N = 3


@pytest.fixture(scope="module")
def critic() -> LexicalCritic:
    pairs = [(of(f"<p>{text}"), name) for name, texts in EXAMPLES.items() for text in texts]
    return LexicalCritic(siblings=False).fit(
        [one for one, _ in pairs], [name for _, name in pairs], ["Science.Biology.Owls"]
    )


def of(body: str, url: str = "http://a.example/") -> Page:
    return page_from_html(f"<body>{body}</body>", url)


def levels_of(critic: LexicalCritic, body: str, relevance: float = 0.0, **options):
    """Context, content and page level of the first link."""
    page = of(body)
    evidence = Lexical(critic=critic, graded=False, **options).evidence(page, Verdict(relevance), page.links)
    return evidence.dense[0, :3].tolist()


def test_the_anchor_tells_a_level(critic):
    bodies = ["barn owl", "plant cell", "laboratory", "football match", "quux", "<img src=x>"]
    assert [levels_of(critic, f"<a href=/x>{anchor}</a>")[1] for anchor in bodies] == [1, 2, 3, 4, 4, 4]


def test_the_words_around_tell_a_level(critic):
    around = ["the barn owl: {}", "{} about the plant cell", "laboratory {} report", "{} football match", "here {}"]
    assert [levels_of(critic, text.format("<a href=/x>more</a>"))[0] for text in around] == [1, 2, 3, 4, 4]


def test_the_anchor_is_not_its_own_context(critic):
    assert levels_of(critic, "here <a href=/x>barn owl</a> there")[:2] == [4, 1]


def test_the_page_tells_a_level(critic):
    relevance = [relevance_of(level, 0.4, N) for level in (1, 2, 3, 4)]
    assert [levels_of(critic, "<a href=/x>x</a>", one)[2] for one in relevance] == [1, 2, 3, 4]


def test_k_words_on_each_side_are_looked_at(critic):
    far = "owl one two three four five <a href=/x>more</a>"
    assert levels_of(critic, far, k=5)[0] == 4
    assert levels_of(critic, far, k=6)[0] == 1


def test_runs_of_words_do_not_reach_across_the_link():
    pages = [of(text) for text in ("barn owl", "plant cell", "soup")]
    two_terms = LexicalCritic().fit(pages, ["life.owls", "life", "food"], ["life.owls"])
    assert levels_of(two_terms, "plant cell barn owl <a href=/x>x</a>")[0] == 1
    assert levels_of(two_terms, "plant cell barn <a href=/x>x</a> owl")[0] == 2


def test_the_product_of_the_levels_orders_the_links(critic):
    prioritizer = Lexical(critic=critic, graded=False)
    body = "<p>barn owl <a href=/a>barn owl</a><p>a b c d e f <a href=/b>laboratory</a> g h i j k l"
    page = of(body)
    evidence = prioritizer.evidence(page, Verdict(relevance_of(2, 0.5, N)), page.links)
    assert evidence.dense[:, :3].tolist() == [[1, 1, 2], [4, 3, 2]]
    expected = [1 - log(1 * 1 * 2) / (3 * log(N + 1)), 1 - log(4 * 3 * 2) / (3 * log(N + 1))]
    assert prioritizer.score(evidence) == pytest.approx(expected)


def test_the_linear_combination(critic):
    prioritizer = Lexical(critic=critic, graded=False, combination="linear", a=0.5, b=0.3, c=0.2)
    page = of("barn owl <a href=/a>laboratory</a>")
    evidence = prioritizer.evidence(page, Verdict(relevance_of(2, 0.5, N)), page.links)
    assert evidence.dense[0, :3].tolist() == [1, 3, 2]
    assert prioritizer.score(evidence) == pytest.approx([1 - (0.5 * 1 + 0.3 * 3 + 0.2 * 2 - 1) / N])


@pytest.mark.parametrize("combination", ["product", "linear"])
@pytest.mark.parametrize("graded", [True, False])
def test_the_best_link_scores_nearly_1_and_the_worst_0(critic, combination, graded):
    prioritizer = Lexical(critic=critic, combination=combination, graded=graded)
    best, worst = of("barn owl <a href=/a>barn owl</a>"), of("<a href=/a>x</a>")
    scores = [
        float(prioritizer.score(prioritizer.evidence(page, Verdict(relevance), page.links))[0])
        for page, relevance in ((best, 1.0), (worst, 0.0))
    ]
    assert scores[0] > 0.9
    assert scores[1] == pytest.approx(0, abs=1e-6)


def test_grades_tell_links_of_one_level_apart_by_how_clear_they_are(critic):
    page = of("<a href=/a>barn owl</a> <a href=/b>cell barn owl</a> <a href=/c>plant cell</a>")
    graded, whole = (
        Lexical(critic=critic, graded=graded).evidence(page, Verdict(0.0), page.links).dense[:, 1]
        for graded in (True, False)
    )
    assert whole.tolist() == np.floor(graded).tolist() == [1, 1, 2]
    assert graded[0] < graded[1]
    assert (graded - whole <= FRACTION).all()


def test_pages_off_the_path_are_all_alike(critic):
    relevance = [relevance_of(N + 1, grade, N) for grade in (0.0, 0.3, 0.9)]
    page = of("<a href=/x>x</a>")
    places = [Lexical(critic=critic).evidence(page, Verdict(one), page.links).dense[0, 2] for one in relevance]
    assert len(set(places)) == 1


def test_what_is_told_adds_up_to_the_score(critic):
    for options in ({}, {"graded": False}, {"combination": "linear", "a": 0.2, "b": 0.7, "c": 0.1}):
        prioritizer = Lexical(critic=critic, **options)
        page = of("see the barn owl <a href=/x>plant cell report</a> in the laboratory")
        evidence = prioritizer.evidence(page, Verdict(0.8), page.links)
        told = prioritizer.explain(evidence)
        assert sum(part.weight for part in told) == pytest.approx(float(prioritizer.score(evidence)[0]), abs=1e-6)
        named = {part.feature for part in told if isinstance(part.feature, str)}
        assert named == {"words near: level 1", "anchor: level 2", "page: level 1"}
        assert sum(isinstance(part.feature, int) for part in told) == 2 + 2


def test_another_critic_is_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"levels of the critic 'lexical', but the critic is 'one-word': set name"):
        build(Lexical, {}, critic=OneWordCritic())


def test_evidence_can_be_scored_without_a_critic(critic):
    page = of("barn owl <a href=/a>barn owl</a>")
    evidence = Lexical(critic=critic).evidence(page, Verdict(0.9), page.links)
    assert Lexical().score(evidence) == pytest.approx(Lexical(critic=critic).score(evidence))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 3}, "k=3: give a whole number from 4 to 10"),
        ({"combination": "sum"}, "combination='sum': give one of product, linear"),
        ({"graded": 1}, "graded=1: give true or false"),
        ({"a": 0.5}, "give all three weights, or none"),
        ({"a": 0, "b": 0, "c": 0}, "at least one weight must be above 0"),
        ({"a": 2, "b": 0, "c": 0}, "a=2: give a number from 0 to 1"),
    ],
)
def test_bad_options_are_told(options, message):
    with pytest.raises(ValueError, match=message):
        build(Lexical, options)


def test_weights_that_were_found_come_back_and_those_given_go_before():
    found = Lexical(combination="linear")
    found.restore({"weights": np.array([2.0, 1.0, 1.0])})
    assert found.weights == (0.5, 0.25, 0.25)
    again = Lexical(combination="linear")
    again.restore(found.state())
    assert again.weights == found.weights
    given = Lexical(combination="linear", a=0.1, b=0.1, c=0.8)
    given.restore(found.state())
    assert given.weights == pytest.approx((0.1, 0.1, 0.8))
    assert Lexical().state() == {}


@pytest.mark.parametrize("weights", [[1.0], [0.0, 0.0, 0.0], [-1.0, 1.0, 1.0], [np.nan, 1.0, 1.0]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ValueError, match="are not three numbers"):
        Lexical().restore({"weights": np.array(weights)})


# --- a generated web ------------------------------------------------------------------------------------------------

ABOUT = {
    1: "The barn owl and the snowy owl hunt voles.",
    2: "A plant cell has a membrane and is an organism.",
    3: "The scientist is in the laboratory.",
    4: "The football team won the tennis match.",
}
ANCHOR = {1: "barn owl", 2: "plant cell", 3: "laboratory", 4: "football match"}


def staged_web(width: int = 4) -> dict[str, Page]:
    """A hub links to pages of levels 2, 3 and 4; targets can be reached through those of level 2 alone."""

    def link(level: int, number: int) -> str:
        return f"<li><a href='/{level}/{number}'>{ANCHOR[level]}</a> " + "x " * 12

    levels = {(level, number): ABOUT[level] for level in ABOUT for number in range(width)}
    pages = {"/": "<p>welcome</p>" + "".join(link(level, number) for number in range(width) for level in (4, 3, 2))}
    for (level, number), text in levels.items():
        onward = link(1, number) if level == 2 else link(4, (number + 1) % width)
        pages[f"/{level}/{number}"] = f"<p>{text * 3}</p><ul>{onward}"
    root = "http://a.example"
    return {root + path: of(body, root + path) for path, body in pages.items()}


def crawl(web: dict[str, Page], critic: LexicalCritic) -> list[str]:
    """The pages in the order in which the prioritizer has them fetched."""
    prioritizer = Lexical(critic=critic)
    frontier, seen, order = [(-2.0, 0, "http://a.example/")], {"http://a.example/"}, []
    while frontier:
        _, _, url = heapq.heappop(frontier)
        page = web[url]
        order.append(url)
        scores = prioritizer.score(prioritizer.evidence(page, critic.judge(page), page.links)).tolist()
        for target, score in zip(page.links.urls, scores, strict=True):
            if target not in seen:
                seen.add(target)
                heapq.heappush(frontier, (-score, len(seen), target))
    return order


def test_without_target_links_in_sight_the_crawl_stays_near_level_by_level(critic):
    order = [int(url.split("/")[3]) for url in crawl(staged_web(), critic)[1:]]
    # Level 2 before 3 before 4; a target as soon as a link to it is seen.
    assert order == [2, 1] * 4 + [3] * 4 + [4] * 4
