"""What a recorded web finds, and what it makes of files that are not whole."""

from __future__ import annotations

import gzip
import logging

import pytest

from focused.lab.replay.write import write_web
from focused.warc.reader import Archive, Recorded
from focused.warc.web import NOT_FOUND, Web, normal_form

HOST = "http://site.example"


def many_pages(count=40):
    return {f"{HOST}/{i}": f"<html><body>page {i} {'word ' * i}</body></html>" for i in range(count)}


@pytest.fixture
def warc(tmp_path):
    path = tmp_path / "web.warc.gz"
    write_web(path, many_pages())
    return path


def test_a_written_web_is_read_back_whole(warc):
    web = Web.open(warc)
    assert len(web) == 40
    for url, html in many_pages().items():
        found = web.get(url)
        assert (found.status, found.body) == (200, html.encode())
        assert ("Content-Length", str(len(html))) in found.headers


def test_only_pages_and_redirects_are_served():
    redirect = Recorded(301, (("Location", f"{HOST}/a"),))
    web = Web.from_pages({f"{HOST}/a": "a", f"{HOST}/b": redirect, f"{HOST}/c": Recorded(500), f"{HOST}/d": "d"})
    assert [web.get(f"{HOST}/{name}").status for name in "abcde"] == [200, 301, 404, 200, 404]
    assert [web.urls[row] for row in web.pages()] == [f"{HOST}/a", f"{HOST}/d"]


def test_robots_txt_is_served_if_it_was_recorded():
    recorded = Recorded(200, (("Content-Type", "text/plain"),), b"User-agent: *\nDisallow: /private\n")
    web = Web.from_pages({f"{HOST}/robots.txt": recorded})
    assert web.get(f"{HOST}/robots.txt") is recorded
    assert web.get("http://other.example/robots.txt") is NOT_FOUND


@pytest.mark.parametrize(
    "spelling",
    [
        "http://site.example/~ann/a%20b",
        "https://site.example/~ann/a%20b",
        "http://SITE.example:80/~ann/a b",
        "https://site.example:443/%7Eann/a%20b#top",
        "http://site.example/%7eann/./a%20b",
    ],
)
def test_spelling_does_not_hide_a_page(spelling):
    assert Web.from_pages({"http://site.example/~ann/a%20b": "here"}).get(spelling).body == b"here"


def test_spelling_that_tells_pages_apart_is_kept():
    web = Web.from_pages({f"{HOST}/a?x=1&y=2": "one", f"{HOST}/a%2Fb": "escaped", f"{HOST}/a/b": "path"})
    assert web.get(f"{HOST}/a?y=2&x=1").status == 404
    assert web.get(f"{HOST}/a%2fb").body == b"escaped"
    assert web.get(f"{HOST}/a/b").body == b"path"
    assert web.get(f"{HOST}/A/b").status == 404


def test_the_exact_address_goes_before_its_normal_form():
    web = Web.from_pages({f"{HOST}/%7Eann": "escaped", f"{HOST}/~ann": "plain"})
    assert web.get(f"{HOST}/~ann").body == b"plain"
    assert web.get(f"{HOST}/%7Eann").body == b"escaped"


def test_the_normal_form_of_a_root_has_its_slash():
    assert normal_form("HTTPS://Site.Example") == "http://site.example/"


def test_of_two_recordings_the_first_counts(tmp_path):
    for name, text in (("one", "first"), ("two", "second")):
        write_web(tmp_path / name, {f"{HOST}/": text})
    assert Web.open(tmp_path / "one", tmp_path / "two").get(f"{HOST}/").body == b"first"


