"""The pages on writing a critic and a prioritizer: their examples pass the checks, and lead real crawls."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from focused.lab.site.crawl import run_crawl
from focused.lab.site.server import SiteServer
from focused.registry import names
from focused.testing import check_critic, check_prioritizer

DOCS = Path(__file__).parents[2] / "docs"
MODULES = {"write-a-critic.md": "kitchen", "write-a-prioritizer.md": "mine"}
HUB = "http://hub.example/"
AMOUNTS = "".join(f"<li>{number} g of flour" for number in range(1, 9))


def code_of(page: str) -> str:
    """The examples of a page, one after the other."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return "\n\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))


def example_of(page: str) -> dict[str, Any]:
    """The names that the examples of a page make, as those of its module: what is imported or pickled is found."""
    name = MODULES[page]
    module = sys.modules[name] = ModuleType(name)
    exec(code_of(page), vars(module))
    return vars(module)


@pytest.mark.parametrize("name", ["Recipes", "Reader"])
def test_a_critic_of_the_docs_passes_the_checks(name: str) -> None:
    check_critic(example_of("write-a-critic.md")[name])


@pytest.mark.parametrize("name", ["ByWording", "Shallow", "WithLength", "LongAnchors"])
def test_a_prioritizer_of_the_docs_passes_the_checks(name: str) -> None:
    check_prioritizer(example_of("write-a-prioritizer.md")[name])


def test_the_tests_of_the_docs_pass() -> None:
    example_of("write-a-critic.md")["test_recipes"]()
    example_of("write-a-prioritizer.md")["test_by_wording"]()


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that Python looks into: the modules of the docs, and a distribution that names what is in them."""
    folder = tmp_path / "elsewhere"
    about = folder / "kitchen-1.0.dist-info"
    about.mkdir(parents=True)
    for page, name in MODULES.items():
        (folder / f"{name}.py").write_text(code_of(page), "utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: kitchen\nVersion: 1.0\n", "utf-8")
    lines = []
    for page in MODULES:
        text = (DOCS / page).read_text("utf-8")
        for group, entry in re.findall(r'\[project\.entry-points\."(.*?)"\]\n(.*?)\n```', text):
            lines += [f"[{group}]", entry.replace('"', "")]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(str(folder))
    return folder


def kitchen_site() -> dict[str, str]:
    """A hub; three recipes behind links that say so, and news that link to more news."""
    recipe = f"<h1>Bread</h1><ul>{AMOUNTS}</ul>"
    links = "".join(
        f"<li>a <a href=/cook/{n}.html>recipe {n}</a><li><a href=/news/{n}.html>news {n}</a>" for n in range(9)
    )
    news = {f"{HUB}news/{n}.html": f"<p>news of day {n}<p><a href=/news/{n}.html>news {n} again</a>" for n in range(9)}
    return {HUB: links, **news, **{f"{HUB}cook/{n}.html": f"{recipe}<p>number {n}" for n in range(9)}}


@pytest.mark.parametrize(
    "arguments",
    [
        {"critic": "kitchen.Recipes"},
        {"critic": "recipes"},
        {"critic": "recipes", "prioritizer": "mine.ByWording"},
        {"critic": "recipes", "prioritizer": "by-wording"},
    ],
    ids=lambda arguments: " ".join(arguments.values()),
)
@pytest.mark.usefixtures("elsewhere")
def test_a_crawl_led_by_parts_from_elsewhere(arguments: dict[str, str], tmp_path: Path) -> None:
    """By dotted path, and by the short name of an entry point."""
    with SiteServer(kitchen_site()) as site:
        result = run_crawl({"topic": "bread flour", "seeds": HUB, **arguments}, folder=tmp_path, site=site)
    assert result.exit_code == 0, result.log
    relevance = {item["url"]: item["relevance"] for item in result.items}
    assert len(relevance) == 19
    if "prioritizer" in arguments:
        report = (tmp_path / "job" / "report.html").read_text("utf-8")
        learned = report.partition("What the prioritizer learned")[2].partition("</section>")[0]
        assert "learned about features with a name. " in learned
        assert ">directory cook</bdi>" in learned
        assert "<svg" not in learned
        assert "0</span>" not in learned, "no rows for offsets"
    assert {value for url, value in relevance.items() if "/cook/" in url} == {1.0}
    assert {value for url, value in relevance.items() if "/news/" in url} == {0.0}
    # What was learned of the first recipes leads to the others.
    order = [item["url"] for item in sorted(result.items, key=lambda item: item["order"])]
    cooked = [place for place, url in enumerate(order) if "/cook/" in url]
    assert sum(cooked) / len(cooked) < len(order) / 2 - 1


@pytest.mark.usefixtures("elsewhere")
def test_what_others_bring_is_listed_with_ours() -> None:
    assert "recipes" in names("critic")
    assert "by-wording" in names("prioritizer")
