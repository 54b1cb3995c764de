"""Parts of other distributions: found by short name, harmless while nobody asks for them, named when they are wrong."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from focused.prioritizers.best_first import BestFirst
from focused.prioritizers.focused import Focused
from focused.registry import UnknownName, find, names, usable

MODULE = """
from focused.prioritizers.best_first import BestFirst

class Patient(BestFirst):
    name = "patient"
"""


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Install a distribution whose entry points are these lines of the group focused.prioritizers."""
    (tmp_path / "patience.py").write_text(MODULE)
    (tmp_path / "torn.py").write_text("raise RuntimeError('no licence')\n")
    monkeypatch.syspath_prepend(tmp_path)

    def install(name: str, *lines: str) -> None:
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text("\n".join(["[focused.prioritizers]", *lines, ""]))

    return install


def test_a_part_of_another_distribution_is_found_by_its_short_name(distribution) -> None:
    distribution("patience", "patient = patience:Patient")
    assert names("prioritizer")[-1] == "patient"
    assert issubclass(find("prioritizer", "patient"), BestFirst)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("torn = torn:Prioritizer", "prioritizer 'torn' cannot be imported: no licence"),
        ("torn = nowhere:Prioritizer", "prioritizer 'torn' cannot be imported: No module named 'nowhere'"),
        ("torn = os.path:join", "'torn' is not a prioritizer"),
        ("torn = ???", "prioritizer 'torn' cannot be imported"),
    ],
)
def test_a_broken_one_is_named_when_it_is_asked_for_and_harms_no_other(distribution, line: str, why: str) -> None:
    distribution("crooked", line)
    assert find("prioritizer", "focused") is Focused
    assert "torn" not in dict(usable("prioritizer"))
    with pytest.raises(UnknownName) as refused:
        find("prioritizer", "torn")
    assert str(refused.value).startswith(why)
    assert f"entry point '{line}' of 'crooked'" in str(refused.value)


def test_a_name_that_two_distributions_give_is_refused_with_both(distribution) -> None:
    distribution("patience", "patient = patience:Patient")
    distribution("haste", "patient = hasty:Patient")
    with pytest.raises(UnknownName, match=r"named twice.*of '(patience|haste)'.*of '(patience|haste)'.*dotted path"):
        find("prioritizer", "patient")
    assert find("prioritizer", "patience.Patient").name == "patient"


def test_a_name_of_ours_stays_ours(distribution, caplog: pytest.LogCaptureFixture) -> None:
    distribution("patience", "focused = patience:Patient")
    with caplog.at_level(logging.WARNING):
        assert find("prioritizer", "focused") is Focused
    assert "entry point 'focused = patience:Patient' of 'patience'" in caplog.text
    assert names("prioritizer").count("focused") == 1