def test_a_cut_off_file_is_read_as_far_as_it_goes(warc, caplog):
    whole = warc.read_bytes()
    warc.write_bytes(whole[: len(whole) * 3 // 4])
    with caplog.at_level(logging.WARNING):
        web = Web.open(warc)
    assert 20 < len(web) < 40
    for row in web.pages():
        assert web.response(row).body.endswith(b"</html>")
    lost = len(whole) * 3 // 4 - web._stored[-1][1].end  # type: ignore[index]  # it is in an archive
    assert f"{lost} bytes could not be read" in caplog.text
    assert f"{len(web)} responses could" in caplog.text


def test_a_file_that_went_on_after_a_cut_is_read_behind_it(tmp_path, caplog):
    path, more = tmp_path / "web.warc.gz", tmp_path / "more.warc.gz"
    write_web(path, many_pages(10))
    write_web(more, {f"{HOST}/later/{i}": f"later {i}" for i in range(5)})
    path.write_bytes(path.read_bytes()[:-50] + more.read_bytes())
    web = Web.open(path)
    assert len(web) == 9 + 5
    assert web.get(f"{HOST}/later/0").body == b"later 0"
    assert web.get(f"{HOST}/9").status == 404
    assert "could not be read" in caplog.text


def test_a_whole_file_gives_no_warning(warc, caplog):
    Web.open(warc)
    assert not caplog.records


def test_a_plain_warc_is_read_too_and_its_end_may_be_missing(warc, tmp_path, caplog):
    plain = tmp_path / "web.warc"
    plain.write_bytes(gzip.decompress(warc.read_bytes()))
    assert len(Web.open(plain)) == 40
    assert not caplog.records
    plain.write_bytes(plain.read_bytes()[:-30])
    assert len(Web.open(plain)) == 39
    assert "could not be read" in caplog.text


@pytest.mark.parametrize("content", [b"", b"<html>no archive</html>", gzip.compress(b"text " * 1000, mtime=0)])
def test_a_file_without_responses_is_refused_by_name(content, tmp_path):
    path = tmp_path / "nothing.warc.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"nothing\.warc\.gz.*no recorded response"):
        Web.open(path)


def test_a_file_gzipped_as_a_whole_is_refused_with_the_way_out(warc):
    warc.write_bytes(gzip.compress(gzip.decompress(warc.read_bytes())))
    with pytest.raises(ValueError, match="warcio recompress"):
        Web.open(warc)


def test_bodies_are_served_without_the_encoding_they_were_sent_in(tmp_path):
    path = tmp_path / "web.warc.gz"
    body = b"<html>zipped</html>"
    zipped = gzip.compress(body)
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(zipped), zipped)
    names = [("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")]
    write_web(path, {f"{HOST}/": Recorded(200, tuple(names), chunked)})
    found = Web.open(path).get(f"{HOST}/")
    assert found.body == body
    assert found.headers == (("Content-Type", "text/html"), ("Content-Length", str(len(body))))


@pytest.mark.parametrize("body", [b"<p>not packed at all", gzip.compress(b"", mtime=0)[:10] + b"\xff" * 30])
def test_a_body_that_cannot_be_unpacked_is_served_as_it_came(tmp_path, body):
    path = tmp_path / "web.warc.gz"
    names = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
    pages = {f"{HOST}/1": Recorded(200, names, body), f"{HOST}/2": Recorded(200, (), b"<p>good")}
    write_web(path, pages)
    web = Web.open(path)
    assert web.get(f"{HOST}/1") == Recorded(200, (*names, ("Content-Length", str(len(body)))), body)
    assert web.get(f"{HOST}/2").body == b"<p>good"


@pytest.mark.parametrize("cut", range(5))
def test_what_was_recorded_ends_within_its_file(warc, tmp_path, cut):
    plain = tmp_path / "web.warc"
    data = gzip.decompress(warc.read_bytes())
    plain.write_bytes(data[: len(data) - cut])
    archive = Archive(plain)
    assert len(archive.entries) == 40
    assert archive.entries[-1].end <= len(data) - cut


@pytest.mark.parametrize("after", ["an empty member", "another record", "nothing"])
def test_records_that_share_a_member_are_refused_with_the_way_out(warc, tmp_path, after):
    records = gzip.decompress(warc.read_bytes())
    one, two, three, four, *_ = [b"WARC/" + each for each in records.split(b"WARC/") if b"Type: response" in each]
    last = {"an empty member": [b""], "another record": [four], "nothing": []}[after]
    path = tmp_path / "two.warc.gz"
    path.write_bytes(b"".join(map(gzip.compress, [one, two + three, *last])))
    with pytest.raises(ValueError, match=r"two\.warc\.gz: not gzipped record by record; try `warcio recompress`"):
        Archive(path)


def test_a_record_that_goes_on_in_the_next_member_is_not_cut_in_two(warc, tmp_path):
    records = gzip.decompress(warc.read_bytes())
    one, two, *_ = [b"WARC/" + each for each in records.split(b"WARC/") if b"Type: response" in each]
    path = tmp_path / "two.warc.gz"
    for cut in range(20, len(two), 20):
        path.write_bytes(b"".join(map(gzip.compress, [one, two[:cut], two[cut:]])) + b"rubbish")
        archive = Archive(path)
        assert archive.lost > 0
        assert [archive.read(entry).status for entry in archive.entries] in ([200], [200, 200])
