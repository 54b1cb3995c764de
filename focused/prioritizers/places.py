"""Where a link stands, as features: its elements, its page, its list.

Links of one list on one page mostly share their fate, and so do links in the same place of pages that one template
made. Six features a link, always in the same order, so that they can be told without their words:

* the elements it stands in, from the root down; the last two of them alone;
* these elements, the host of the page, and in which eighth of the page it is: the navigation of this site;
* its page: a number of its own for each page, by which its links learn from one another;
* its list: its elements on this very page;
* the directory that it leads into: its host and the first segment of its path.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from focused.pages.evidence import Evidence, mix
from focused.pages.page import Links, Page
from focused.pages.tokens import Ids, word_to_id
from focused.pages.urls import url_to_host

PLACES = (
    "the elements around it",
    "the innermost elements",
    "this part of the host's pages",
    "other links of the page",
    "other links of the list",
    "the directory it leads into",
)
_PATH, _END, _PART, _PAGE, _LIST, _DIRECTORY = range(1_001, 1_007)
_PARTS = 8


def places(page: Page, links: Links) -> Ids:
    """The features of each link: a row for each, a column for each of `PLACES`."""
    host, own = word_to_id(url_to_host(page.url)), word_to_id(page.url)
    part = links.first.astype(np.int64) * _PARTS // max(len(page.leaves), 1)
    columns = (
        mix(links.paths, _PATH),
        mix(links.ends, _END),
        mix(links.paths ^ mix(np.full(len(links), host, np.uint32), part), _PART),
        mix(np.full(len(links), own, np.uint32), _PAGE),
        mix(links.paths ^ mix(np.array([own], np.uint32), 0), _LIST),
        mix(np.array([word_to_id(_directory(url)) for url in links.urls], np.uint32), _DIRECTORY),
    )
    return np.stack(columns, axis=1)


def directories(evidence: Evidence) -> Ids:
    """Of rows that end with their places: the last."""
    return evidence.ids[evidence.starts[1:] - 1]


def _directory(url: str) -> str:
    """A page right below the root has none of its own, whatever stands in its query."""
    parts = url.partition("?")[0].split("/", 4)
    return "/".join(parts[2:4] if len(parts) > 4 else parts[2:3])


def has_no_text(page: Page, links: Links) -> NDArray[np.bool_]:
    """Is there no word in the link itself, such as in a picture that is not described?"""
    nothing: NDArray[np.bool_] = page.starts[links.first] == page.starts[np.minimum(links.last + 1, len(page.leaves))]
    return nothing
