"""Which links may enter the frontier, and under which address.

Two kinds of rules. What an address says of itself: scheme, host, patterns, length, file name, depth, repeated path
segments, too many parameters. And what many addresses say together: calendars, combinations of parameters and hosts
without end, which are bounded by counting addresses that differ only in their numbers or values.

An address is judged when it is first seen; verdicts are remembered for the last 50,000 addresses. So the counts are of
distinct addresses, roughly: one that comes back after it was forgotten counts again, and a crawl that is started again
counts anew what its pages show it. Limits bound a trap; they do not measure it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from focused.bounded import Bounded
from focused.pages.urls import url_to_host
from focused.safety.patterns import Patterns
from focused.safety.sessions import clean

_REMEMBERED = 50_000
# Longer ones are judged, and counted, each time: what is remembered is bounded in bytes, too.
_LONGEST_REMEMBERED = 1_000
# Of names in DNS.
_LONGEST_HOST = 253
_COUNTED_PATTERNS = 100_000
_COUNTED_HOSTS = 100_000

# Names of files that are never HTML. Addresses like /wiki/File:Moon.jpg are pages about a file, and are let in.
_FILES = """
    7z aac ai aif apk arj asf atom avi bib bin bmp bz2 cab class css csv dat deb djvu dll dmg doc docm docx dvi
    eot eps epub exe flac flv gif gz hqx ico ics iso jar jpe jpeg jpg js json kml kmz latex less lha lzh m3u m3u8
    m4a m4v mdb mid midi mjs mkv mobi mov mp2 mp3 mp4 mpeg mpg msi odp ods odt ogg ogv otf pdf pkg png ppt pptm
    pptx ps psd ram rar rdf rm rpm rss rtf scss sea sit svg swf tar tex tgz tif tiff torrent ttf txt vcf vob wav
    webm webp wma wmv woff woff2 xls xlsm xlsx xml xpi xz z zip zst
"""
_EXTENSIONS = frozenset(_FILES.split())
_DIGITS = re.compile(r"\d+")
_DATE = re.compile(
    r"(?:19|20)\d\d[-/_.]?(?:1[0-2]|0?[1-9])(?!\d)|[?&;](?:year|month|day|week|date|cal\w*|start|from)=\d",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is let in; 0 and () set no limit."""

    allowed_hosts: Sequence[str] = ()
    denied_hosts: Sequence[str] = ()
    """Hosts, each with its subdomains."""
    allow: Sequence[str] = ()
    deny: Sequence[str] = ()
    """Regular expressions, searched in the whole address: one of ``allow``, none of ``deny``."""
    depth: int = 0
    length: int = 1_000
    segments: int = 20
    repeats: int = 3
    """A segment, or a run of segments, that stands so often in a row in a path; or one segment in all, once more."""
    parameters: int = 8
    dates: int = 500
    """Addresses of a host with a date in them that differ only in their numbers."""
    queries: int = 5_000
    """Addresses that differ only in the values of their parameters; a tenth of it where there are three or more."""
    host_links: int = 100_000
    """Addresses of one host."""


