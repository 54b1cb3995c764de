"""What a critic says is a number from 0 to 1, or it is told whose fault it was."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from focused.critics.base import Verdict
from focused.pages.page import page_from_html
from focused.visits.visits import judge


@pytest.mark.parametrize("relevance", [float("nan"), float("inf"), -0.1, 1.5])
def test_a_verdict_that_is_no_relevance_is_refused_and_not_kept(relevance: float) -> None:
    said = [relevance, 0.75]
    critic = SimpleNamespace(name="odd", judge=lambda _: Verdict(said.pop(0)))
    page = page_from_html(b"<p>star", "http://h.example/")
    with pytest.raises(ValueError, match=r"critic 'odd' gives http://h.example/ the relevance"):
        judge(critic, page)
    assert judge(critic, page).relevance == 0.75
