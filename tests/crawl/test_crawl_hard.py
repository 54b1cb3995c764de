"""The paper's point, on the hard web: ⟨word, offset⟩ finds what neither order of arrival nor plain words find."""

from __future__ import annotations

import pytest

from focused.lab.demo.web import GeneratedWeb
from focused.lab.demo.webs import make_web
from focused.lab.site.crawl import run_crawl
from focused.lab.site.server import SiteServer

PAGES = 600
PLAIN_WINDOW = '[prioritizer]\nname = "apprentice"\noffsets = false\n'


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return make_web("hard")


@pytest.fixture(scope="module")
def found(web: GeneratedWeb, topic_file, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Targets found by breadth-first, by two that read offsets, and by the apprentice with a plain window."""
    topic, plain = topic_file(web), topic_file(web, PLAIN_WINDOW)
    targets = set(web.targets)
    crawls = {
        "breadth-first": {"topic": topic, "prioritizer": "breadth-first"},
        "apprentice": {"topic": topic, "prioritizer": "apprentice"},
        "focused": {"topic": topic, "prioritizer": "focused"},
        "plain window": {"topic": plain},
    }
    found = {}
    for name, arguments in crawls.items():
        arguments |= {"seeds": ",".join(web.seeds["far"]), "pages": PAGES}
        with SiteServer(web.pages) as site:
            result = run_crawl(arguments, folder=tmp_path_factory.mktemp("hard"), site=site)
        assert result.exit_code == 0, result.log[-2_000:]
        found[name] = len(targets & set(result.fetched[:PAGES]))
    return found


@pytest.mark.parametrize("name", ["apprentice", "focused"])
def test_offsets_find_three_times_what_breadth_first_finds(found: dict[str, int], name: str):
    assert found[name] >= 3 * found["breadth-first"] > 0


def test_offsets_find_half_as_much_again_as_the_same_window_without(found: dict[str, int]):
    assert found["apprentice"] >= 1.5 * found["plain window"] > 0