class Scope:
    """Decides on links, page by page. ``refused`` counts those that were not let in, by reason.

    ``left_out`` is what users have ordered to be left out while the crawl runs.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.left_out = Patterns()
        self.refused: Counter[str] = Counter()
        self._allow = _any_of(rules.allow)
        self._deny = _any_of(rules.deny)
        self._links_of: Bounded[str, int] = Bounded(_COUNTED_HOSTS)
        self._patterns: Bounded[int, int] = Bounded(_COUNTED_PATTERNS)
        self._verdict = lru_cache(_REMEMBERED)(self._judge)
        self._reason_of_host = lru_cache(_COUNTED_HOSTS)(self._judge_host)

    def admit(self, urls: Sequence[str], depth: int) -> list[str | None]:
        """For each address the one under which it may enter the frontier, or None."""
        if self.rules.depth and depth > self.rules.depth:
            self.refused["depth"] += len(urls)
            return [None] * len(urls)
        admitted: list[str | None] = []
        for url in urls:
            address, reason = self._verdict(url) if len(url) <= _LONGEST_REMEMBERED else self._judge(url)
            if address and self.left_out and self.left_out.match(address, url_to_host(address)):
                address, reason = None, "left_out"
            if reason:
                self.refused[reason] += 1
            admitted.append(address)
        return admitted

    def refusal(self, url: str, host: str, depth: int, *, is_given: bool = False) -> str:
        """Why a link that waits is not to be followed by the rules of this start; '' if it is.

        One that ``is_given`` by the user, not found on a page, only has to be of a host that may be crawled.
        """
        reason = self._reason_of_host(host)
        if not reason and not is_given:
            reason = "depth" if 0 < self.rules.depth < depth else self._pattern_reason(url)
        return reason

    def _judge(self, url: str) -> tuple[str | None, str]:
        """The address under which one may enter, or None and the reason."""
        cleaned = clean(url) if "?" in url or ";" in url or "/(" in url else url
        if cleaned != url:
            # The clean address may have been seen, and counted, before.
            return self._verdict(cleaned) if len(cleaned) <= _LONGEST_REMEMBERED else self._judge(cleaned)
        host = url_to_host(url)
        reason = self._reason(url, host) or self._limit(url, host)
        return (None, reason) if reason else (url, "")

    def _reason(self, url: str, host: str) -> str:
        rules = self.rules
        if not url.startswith(("http://", "https://")) or not host:
            return "scheme"
        if (rules.length and len(url) > rules.length) or len(host) > _LONGEST_HOST:
            return "length"
        return self._reason_of_host(host) or self._pattern_reason(url) or self._parts_reason(url)

    def _pattern_reason(self, url: str) -> str:
        if self._deny and self._deny.search(url):
            return "pattern"
        return "pattern" if self._allow and not self._allow.search(url) else ""

    def _parts_reason(self, url: str) -> str:
        address, _, query = url.partition("?")
        begin = address.find("/", 8)
        path = address[begin + 1 :] if begin > 0 else ""
        if _extension(path) in _EXTENSIONS:
            return "file"
        if self.rules.parameters and query.count("&") >= self.rules.parameters:
            return "parameters"
        return self._path_reason(path) if path.count("/") >= 2 else ""

    def _judge_host(self, host: str) -> str:
        if any(_is_under(host, denied) for denied in self.rules.denied_hosts):
            return "host"
        allowed = self.rules.allowed_hosts
        return "host" if allowed and not any(_is_under(host, one) for one in allowed) else ""

    def _path_reason(self, path: str) -> str:
        segments = path.rstrip("/").split("/")
        if self.rules.segments and len(segments) > self.rules.segments:
            return "segments"
        repeats = self.rules.repeats
        if repeats and len(segments) - len(set(segments)) >= repeats - 1 and _repeats(segments, repeats):
            return "repeats"
        return ""

    def _limit(self, url: str, host: str) -> str:
        """Count a new address; the reason why it is one too many."""
        rules = self.rules
        count = self._links_of.get(host, 0)
        if rules.host_links and count >= rules.host_links:
            return "host_links"
        path, mark, query = url.partition("?")
        if mark and rules.queries:
            many = query.count("&") >= 2
            names = ",".join(sorted(part.partition("=")[0] for part in query.split("&"))) if not many else "&"
            if self._is_over(hash((path, names)), rules.queries // 10 if many else rules.queries):
                return "queries"
        # A year, or a parameter: most addresses have neither, and are spared the search.
        dated = rules.dates and (mark or "20" in path or "19" in path) and _DATE.search(url)
        if dated and self._is_over(hash(_DIGITS.sub("0", url)), rules.dates):
            return "dates"
        self._links_of[host] = count + 1
        return ""

    def _is_over(self, pattern: int, limit: int) -> bool:
        count = self._patterns.get(pattern, 0) + 1
        self._patterns[pattern] = min(count, limit + 1)
        return count > limit


def _any_of(patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None


def _is_under(host: str, domain: str) -> bool:
    domain = domain.lower().strip(".")
    return host == domain or host.endswith(f".{domain}")


def _extension(path: str) -> str:
    name = path[path.rfind("/") + 1 :]
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and len(extension) <= 7 and ":" not in stem else ""


def _repeats(segments: list[str], repeats: int) -> bool:
    """Does a run of segments stand ``repeats`` times in a row, or one segment more often than that in all?"""
    if Counter(segments).most_common(1)[0][1] > repeats:
        return True
    for size in range(1, len(segments) // repeats + 1):
        same = 0
        for i in range(size, len(segments)):
            same = same + 1 if segments[i] == segments[i - size] else 0
            if same >= size * (repeats - 1):
                return True
    return False
