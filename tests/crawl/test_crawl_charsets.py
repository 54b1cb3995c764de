"""Pages that name any of Python's codecs as their charset: all are kept, and their links are followed."""

from __future__ import annotations

import encodings
from pkgutil import iter_modules

import pytest

from focused.lab.site.crawl import CrawlResult, run_crawl
from focused.lab.site.reply import Reply, linking
from focused.lab.site.server import SiteServer

STARS = "A star is seen through a telescope, and a galaxy is seen as many stars. " * 3
CODECS = sorted({name for _, name, _ in iter_modules(encodings.__path__)} | set(encodings.aliases.aliases.values()))
# Larger than what is decoded on the event loop; as punycode it would take minutes.
LARGE = "<p>" + "a star and a galaxy " * 100_000 + "</p>"


def page(url: str, charset: str, *, where: str, more: str = "") -> Reply:
    """A page that names a charset in its header or in a meta tag, and leads to another one."""
    meta = f"<meta charset={charset}>" if where == "meta" else ""
    body = f"<html><head>{meta}<title>{url}</title></head><p>{url} {STARS}</p><a href='{url}next'>{url}next</a>{more}"
    kind = f"text/html; charset={charset}" if where == "header" else "text/html"
    return Reply(body=body.encode("ascii"), headers={"Content-Type": kind})


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> CrawlResult:
    pages = {
        f"http://{where}-{codec.replace('_', '-')}.example/": page(
            f"http://{where}-{codec.replace('_', '-')}.example/",
            codec,
            where=where,
            more=LARGE if codec in {"punycode", "idna"} else "",
        )
        for where in ("header", "meta")
        for codec in CODECS
    }
    pages |= {f"{url}next": linking(url, text=STARS) for url in pages}
    links = [url for url in pages if not url.endswith("next")]
    with SiteServer({"http://hub.example/": linking(*links, text=STARS), **pages}) as site:
        arguments = {"topic": "star galaxy telescope", "seeds": "http://hub.example/"}
        result = run_crawl(arguments, folder=tmp_path_factory.mktemp("charsets"), site=site)
    assert result.exit_code == 0, result.log[-3_000:]
    return result


def test_no_page_is_lost(crawled: CrawlResult):
    assert "Traceback" not in crawled.log
    assert "focused/outcome/failed" not in crawled.stats


@pytest.mark.parametrize("where", ["header", "meta"])
@pytest.mark.parametrize("codec", CODECS)
def test_the_page_is_kept_and_its_link_is_followed(crawled: CrawlResult, codec: str, where: str):
    url = f"http://{where}-{codec.replace('_', '-')}.example/"
    assert {url, f"{url}next"} <= {item["url"] for item in crawled.items}
