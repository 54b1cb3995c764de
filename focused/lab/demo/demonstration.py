"""The demonstration web: some hosts, some topics, and most of what makes a real web hard to crawl.

Pages are linked as pages are: mostly to pages on their own topic, in communities of those that know one another,
with distracting links to others, to what everybody links to, to dead ends. Every page carries its host's navigation
bar and footer. The wanted topic, ``stars``, is about one page in eleven; horoscopes and sailing share some of its
words. `focused.lab.demo.articles` makes what is worth reading, `furniture` the home pages and sections, `detours` the
links that do not lead where they say, `traps` what a crawler can lose itself in.
"""

from __future__ import annotations

from random import Random

from focused.lab.demo.articles import Article, plan_articles, write_articles
from focused.lab.demo.detours import Detours
from focused.lab.demo.furniture import add_furniture
from focused.lab.demo.sites import FEWEST_HOSTS, MOST_HOSTS, PORTALS, Sites
from focused.lab.demo.traps import add_traps
from focused.lab.demo.web import WANTED, GeneratedWeb, some_of
from focused.pages.page import page_from_html

# Of all pages: articles, and what a crawler can lose itself in. The rest are home pages, sections, copies.
_ARTICLES = 0.76
_TRAPS = 0.08
_PAGES_A_HOST = 150
_WANTED = "Stars and what lies between them: observing and explaining them, but not horoscopes."
_KEYWORDS = ("astronomy", "star", "galaxy", "nebula", "telescope", "planet", "comet")


def demonstration_web(pages: int = 2_400, seed: int = 0) -> GeneratedWeb:
    """The demonstration web, with about so many pages that can be fetched."""
    random = Random(f"demo/{seed}")
    web = GeneratedWeb("demo", _WANTED, _KEYWORDS)
    sites = Sites(random, min(MOST_HOSTS, max(FEWEST_HOSTS, pages // _PAGES_A_HOST)))
    detours = Detours(web, random)
    articles = plan_articles(sites, round(pages * _ARTICLES), random)
    write_articles(web, sites, articles, detours)
    detours.finish()
    add_furniture(web, sites, articles, random)
    add_traps(web, sites, detours.sessions, months=round(pages * _TRAPS))
    web.seeds = _seeds(web, articles, random)
    web.take_examples(random, share=0.15, most=40)
    return web


def _seeds(web: GeneratedWeb, articles: list[Article], random: Random) -> dict[str, list[str]]:
    on = [article.url for article in articles if article.kind == WANTED and article.script == "latin"]
    names = {_name(article.url) for article in articles if article.kind == WANTED} | {""}
    off = (article.url for article in articles if article.kind in {"kitchen", "railways", "garden"})
    far = [url for url in off if not names & _names_linked(web, url)]
    root = [f"http://{host}/" for host in PORTALS]
    return {"on": some_of(on, random), "far": some_of(far, random), "root": root}


def _names_linked(web: GeneratedWeb, url: str) -> set[str]:
    """The last part of each address that a page links to; '' means a section on the topic. Detours keep names."""
    links = page_from_html(web.pages[url].body, url).links.urls
    return {_name(link) for link in links if _name(link) or f"/{WANTED}/" in link}


def _name(url: str) -> str:
    return url.rpartition("/")[2].removesuffix(".html").removesuffix(".pdf")
