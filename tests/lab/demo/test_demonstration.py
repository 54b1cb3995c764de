"""Promises of the demonstration web: it has what makes a real web hard to crawl, and can be crawled all the same."""

from __future__ import annotations

from collections import Counter, deque
from urllib.parse import urljoin

import pytest

from focused.lab.demo.demonstration import demonstration_web
from focused.lab.demo.web import GeneratedWeb
from focused.pages.page import page_from_html


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return demonstration_web()


@pytest.fixture(scope="module")
def links(web: GeneratedWeb) -> dict[str, list[str]]:
    """Every page's links."""
    return {url: page_from_html(web.pages[url].body, url).links.urls for url in web.classes}


def is_on_topic(web: GeneratedWeb, url: str) -> bool:
    return web.classes.get(url) == "stars"


def end_of(web: GeneratedWeb, url: str) -> str:
    """Where redirects end; '' in a loop or at a dead link."""
    for _ in range(6):
        answer = web.pages.get(url)
        if answer is None:
            return ""
        if answer.status == 200:
            return url
        url = urljoin(url, dict(answer.headers)["Location"])
    return ""


def reached(web: GeneratedWeb, links: dict[str, list[str]], seeds: list[str]) -> list[str]:
    """Pages in the order in which breadth-first finds them."""
    waiting, seen = deque(seeds), dict.fromkeys(seeds)
    while waiting:
        for link in links.get(waiting.popleft(), ()):
            target = end_of(web, link)
            if target and target not in seen:
                seen[target] = None
                waiting.append(target)
    return list(seen)


def test_the_topic_is_about_one_page_in_eleven(web: GeneratedWeb):
    visible = [url for url in web.classes if url not in web.hidden]
    assert 0.07 < sum(is_on_topic(web, url) for url in visible) / len(visible) < 0.11


def test_all_but_a_few_targets_can_be_reached_from_any_start(web: GeneratedWeb, links: dict[str, list[str]]):
    targets = set(web.targets)
    for seeds in web.seeds.values():
        assert len(targets & set(reached(web, links, seeds))) > 0.95 * len(targets)


def test_breadth_first_finds_few_targets_early_from_afar(web: GeneratedWeb, links: dict[str, list[str]]):
    first = reached(web, links, web.seeds["far"])[:400]
    assert len(set(first) & set(web.targets)) < 0.2 * len(web.targets)


def test_pages_link_mostly_to_their_own_topic_but_not_only(web: GeneratedWeb, links: dict[str, list[str]]):
    def share(sources: list[str]) -> float:
        targets = [target for url in sources for target in links[url] if target in web.classes]
        return sum(is_on_topic(web, target) for target in targets) / len(targets)

    articles = [url for url in web.classes if url.endswith(".html") and url.count("/") == 4]
    on = [url for url in articles if is_on_topic(web, url)]
    assert 0.3 < share(on) < 0.7
    assert share([url for url in articles if url not in on]) < 0.1


def test_no_page_lists_the_whole_topic(web: GeneratedWeb, links: dict[str, list[str]]):
    targets = set(web.targets)
    assert max(len(targets & set(urls)) for urls in links.values()) < 0.15 * len(targets)


def test_seeds_that_are_far_link_to_no_page_on_the_topic(web: GeneratedWeb, links: dict[str, list[str]]):
    ends = [end_of(web, link) for url in web.seeds["far"] for link in links[url]]
    assert not any(is_on_topic(web, url) for url in ends)


def test_every_page_has_a_navigation_bar_and_a_footer(web: GeneratedWeb, links: dict[str, list[str]]):
    for url, urls in links.items():
        host = "/".join(url.split("/")[:3])
        assert {f"{host}/", f"{host}/about.html"} <= set(urls)
        assert urls[-1] == f"{host}/private/staff.html"


def test_every_host_has_robots_txt_and_something_behind_it(web: GeneratedWeb):
    hosts = {url.split("/")[2] for url in web.pages}
    assert len(hosts) >= 10
    for host in hosts:
        assert b"Disallow: /private/" in web.pages[f"http://{host}/robots.txt"].body
        assert f"http://{host}/private/staff.html" in web.hidden


def test_some_links_are_dead_and_some_are_moved(web: GeneratedWeb, links: dict[str, list[str]]):
    distinct = {link for urls in links.values() for link in urls}
    statuses = Counter(web.pages[link].status if link in web.pages else 404 for link in distinct)
    assert all(statuses[status] > 50 for status in (200, 301, 302, 404))


def test_some_redirects_are_chains_and_one_kind_never_ends(web: GeneratedWeb):
    chained = [url for url in web.pages if "/1998/" in url]
    assert chained
    assert all(end_of(web, url) in web.classes for url in chained)
    loops = [url for url in web.pages if url.endswith("/round")]
    assert loops
    assert not any(end_of(web, url) for url in loops)


def test_copies_are_the_same_to_the_byte_and_no_targets(web: GeneratedWeb):
    bodies = {web.pages[url].body for url in web.classes if "/print/" not in url}
    copies = [url for url in web.classes if "/print/" in url]
    assert len(copies) > 50
    assert all(web.pages[url].body in bodies and url in web.hidden for url in copies)


def test_the_calendar_goes_on_and_on(web: GeneratedWeb):
    assert sum("/calendar/" in url for url in web.classes) > 150


def test_the_forum_gives_one_thread_many_addresses(web: GeneratedWeb):
    threads = [url for url in web.classes if "/forum/1.php?sid=" in url]
    assert len(threads) > 10
    assert len({page_from_html(web.pages[url].body, url).digest for url in threads}) == 1


def test_not_all_is_html(web: GeneratedWeb):
    kinds = Counter(dict(answer.headers)["Content-Type"].partition(";")[0] for answer in web.pages.values())
    assert kinds["application/pdf"] > 50


def test_some_pages_on_the_topic_are_in_other_scripts_and_charsets(web: GeneratedWeb):
    kinds = {dict(answer.headers)["Content-Type"] for answer in web.pages.values()}
    assert {"text/html; charset=iso-8859-7", "text/html; charset=gb18030", "text/html"} <= kinds
    for name, letter in (("greek", "α"), ("chinese", "星")):
        texts = [page_from_html(web.pages[url].body, url).text for url in web.classes if f"/stars/{name}-" in url]
        assert texts
        assert all(letter in text for text in texts)
