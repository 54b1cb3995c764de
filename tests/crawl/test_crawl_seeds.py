"""A crawl that gets nothing from its seeds says why at once, by the seed's name, and ends."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.reply import Reply, linking
from focused.lab.site.server import SiteServer

SEED = "http://hub.example/"
OTHERS = {"http://a.example/": linking("http://b.example/"), "http://b.example/": linking()}


def of_type(content_type: str) -> Reply:
    return Reply(body=b"not a page", headers={"Content-Type": content_type})


def ended_for(result: CrawlResult, reason: str) -> None:
    """It was told when it happened, it is the last line, and nobody had to wait for it."""
    assert result.exit_code == 1
    assert f"WARNING: The seed {SEED} was not crawled: {reason}" in result.log
    assert result.last_line == f"nothing was fetched; the seed {SEED} was not crawled: {reason}"
    assert "Traceback" not in result.log
    assert "focused/link/postponed" not in result.stats


@pytest.mark.parametrize(
    ("content_type", "what"),
    [
        ("application/pdf", "a PDF file"),
        ("application/rss+xml; charset=utf-8", "a feed"),
        ("application/atom+xml", "a feed"),
        ("text/xml", "a feed, a sitemap or other XML (text/xml)"),
        ("image/png", "image/png"),
    ],
)
def test_a_seed_that_is_no_page_is_called_what_it_is(crawl, content_type: str, what: str):
    ended_for(crawl({SEED: of_type(content_type)}), f"it is {what}, not a page of HTML")


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"Content-Type": "text/html"}, "its content is not HTML, whatever its server says"),
        ({"Content-Disposition": "attachment"}, "its server sends it as an attachment, not as a page"),
    ],
)
def test_a_seed_that_is_only_said_to_be_a_page(crawl, headers: dict[str, str], why: str):
    reply = Reply(body=b"%PDF-1.4\n" + bytes(range(256)), headers={"Content-Type": "text/html", **headers})
    ended_for(crawl({SEED: reply}), why)


def test_a_sitemap_is_known_by_its_address(crawl):
    sitemap = "http://hub.example/sitemap_index.xml"
    result = crawl({sitemap: of_type("application/xml")}, arguments={"seeds": sitemap})
    assert result.last_line.endswith("it is a sitemap, not a page of HTML")


def test_a_seed_that_is_gone(crawl):
    ended_for(crawl({}), "the answer was HTTP 404")


def test_a_seed_at_an_inner_address_is_named_and_not_its_robots_txt(crawl):
    seed = "http://127.0.0.1:9/"
    result = crawl({}, arguments={"seeds": seed})
    reason = "'127.0.0.1' is an inner address; to crawl it, add the host to FOCUSED_INNER_ALLOWED"
    assert result.last_line == f"nothing was fetched; the seed {seed} was not crawled: {reason}"


def test_a_host_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "sitecustomize.py").write_text(NO_NAMES)
    arguments = {"topic": "star galaxy telescope", "seeds": SEED}
    ended_for(run_crawl(arguments, folder=tmp_path), "there is no host 'hub.example'")


# What a resolver says of names that do not exist, whatever the network of this machine.
NO_NAMES = """
import socket


def no_such_name(*args, **kwargs):
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


socket.getaddrinfo = socket.gethostbyname = no_such_name
"""


def test_a_proxy_that_is_not_there(tmp_path: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        # Bound, and not listening: refused, and nobody else can get the port meanwhile.
        proxy = f"http://127.0.0.1:{taken.getsockname()[1]}"
        site = SiteServer({})
        site.url = proxy
        result = run_crawl({"topic": "star galaxy telescope", "seeds": SEED}, folder=tmp_path, site=site)
    ended_for(result, f"the proxy {proxy} cannot be reached")


def test_other_seeds_are_crawled_all_the_same(crawl):
    pages = {SEED: of_type("application/pdf"), **OTHERS}
    result = crawl(pages, arguments={"seeds": f"{SEED} http://a.example/"})
    assert result.exit_code == 0
    assert f"The seed {SEED} was not crawled: it is a PDF file" in result.log
    assert result.last_line == "The crawl ended: no link is left to follow"


def test_of_several_one_is_named_and_the_others_are_counted(crawl):
    result = crawl(
        {SEED: of_type("application/pdf")}, arguments={"seeds": f"{SEED} http://a.example/ http://b.example/"}
    )
    assert result.exit_code == 1
    assert result.last_line.endswith("(2 more: see the log)")


def test_a_job_that_has_tried_its_seeds_says_so(crawl):
    assert crawl({}).last_line.endswith("the answer was HTTP 404")
    again = crawl({SEED: linking("http://a.example/")})
    assert again.exit_code == 1
    assert again.last_line == "nothing was fetched: the job has tried these seeds before; give another JOBDIR"


def page_about(words: str, *links: str) -> str:
    return f"<p>{words}</p>" + "".join(f"<a href={url}>on</a>" for url in links)


def test_seeds_that_the_words_do_not_describe_are_named_while_it_can_be_mended(crawl):
    others = [f"http://hub.example/{n}" for n in range(4)]
    soup = "Fry the onions in butter, stir, and add salt and pepper to the soup. " * 5
    unlike = crawl({SEED: page_about(soup, *others)} | {url: page_about(f"{soup} {url}") for url in others})
    told = "None of the pages to begin at looks like the topic (1 seed, the best with relevance 0.0"
    assert unlike.log.count(told) == 1
    assert unlike.log.index(told) < unlike.log.index("Closing spider"), "not only at the end"
    assert f"{SEED}): if they are on the topic, its words do not describe them" in unlike.log


def test_a_seed_on_the_topic_is_not_doubted(crawl):
    stars = "A star of the galaxy, seen through a telescope. " * 5
    assert "None of the pages to begin at" not in crawl({SEED: page_about(stars)}).log


def test_words_that_are_on_every_page_are_named_at_the_start_and_when_nothing_was_found(crawl):
    soup = ["Fry the onions", "Boil the water", "Bake the bread", "Wash the rice", "Cut the carrots"]
    wall = {
        f"http://hub.example/{n}": page_about(f"Add c. {f'{soup[n % 5]} {n} times, taste it, and add some salt. ' * 6}")
        for n in range(70)
    }
    result = crawl({SEED: page_about(f"Cook with c. {soup * 20}", *wall)} | wall, arguments={"topic": "C"})
    assert result.exit_code == 0
    assert "WARNING: topic 'C': 'C' is read as the single character 'c', which says little: give words" in result.log
    told = "pages shows some of the topic (relevance 0."
    assert result.log.count(told) == 1
    assert result.log.index(told) < result.log.index("Closing spider"), "not only at the end"
    assert result.stats["focused/job/pages"] == 71, "it goes on"
