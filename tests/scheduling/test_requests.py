"""Requests as bytes: written and read back as they were, and nothing else is made of strangers' bytes."""

from __future__ import annotations

from pathlib import Path

import msgpack
import pytest
from scrapy import FormRequest, Request, Spider
from scrapy.http import JsonRequest

from focused.scheduling.requests import BadRequest, request_from_bytes, request_from_link, request_to_bytes


class OwnRequest(Request):
    """A user's class of requests."""


class Own(Spider):
    name = "own"

    def parse_more(self, response):
        """A callback."""


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://a.example/", method="PUT", body=b"\xff", headers={"A": "b"}, meta={"depth": 2, "a": [1]}),
        FormRequest("http://a.example/", formdata={"q": "stars"}),
        JsonRequest("http://a.example/", data={"a": 1}),
        OwnRequest("http://a.example/"),
    ],
)
def test_a_request_is_read_back_as_it_was(request_):
    spider = Own()
    request_ = request_.replace(callback=spider.parse_more)
    back = request_from_bytes(request_to_bytes(request_, spider), spider)
    assert type(back) is type(request_)
    assert back.to_dict(spider=spider) == request_.to_dict(spider=spider)


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"junk", b"\xc1", msgpack.packb(7), msgpack.packb([]), b"\x91" * 5_000),
        *(
            msgpack.packb({"url": "http://a.example/", **fields})
            for fields in (
                *({"url": "no address"}, {"url": 3}, {"headers": 7}, {"meta": "a"}, {"priority": "x"}),
                *({"callback": "no_such_method"}, {"callback": "name"}, {"_class": "os.system"}, {"_class": 3}),
                *({"_class": "subprocess.Popen"}, {"_class": "scrapy.Spider"}, {"cb_kwargs": 3}, {"flags": 3}),
            )
        ),
    ],
)
def test_what_is_no_request_is_refused_in_one_way(data):
    with pytest.raises(BadRequest, match="its request cannot be made"):
        request_from_bytes(data, Own())


def test_no_module_is_imported_for_a_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "strange_requests.py").write_text(
        f"from scrapy import Request\nopen({str(tmp_path / 'imported')!r}, 'w').close()\nclass Evil(Request): pass\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    data = msgpack.packb({"url": "http://a.example/", "_class": "strange_requests.Evil"})
    with pytest.raises(BadRequest, match="is not a class of requests that this crawl has imported"):
        request_from_bytes(data, Own())
    assert not (tmp_path / "imported").exists()


def test_an_address_that_is_none_makes_no_request():
    with pytest.raises(BadRequest):
        request_from_link("no address", 0)
