"""No link, redirect or name leads to an inner address, unless it was allowed in so many words."""

import pytest

NOT_ALLOWED = {"FOCUSED_INNER_ALLOWED": []}


def twelve_ways(port):
    return {
        "loopback": f"http://127.0.0.1:{port}/",
        "another loopback": f"http://127.8.8.8:{port}/",
        "decimal": f"http://2130706433:{port}/",
        "hexadecimal": f"http://0x7f000001:{port}/",
        "octal": f"http://0177.0.0.1:{port}/",
        "short": f"http://127.1:{port}/",
        "unspecified": f"http://0.0.0.0:{port}/",
        "IPv6 loopback": f"http://[::1]:{port}/",
        "mapped": f"http://[::ffff:127.0.0.1]:{port}/",
        "localhost": f"http://localhost:{port}/",
        "root's dot": f"http://localhost.:{port}/",
        "a name that resolves to it": f"http://innocent.example.com:{port}/",
    }


NAMES = {"innocent.example.com": "127.0.0.1", "cloud.example.com": "169.254.169.254"}


def test_none_of_the_twelve_ways_reaches_the_inner_server(server, crawl):
    ways = twelve_ways(server.port)
    done = crawl(*ways.values(), names=NAMES, settings=NOT_ALLOWED)
    assert server.seen == []
    assert done.errors == ["InnerAddress"] * 12
    assert done.stats["focused/inner/refused"] == 12
    assert {end["outcome"] for end in done.ends} == {"denied"}


def test_the_same_ways_reach_it_without_the_guard(server, crawl):
    ways = twelve_ways(server.port)
    # The server of these tests listens at one address only.
    for unreachable_here in ("another loopback", "root's dot", "IPv6 loopback", "mapped"):
        del ways[unreachable_here]
    done = crawl(*ways.values(), names=NAMES, settings={"FOCUSED_INNER_ADDRESSES": "allow"}, one_by_one=True)
    assert {end["url"]: end.get("message") for end in done.ends if "error" in end} == {}


@pytest.mark.parametrize("target", ["http://127.0.0.1:{}/", "http://2130706433:{}/", "http://innocent.example.com:{}/"])
def test_redirects_to_inner_addresses_are_refused(server, crawl, target):
    server.answers["/moved"] = (302, {"Location": target.format(server.port)}, b"")
    done = crawl(
        f"http://allowed.example.com:{server.port}/moved",
        names={"allowed.example.com": "127.0.0.1", **NAMES},
        settings={"FOCUSED_INNER_ALLOWED": ["allowed.example.com"]},
    )
    assert done.only["error"] == "InnerAddress"
    assert server.seen == ["/moved"]


def test_redirects_by_meta_tag_are_refused_too(server, crawl):
    page = f'<html><meta http-equiv=refresh content="0; url=http://127.1:{server.port}/"></html>'.encode()
    server.answers["/moved"] = (200, {"Content-Type": "text/html"}, page)
    done = crawl(
        f"http://allowed.example.com:{server.port}/moved",
        names={"allowed.example.com": "127.0.0.1"},
        settings={"FOCUSED_INNER_ALLOWED": ["allowed.example.com"]},
    )
    assert done.only["error"] == "InnerAddress"
    assert server.seen == ["/moved"]


def test_robots_txt_is_not_asked_of_inner_hosts(server, crawl):
    done = crawl(*twelve_ways(server.port).values(), names=NAMES, settings={**NOT_ALLOWED, "ROBOTSTXT_OBEY": True})
    assert done.errors == ["InnerAddress"] * 12
    assert server.seen == []


@pytest.mark.parametrize("entry", ["127.0.0.1", "127.0.0.0/8", "127.0.0.1:{}", "innocent.example.com"])
def test_what_is_allowed_in_so_many_words_is_reached(server, crawl, entry):
    done = crawl(
        f"http://innocent.example.com:{server.port}/",
        names=NAMES,
        settings={"FOCUSED_INNER_ALLOWED": [entry.format(server.port)]},
    )
    assert done.only["status"] == 200


def test_allowing_a_port_allows_no_other(server, crawl):
    settings = {"FOCUSED_INNER_ALLOWED": ["127.0.0.1:1", "127.0.0.0/8:2", "localhost:3", "10.0.0.1:4"]}
    one = crawl(f"{server.root}/", settings=settings).only
    assert one["error"] == "InnerAddress"
    assert "'127.0.0.1' is an inner address, allowed with port 1 or 2 only; to crawl it, add" in one["message"]
    named = crawl(f"http://localhost:{server.port}/", settings=settings).only["message"]
    assert "'localhost' is the name of an inner host, allowed with port 3 only; " in named
    found = crawl(f"http://innocent.example.com:{server.port}/", names=NAMES, settings=settings).only["message"]
    assert "'innocent.example.com' resolves to the inner address 127.0.0.1, allowed with port 1 or 2 only; " in found


def test_the_error_names_the_address_and_the_way_out(crawl):
    message = crawl("http://0x7f000001:9/", settings=NOT_ALLOWED).only["message"]
    assert "127.0.0.1" in message
    assert "0x7f000001" in message
    assert "FOCUSED_INNER_ALLOWED" in message


def test_refused_names_are_not_tried_again(crawl):
    done = crawl("http://cloud.example.com/", names=NAMES, settings={**NOT_ALLOWED, "RETRY_TIMES": 5})
    assert done.only["error"] == "InnerAddress"
    assert "retry/count" not in done.stats


def test_a_name_without_any_address_is_just_not_found(crawl):
    done = crawl("http://nothing.example.com/", names={"nothing.example.com": "not an address"}, settings=NOT_ALLOWED)
    assert done.only["error"] in {"CannotResolveHostError", "InnerAddress"}


def test_a_proxy_may_be_anywhere_and_resolves_names_itself(server, crawl):
    server.answers["http://far.example.com/page"] = server.answers["/"]
    done = crawl(
        "http://far.example.com/page",
        f"http://127.0.0.1:{server.port}/",
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/",
        proxy=f"http://localhost:{server.port}",
        one_by_one=True,
        settings=NOT_ALLOWED,
    )
    assert [end.get("status") or end["error"] for end in done.ends] == [
        200,
        "InnerAddress",
        "InnerAddress",
        "InnerAddress",
    ]
    assert server.seen == ["http://far.example.com/page"]


def test_the_first_refusal_is_told_the_others_are_counted(crawl):
    done = crawl("http://10.0.0.1/", "http://10.0.0.2/", "http://10.0.0.3/", settings=NOT_ALLOWED)
    assert done.log.count("is refused") == 1
    assert done.stats["focused/inner/refused"] == 3
