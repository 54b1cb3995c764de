"""Where a link is: what it has in common with links that mostly end as it does.

Links of one list on one page mostly end alike, and so do links in the same place of pages that one template made.
Each function gives one number a link, the same for all links that have that place in common.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from focused.pages.evidence import mix
from focused.pages.tokens import Ids, word_to_id
from focused.pages.urls import url_to_host
from focused.prioritizers.features import Look

_PARTS = 8


def elements(look: Look) -> Ids:
    """The elements around a link, from the root down."""
    return look.links.paths


def innermost(look: Look) -> Ids:
    """The last two of these elements alone."""
    return look.links.ends


def part_of_host(look: Look) -> Ids:
    """The elements, the host of the page, and in which eighth of the page the link is: the navigation of this site."""
    host = np.full(len(look.links), word_to_id(url_to_host(look.page.url)), np.uint32)
    part = look.links.first.astype(np.int64) * _PARTS // max(len(look.page.leaves), 1)
    return look.links.paths ^ mix(host, part)


def own_page(look: Look) -> Ids:
    """The page: by a number of its own its links learn from one another."""
    return np.full(len(look.links), word_to_id(look.page.url), np.uint32)


def own_list(look: Look) -> Ids:
    """The elements on this very page."""
    return look.links.paths ^ mix(own_page(look)[:1], 0)


def directory(look: Look) -> Ids:
    """Where the link leads: the host and the first segment of the path."""
    return np.array([word_to_id(_directory(url)) for url in look.links.urls], np.uint32)


def _directory(url: str) -> str:
    """A page right below the root has none of its own, whatever its query is."""
    parts = url.partition("?")[0].split("/", 4)
    return "/".join(parts[2:4] if len(parts) > 4 else parts[2:3])


def has_no_text(look: Look) -> NDArray[np.bool_]:
    """Is there no word in the link itself, such as in a picture that is not described?"""
    page, links = look.page, look.links
    nothing: NDArray[np.bool_] = page.starts[links.first] == page.starts[np.minimum(links.last + 1, len(page.leaves))]
    return nothing
