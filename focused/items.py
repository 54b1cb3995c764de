"""What the spider gives out: one item per page."""

from __future__ import annotations

import re

from scrapy import Field, Item

from focused.pages.page import Page

# What XML cannot hold, and what a terminal would obey.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ufffe\uffff]")


class PageItem(Item):
    """A fetched page and the critic's verdict. ``class`` is a field, too; Python's keyword keeps it out of the body.

    ``label`` is where on a path the page stands, where a prioritizer tells that.

    ``page`` and ``token`` travel with the item through the pipelines and are not exported.
    """

    url = Field()
    title = Field()
    relevance = Field()
    depth = Field()
    parent = Field()
    order = Field()
    score = Field()
    time = Field()
    label = Field()

    _page: Page
    _token: int

    @property
    def page(self) -> Page:
        """The parsed page."""
        return self._page

    @property
    def token(self) -> int:
        """The lease under which the page was fetched; 0 without our frontier."""
        return self._token

    @classmethod
    def of(cls, page: Page, token: int) -> PageItem:
        """An item for a page that was just parsed."""
        item = cls(url=page.url, title=_CONTROL.sub("", page.title))
        item._page, item._token = page, token
        return item


PageItem.fields["class"] = Field()
