"""Special-purpose addresses: what IANA's registries say of each block, at its edges, and how their table is made."""

from __future__ import annotations

import importlib.util
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from types import ModuleType

import pytest

from focused.safety.addresses import is_public
from focused.safety.special import SPECIAL, UPDATED

# Each block of the registries. Of the address before it, its first, its last and the one after it: is it public (p) or
# inner (i), or is there none (-)?
_EDGES = """
0.0.0.0/8 -iip             0.0.0.0/32 -iii            10.0.0.0/8 piip            100.64.0.0/10 piip
127.0.0.0/8 piip           169.254.0.0/16 piip        172.16.0.0/12 piip         192.0.0.0/24 piip
192.0.0.0/29 piii          192.0.0.8/32 iiip          192.0.0.9/32 ippp          192.0.0.10/32 pppi
192.0.0.170/32 iiii        192.0.0.171/32 iiii        192.0.2.0/24 piip          192.31.196.0/24 pppp
192.52.193.0/24 pppp       192.88.99.0/24 piip        192.88.99.2/32 iiii        192.168.0.0/16 piip
192.175.48.0/24 pppp       198.18.0.0/15 piip         198.51.100.0/24 piip       203.0.113.0/24 piip
240.0.0.0/4 iii-           255.255.255.255/32 iii-
::1/128 iiii               ::/128 -iii                ::ffff:0:0/96 iiii         64:ff9b::/96 iiii
64:ff9b:1::/48 iiii        100::/64 iiii              100:0:0:1::/64 iiii        2001::/23 piip
2001::/32 piii             2001:1::1/128 ippp         2001:1::2/128 pppp         2001:1::3/128 pppi
2001:2::/48 iiii           2001:3::/32 ippi           2001:4:112::/48 ippi       2001:10::/28 iiip
2001:20::/28 ippp          2001:30::/28 pppi          2001:db8::/32 piip         2002::/16 piip
2620:4f:8000::/48 pppp     3fff::/20 piip             5f00::/16 iiii             fc00::/7 iiii
fe80::/10 iiii
"""
EDGES = dict(zip(_EDGES.split()[::2], _EDGES.split()[1::2], strict=True))
# What is no entry of the registries: multicast, what is not allocated, what clouds serve their machines from.
_INNER = """
224.0.0.0 239.255.255.255 168.63.129.16 192.0.0.192 100.100.100.200 169.254.169.254 fd00:ec2::254 fd20:ce::254
fe80::a9fe:a9fe ff02::1 ff0e::1 fec0::1 1fff:ffff::1 4000::1 ::8.8.8.8 ::ffff:0:808:808
"""
_PUBLIC = "8.8.8.8 168.63.129.15 168.63.129.17 2000::1 2606:4700::1111 2a00:1450::1 3ffe:ffff::1"


def edges_of(block: str) -> list[IPv4Address | IPv6Address | None]:
    network = ip_network(block)
    first, last = network.network_address, network.broadcast_address
    has_before, has_after = int(first) > 0, int(last) < 2**network.max_prefixlen - 1
    return [first - 1 if has_before else None, first, last, last + 1 if has_after else None]


def test_all_blocks_of_the_registries_are_in_the_table():
    assert [block for block, _, _ in SPECIAL] == [str(ip_network(block)) for block in EDGES]
    assert UPDATED == "2025-10-09"


@pytest.mark.parametrize("block", EDGES)
def test_the_edges_of_each_block(block):
    found = "".join("-" if edge is None else "ip"[is_public(edge)] for edge in edges_of(block))
    assert found == EDGES[block]


@pytest.mark.parametrize("address", _INNER.split())
def test_what_is_inner_without_being_in_the_registries(address):
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", _PUBLIC.split())
def test_what_is_public(address):
    assert is_public(ip_address(address))


