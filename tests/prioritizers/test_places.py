"""Where links stand, as features: who shares them, and who does not."""

from __future__ import annotations

import numpy as np
import pytest

from focused.critics.base import Verdict
from focused.prioritizers.features import Look
from focused.prioritizers.focused import Focused
from focused.prioritizers.places import has_no_text
from tests.prioritizers.prioritizer_cases import evidence_of, page

LAYOUT = Focused().layout
PLACES = LAYOUT.places
ELEMENTS, INNERMOST, PART, PAGE, LIST, DIRECTORY = range(len(PLACES))
HERE, THERE = "http://h.example/here.html", "http://h.example/there.html"


def items(count, name):
    return "".join(f"<li><a href=/{name}{n}>{name} {n}</a>" for n in range(count))


def body(news="news", links="links"):
    return f"<div><ul id=news>{items(2, news)}</ul><ul id=links>{items(2, links)}</ul></div>"


def look(parsed, rows=None):
    return Look(parsed, Verdict(0.5), parsed.links if rows is None else parsed.links.select(rows))


def of(html, url=HERE):
    return LAYOUT.places_of(look(page(html, url)))


def shared(one, other):
    """What two links have in common of where they stand."""
    return set(np.flatnonzero(one == other).tolist()) - {DIRECTORY}


def test_a_row_for_each_link_and_a_column_for_each_place():
    found = of(body())
    assert found.shape == (4, len(PLACES))
    assert found.dtype == np.uint32
    assert of("no links").shape == (0, len(PLACES))


def test_links_of_one_list_share_it():
    first, second, *_ = of(body())
    assert {ELEMENTS, INNERMOST, PAGE, LIST} <= shared(first, second)


def test_links_of_two_lists_share_their_page_alone():
    found = of(body())
    assert shared(found[0], found[3]) == {PAGE}


def test_lists_that_end_alike_share_their_innermost_elements():
    one, other = of("<div id=a><p><b><a href=/1>x</a></b></p></div><div id=c><p><b><a href=/2>y</a></b></p></div>")
    assert shared(one, other) == {INNERMOST, PAGE}


def test_the_same_place_on_another_page_of_the_host_shares_all_but_page_and_list():
    here, there = of(body()), of(body("other", "words"), THERE)
    for one, other in zip(here, there, strict=True):
        assert shared(one, other) == {ELEMENTS, INNERMOST, PART}


def test_the_same_place_on_another_host_shares_its_elements():
    assert shared(of(body())[0], of(body(), "http://other.example/here.html")[0]) == {ELEMENTS, INNERMOST}


def test_an_address_on_one_host_may_be_written_with_a_port():
    assert PART in shared(of(body())[0], of(body(), "http://h.example:8080/x")[0])


def test_each_eighth_of_a_page_is_a_part_of_its_own():
    found = of("".join(f"<p><a href=/{n}>link {n}</a></p>" for n in range(80)))
    assert len(set(found[:, PART].tolist())) == 8
    assert len(set(found[:10, PART].tolist())) == 1
    assert shared(found[9], found[10]) == {ELEMENTS, INNERMOST, PAGE, LIST}


def test_the_same_page_met_again_has_the_same_places():
    assert (of(body()) == of(body())).all()


def test_places_of_different_kinds_are_never_the_same_feature():
    found = np.concatenate([of(body()), of(body(), THERE), of("<a href=/x>x</a>"), of("<p><a href=/x>x</a>")])
    kinds = [set(column.tolist()) for column in found.T]
    assert sum(map(len, kinds)) == len(set().union(*kinds))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/papers/a", "/papers/b/c", True),
        ("/papers/", "/papers/b?c=d", True),
        ("/papers/a", "/people/a", False),
        ("/papers/a", "http://other.example/papers/a", False),
        ("/papers", "/papers/a", False),
        ("/papers", "/people", True),
        ("/", "/people", True),
        ("/people", "http://other.example/people", False),
        ("/people?see=/a/b", "/people", True),
        ("/people?see=/a/b", "/papers?see=/a/b", True),
        ("/papers/?see=/a/b", "/papers/a", True),
        ("?see=/a/b", "/people", True),
    ],
)
def test_a_directory_is_the_target_s_host_and_the_first_segment_of_its_path(one, other, same):
    first, second = of(f"<a href={one}>x</a><a href={other}>y</a>")
    assert (first[DIRECTORY] == second[DIRECTORY]) == same


def test_a_directory_is_the_same_from_wherever_it_is_linked():
    here, there = (
        of("<a href=/papers/a>x</a>"),
        of("<p><a href=http://h.example/papers/b>y</a>", "http://other.example/"),
    )
    assert here[0, DIRECTORY] == there[0, DIRECTORY]


def test_directories_are_found_again_in_evidence():
    html = "<p>words</p><a href=/a/b>x</a><a href=/c/d>y</a>"
    found = LAYOUT.place_in(evidence_of(Focused(), html), PLACES[DIRECTORY].name)
    assert (found == LAYOUT.places_of(look(page(html)))[:, DIRECTORY]).all()
    assert len(LAYOUT.place_in(evidence_of(Focused(), "no links"), PLACES[DIRECTORY].name)) == 0


def test_some_of_the_links_have_the_places_that_they_have_among_all():
    parsed = page(body(), HERE)
    assert (LAYOUT.places_of(look(parsed, [3, 0])) == LAYOUT.places_of(look(parsed))[[3, 0]]).all()


@pytest.mark.parametrize(
    ("link", "nothing"),
    [
        ("<a href=/x>words</a>", False),
        ("<a href=/x><img src=i alt='a picture'></a>", False),
        ("<a href=/x><i></i>in<br>it</a>", False),
        ("<a href=/x></a>", True),
        ("<a href=/x> \n </a>", True),
        ("<a href=/x><img src=i></a>", True),
        ("<a href=/x><img src=i><br></a>", True),
        ("<a href=/x>» …</a>", True),
        ("<a href=/x><!-- words --></a>", True),
        ("<iframe src=/x></iframe>", True),
    ],
)
def test_a_link_has_text_if_there_is_a_word_in_it(link, nothing):
    between = page(f"<p>before</p>{link}<p>behind</p>")
    assert has_no_text(look(between)).tolist() == [nothing]


def test_links_without_text_are_told_one_by_one_wherever_they_stand():
    parsed = page(
        "<a href=/1><img src=i></a><p>words</p><a href=/2>x</a><a href=/3></a><a href=/4>y</a><a href=/5></a>"
    )
    assert has_no_text(look(parsed)).tolist() == [True, False, True, False, True]
    assert has_no_text(look(parsed, [3, 2])).tolist() == [False, True]


def test_a_page_that_is_nothing_but_a_link_without_text():
    parsed = page("<a href=/x><script>x()</script></a>")
    assert parsed.leaves == [""]
    assert LAYOUT.places_of(look(parsed)).shape == (1, len(PLACES))
    assert has_no_text(look(parsed)).tolist() == [True]
