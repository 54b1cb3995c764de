"""The articles of the demonstration web, and the links between them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import cycle
from random import Random

from focused.lab.demo.detours import Detours
from focused.lab.demo.markup import bullets, link, paragraphs
from focused.lab.demo.prose import Prose
from focused.lab.demo.sites import WITH_FORUM, DemoSite, Sites
from focused.lab.demo.web import HTML, GeneratedWeb
from focused.lab.demo.words import vocabularies

# Of an article's links: to its own topic; the rest to whatever others write about.
_LOCAL = 0.62
# Of the links to its own topic: to articles near to it in the topic's row, its community.
_NEAR = 0.75
_REACH = 25
_SAYS_NOTHING = ("here", "this page", "more", "read on", "[1]", "a friend's page", "details", "link")
# Script → the charset of its older pages.
_CHARSETS = {"greek": "iso-8859-7", "chinese": "gb18030", "latin": "utf-8"}
_LANGUAGES = {"greek": "el", "chinese": "zh", "latin": "en"}
# Is a page in another script an old one, and does its server say so, or only the page itself?
_OLD_AND_TOLD = ((False, True), (True, True), (True, False))


@dataclass(frozen=True, slots=True)
class Article:
    """One article, before it is written."""

    url: str
    title: str
    kind: str
    site: DemoSite
    script: str = "latin"


def plan_articles(sites: Sites, count: int, random: Random) -> list[Article]:
    """Decide what is written about what, and where."""
    articles: list[Article] = []
    for number in range(count):
        kind = sites.some_kind()
        site = sites.some_site(kind)
        script = random.choices(("latin", "greek", "chinese"), (20, 1, 1))[0] if kind == "stars" else "latin"
        title = sites.prose[kind].title() if script == "latin" else _foreign(script, random, 3)
        name = "-".join(title.lower().replace(":", "").replace(",", "").split()[:4]) if script == "latin" else script
        articles.append(Article(site.url(f"/{kind}/{name}-{number}.html"), title, kind, site, script))
    return articles


def write_articles(web: GeneratedWeb, sites: Sites, articles: list[Article], detours: Detours) -> None:
    """Write all articles and link them."""
    writer = _Writer(web, sites, articles, detours)
    for article in articles:
        writer.write(article)


class _Writer:
    def __init__(self, web: GeneratedWeb, sites: Sites, articles: list[Article], detours: Detours) -> None:
        self.web = web
        self.sites = sites
        self.articles = articles
        self.detours = detours
        self.random = detours.random
        self.dress = {script: cycle(_OLD_AND_TOLD) for script in _CHARSETS}
        self.rows: dict[str, list[Article]] = {}
        for article in articles:
            self.rows.setdefault(article.kind, []).append(article)
        self.places = {article.url: place for row in self.rows.values() for place, article in enumerate(row)}

    def write(self, article: Article) -> None:
        """Write one article."""
        old, declared = next(self.dress[article.script]) if article.script != "latin" else (False, True)
        charset = _CHARSETS[article.script] if old else "utf-8"
        language = _LANGUAGES[article.script]
        page = article.site.page(article.title, self._body(article), language=language, charset=charset)
        kind = HTML.replace("utf-8", charset) if declared else "text/html"
        self.web.add(article.url, page, kind=kind, encoding=charset)
        self.web.label(article.url, article.kind, article.title)

    def _body(self, article: Article) -> str:
        parts = [self._text(article)]
        for target in self._targets(article, self.random.randint(3, 6)):
            parts += [self._mention(target), self._text(article)]
        related = [
            (self.detours.address(target.url), target.title)
            for target in self._targets(article, self.random.randint(3, 7))
        ]
        parts += ["<h3>See also</h3>", bullets(related, "related")]
        if article.site.host == WITH_FORUM:
            parts.append(f"<p>{link(self.detours.thread(), 'Talk about this')}</p>")
        return "\n".join(parts)

    def _text(self, article: Article) -> str:
        if article.script != "latin":
            return paragraphs([_foreign(article.script, self.random, 40)])
        return paragraphs([self.sites.prose[article.kind].paragraph(self.random.randint(2, 4))])

    def _mention(self, target: Article) -> str:
        """A paragraph that links to another article, with a sentence from that one's world beside the link."""
        prose: Prose = self.sites.prose[target.kind]
        anchor = target.title if self.random.random() < 0.7 else self.random.choice(_SAYS_NOTHING)
        before, after = escape(prose.sentence()), escape(prose.sentence())
        return f"<p>{before} See {link(self.detours.address(target.url), anchor)}. {after}</p>"

    def _targets(self, article: Article, count: int) -> list[Article]:
        found = {target.url: target for target in (self._target(article) for _ in range(count))}
        found.pop(article.url, None)
        return list(found.values())

    def _target(self, article: Article) -> Article:
        if self.random.random() >= _LOCAL:
            return self._popular(self.rows[self.random.choice(self.articles).kind])
        row = self.rows[article.kind]
        if self.random.random() >= _NEAR:
            return self._popular(row)
        step = self.random.choice((-1, 1)) * self.random.randint(1, _REACH)
        return row[(self.places[article.url] + step) % len(row)]

    def _popular(self, row: list[Article]) -> Article:
        """Any article of a row, some of them far more often than others."""
        return row[int(len(row) * self.random.random() ** 2.5)]


def _foreign(script: str, random: Random, count: int) -> str:
    words = random.choices(vocabularies()[script].nouns, k=count)
    return "".join(words) if script == "chinese" else " ".join(words)
