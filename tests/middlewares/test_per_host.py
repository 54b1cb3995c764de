"""At most so many pages from one host."""


def test_pages_of_a_host_are_limited_and_other_hosts_are_not(server, crawl):
    server.answers["/gone"] = (404, {"Content-Type": "text/html"}, b"")
    other = f"http://other.example.com:{server.port}/"
    urls = [f"{server.root}/gone", *[f"{server.root}/"] * 4, other]
    settings = {"FOCUSED_SCOPE_PER_HOST": 2}
    done = crawl(*urls, settings=settings, names={"other.example.com": "127.0.0.1"}, one_by_one=True)
    assert done.errors == ["HttpError", None, None, "HostFull", "HostFull", None]
    assert done.stats["focused/scope/host_full"] == 2


def test_robots_txt_is_no_page(server, crawl):
    server.answers["/robots.txt"] = (200, {"Content-Type": "text/html"}, b"<p>no rules</p>")
    done = crawl(f"{server.root}/", settings={"FOCUSED_SCOPE_PER_HOST": 1, "ROBOTSTXT_OBEY": True})
    assert done.errors == [None]
