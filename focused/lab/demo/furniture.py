"""What every host of the demonstration web has beside its articles: a home page, sections, pages about itself."""

from __future__ import annotations

from random import Random

from focused.lab.demo.articles import Article
from focused.lab.demo.markup import bullets, link, paragraphs
from focused.lab.demo.sites import DemoSite, Sites
from focused.lab.demo.web import GeneratedWeb
from focused.lab.demo.words import vocabularies

ROBOTS = b"User-agent: *\nDisallow: /private/\nDisallow: /search\n"
_ON_A_PAGE = 15
# A section lists some of its articles only, or it would be the answer to the crawl.
_LISTED = 0.4


def add_furniture(web: GeneratedWeb, sites: Sites, articles: list[Article], random: Random) -> None:
    """Add every host's own pages."""
    for site in sites.all:
        own = [article for article in articles if article.site is site]
        web.add(site.url("/robots.txt"), ROBOTS, kind="text/plain")
        _add(web, site, "/", "Welcome", _home(site, own, sites, random))
        _add(web, site, "/about.html", "About us", paragraphs([sites.prose["news"].paragraph(6)]))
        _add(web, site, "/search?q=", "Search", "<form><input name=q></form><p>Nothing was asked for.</p>")
        _add(web, site, "/private/staff.html", "Staff only", paragraphs([sites.prose["news"].paragraph(6)]))
        web.hidden |= {site.url("/search?q="), site.url("/private/staff.html")}
        for kind in site.sections:
            all_of_it = [article for article in own if article.kind == kind]
            listed = random.sample(all_of_it, round(len(all_of_it) * _LISTED))
            _add_section(web, site, kind, listed, sites.prose[kind].paragraph(3))


def _add(web: GeneratedWeb, site: DemoSite, path: str, title: str, body: str, *, kind: str = "other") -> None:
    web.add_labelled(site.url(path), kind, title, site.page(title, body))


def _home(site: DemoSite, own: list[Article], sites: Sites, random: Random) -> str:
    latest = random.sample(own, min(8, len(own)))
    others = [f"http://{neighbour.host}/" for neighbour in random.sample(sites.all, 5) if neighbour is not site]
    return "\n".join(
        [
            paragraphs([sites.prose["news"].paragraph(3)]),
            "<h2>Sections</h2>",
            bullets((f"/{kind}/", vocabularies()[kind].title) for kind in site.sections),
            "<h2>Latest</h2>",
            bullets((article.url, article.title) for article in latest),
            "<h2>Elsewhere</h2>",
            bullets((url, url) for url in others),
        ]
    )


def _add_section(web: GeneratedWeb, site: DemoSite, kind: str, listed: list[Article], text: str) -> None:
    """A section's pages, chained by "next"."""
    pages = max(1, -(-len(listed) // _ON_A_PAGE))
    for number in range(pages):
        some = listed[number * _ON_A_PAGE : (number + 1) * _ON_A_PAGE]
        following = f"<p>{link(_section_path(kind, number + 1), 'next')}</p>" if number + 1 < pages else ""
        body = "\n".join([paragraphs([text]), bullets((article.url, article.title) for article in some), following])
        title = f"{vocabularies()[kind].title}, page {number + 1}"
        _add(web, site, _section_path(kind, number), title, body, kind=kind)


def _section_path(kind: str, number: int) -> str:
    return f"/{kind}/?page={number + 1}" if number else f"/{kind}/"
