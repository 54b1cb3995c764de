"""What counts as an inner address, in whatever notation."""

import re

import pytest

from focused.safety.addresses import AddressPolicy, is_inner_name, is_public, literal_address

_INNER = """
127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 127.0.0.1. 0 0.0.0.0 10.1.2.3
172.16.0.1 172.31.255.255 192.168.0.1 169.254.169.254 100.64.0.1 224.0.0.1 240.0.0.1 255.255.255.255 192.0.2.1
198.18.0.1 0xA9FEA9FE 2852039166 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [fe80::1]
[fe80::1%25eth0] [fc00::1] [fd12:3456::1] [fec0::1] [ff02::1] [ff0e::1] [4000::1] [2002:7f00:1::] [2002:a00:1::1]
[64:ff9b::7f00:1] [64:ff9b::10.0.0.1] [2001:db8::1] [100::1] [2001:0:7f00:1::] １２７.0.0.1 127。0。0。1 ①②⑦.⓪.⓪.①
%31%32%37.0.0.1
"""
INNER = _INNER.split()
PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "134744072",
    "0x08080808",
    "[2606:4700::1111]",
    "[::ffff:8.8.8.8]",
    "[2002:808:808::1]",
    "[64:ff9b::808:808]",
]
NAMES = ["example.com", "www.example.co.uk", "1.example.com", "0x7f.example.com", "xn--bcher-kva.example", "a-1.b.c"]


@pytest.mark.parametrize("host", INNER)
def test_inner_addresses_in_every_notation(host):
    address = literal_address(host)
    assert address is not None
    assert not is_public(address)


@pytest.mark.parametrize("host", INNER)
def test_they_are_refused_as_urls(host):
    assert AddressPolicy().refusal(f"http://{host}/x")
    assert AddressPolicy().refusal(f"https://user:word@{host}:8443/x")


@pytest.mark.parametrize("host", PUBLIC)
def test_public_addresses_are_let_through(host):
    address = literal_address(host)
    assert address is not None
    assert is_public(address)
    assert AddressPolicy().refusal(f"http://{host}/") == ""


@pytest.mark.parametrize("host", NAMES)
def test_names_are_no_addresses(host):
    assert literal_address(host) is None
    assert AddressPolicy().refusal(f"http://{host}/") == ""


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "a.localhost", "printer.local", "router", "x.home.arpa"])
def test_names_that_only_inner_networks_know(host):
    assert is_inner_name(host)
    assert AddressPolicy().refusal(f"http://{host}/")


def test_allowed_entries_of_every_kind():
    policy = AddressPolicy(["10.0.0.0/8", "192.168.1.1:8080", "wiki.lan", "printer:631", "[::1]:81", "fd00::/8"])
    allowed = ["10.9.9.9", "192.168.1.1:8080", "wiki.lan:99", "printer:631", "[::1]:81", "[fd00::7]", "0x0a000001"]
    refused = ["192.168.1.1", "printer", "sub.wiki.lan", "[::1]", "11.0.0.1.lan", "127.0.0.1"]
    assert [host for host in allowed if policy.refusal(f"http://{host}/")] == []
    assert [host for host in refused if not policy.refusal(f"http://{host}/")] == []


def test_a_port_may_be_the_schemes_own():
    policy = AddressPolicy(["10.0.0.1:443"])
    assert policy.refusal("https://10.0.0.1/") == ""
    assert policy.refusal("http://10.0.0.1/")


@pytest.mark.parametrize("entry", ["", "10.0.0.0/99", "http://10.0.0.1/"])
def test_entries_that_mean_nothing_are_named(entry):
    with pytest.raises(ValueError, match=re.escape(repr(entry))):
        AddressPolicy([entry])


def test_a_connection_is_judged_by_the_address_it_goes_to():
    policy = AddressPolicy(["inner.example.com"])
    assert policy.may_connect("public.example.com", 80, "93.184.216.34")
    assert not policy.may_connect("public.example.com", 80, "10.0.0.1")
    assert not policy.may_connect("public.example.com", 80, "what is this")
    assert policy.may_connect("inner.example.com", 80, "10.0.0.1")


def test_a_proxy_is_connected_to_but_not_crawled():
    policy = AddressPolicy()
    policy.allow_proxy("cache.example.com", 3128)
    assert policy.may_connect("cache.example.com", 3128, "10.0.0.1")
    assert not policy.may_connect("cache.example.com", 80, "10.0.0.1")
    assert policy.refusal("http://cache.example.com:3128/")


def test_addresses_that_cannot_be_read_are_refused():
    assert AddressPolicy().refusal("http://[::1/")
    assert AddressPolicy().refusal("http://example.com:99999/")
    assert AddressPolicy().refusal("data:text/html,x") == ""