WRAPPERS = {
    "mapped": lambda v4: 0xFFFF << 32 | v4,
    "NAT64": lambda v4: 0x64FF9B << 96 | v4,
    "6to4": lambda v4: 0x2002 << 112 | v4 << 80 | 1,
    "Teredo's client": lambda v4: 0x20010000 << 96 | 0x08080808 << 64 | v4 ^ 0xFFFFFFFF,
    "Teredo's server": lambda v4: 0x20010000 << 96 | v4 << 64 | 0x08080808 ^ 0xFFFFFFFF,
    "ISATAP": lambda v4: 0x26064700 << 96 | 0x5EFE << 32 | v4,
    "ISATAP, of a global address": lambda v4: 0x26064700 << 96 | 0x02005EFE << 32 | v4,
    "ISATAP behind 6to4": lambda v4: 0x2002_0808_0808 << 80 | 0x5EFE << 32 | v4,
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("block", [block for block in EDGES if ":" not in block])
def test_an_address_is_as_public_as_the_one_inside(wrap, block):
    inside = [edge for edge in edges_of(block) if edge is not None]
    assert [is_public(IPv6Address(wrap(int(edge)))) for edge in inside] == [is_public(edge) for edge in inside]


def test_an_isatap_address_of_an_inner_network_is_inner():
    assert not is_public(ip_address("fd00::5efe:8.8.8.8"))


def test_nothing_depends_on_what_this_version_of_python_takes_for_global(monkeypatch):
    for kind in (IPv4Address, IPv6Address):
        for name in ("is_global", "is_private", "is_reserved", "is_multicast"):
            monkeypatch.delattr(kind, name)
    assert [is_public(ip_address(one)) for one in ("8.8.8.8", "192.0.0.192", "3fff::1", "2606::1")] == [1, 0, 0, 1]


# --- the table is made from IANA's files -----------------------------------------------------------------------------

HEAD = (
    "Address Block,Name,RFC,Allocation Date,Termination Date,Source,Destination,Forwardable,Globally Reachable,"
    "Reserved-by-Protocol\n"
)
V4 = f'''{HEAD}0.0.0.0/8,"""This network""","[RFC791], Section 3.2",1981-09,N/A,True,False,False,False,True
192.0.0.0/24 [2],IETF Protocol Assignments,[RFC6890],2010-01,N/A,False,False,False,False [1],False
"192.0.0.170/32, 192.0.0.171/32",NAT64/DNS64 Discovery,"[RFC8880]
        [RFC7050]",2013-02,N/A,False,False,False,False,True
192.31.196.0/24,AS112-v4,[RFC7535],2014-12,N/A,True,True,True,True,False
192.88.99.0/24,Deprecated (6to4 Relay Anycast),[RFC7526],2001-06,2015-03,,,,,
'''
V6 = f"{HEAD}2002::/16 [3],6to4,[RFC3056],2001-02,N/A,True,True,True,N/A [3],False\n"


@pytest.fixture
def script(monkeypatch, tmp_path) -> ModuleType:
    path = Path(__file__).parents[2] / "scripts" / "special_addresses.py"
    spec = importlib.util.spec_from_file_location("special_addresses", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "TABLE", tmp_path / "special.py")
    return module


def test_the_table_is_made_from_the_registries_files(script, tmp_path):
    for name, text in (("v4", V4), ("v6", V6)):
        (tmp_path / name).write_text(text, "utf-8")
    assert script.main([str(tmp_path / "v4"), str(tmp_path / "v6"), "2025-10-09"]) is None
    made: dict[str, object] = {}
    exec((tmp_path / "special.py").read_text("utf-8"), made)
    assert made["UPDATED"] == "2025-10-09"
    assert made["SPECIAL"] == (
        ("0.0.0.0/8", False, "This network"),
        ("192.0.0.0/24", False, "IETF Protocol Assignments"),
        ("192.0.0.170/32", False, "NAT64/DNS64 Discovery"),
        ("192.0.0.171/32", False, "NAT64/DNS64 Discovery"),
        ("192.31.196.0/24", True, "AS112-v4"),
        ("192.88.99.0/24", False, "Deprecated (6to4 Relay Anycast)"),
        ("2002::/16", False, "6to4"),
    )


@pytest.mark.parametrize(
    ("text", "updated", "words"),
    [
        ("<html>not found</html>", "2025-10-09", "no column"),
        (f"{HEAD}nonsense,x,,,,,,,True,", "2025-10-09", "nonsense"),
        (V4, "yesterday", "yesterday"),
    ],
)
def test_a_file_that_is_no_registry_changes_nothing(script, tmp_path, text, updated, words):
    (tmp_path / "v4").write_text(text, "utf-8")
    assert words in script.main([str(tmp_path / "v4"), str(tmp_path / "v4"), updated])
    assert not (tmp_path / "special.py").exists()
