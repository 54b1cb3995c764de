"""A small web, made once, and a cache of its own for graphs."""

from __future__ import annotations

import pytest
from small_web import SmallWeb


@pytest.fixture(scope="session")
def small_web(tmp_path_factory):
    return SmallWeb(tmp_path_factory.mktemp("small"))


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
