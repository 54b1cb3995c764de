"""The links of a crawl in the job's file: numbers, addresses, hosts, and how each ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from focused.frontier.job_file import JobFile
from focused.frontier.records import rows_in
from focused.frontier.store import NewLink, Outcome, State
from focused.pages.urls import url_to_key

_LONGEST_CHAIN = 20
_WAITING = State.WAITING.value
_AT_WORK = "at work "
_FAR_TOO_OFTEN = 5
_INSERT = "INSERT INTO links(id, key, url, host, depth, source, state, base, request) VALUES (?,?,?,?,?,?,?,?,?)"


class LinkRows:
    """Numbers links and hosts, from 1 on."""

    def __init__(self, file: JobFile) -> None:
        self._file = file
        self._hosts: dict[str, int] = {}
        self.host_names: list[str] = [""]
        for number, name in file.rows("SELECT id, name FROM hosts ORDER BY id"):
            self._hosts[name] = number
            self.host_names.append(name)
        most = "SELECT max(coalesce((SELECT max(id) FROM links), 0), coalesce((SELECT max(link) FROM evidence), 0))"
        self.next: int = file.row(most)[0] + 1

    def find(self, keys: Sequence[int]) -> dict[int, int]:
        """The numbers of the keys that have one."""
        return dict(rows_in(self._file.rows, "SELECT key, id FROM links WHERE key IN ({})", keys))

    def admit(self, links: Sequence[NewLink], source: int) -> tuple[list[int], list[int]]:
        """The numbers of links, new where there was none, and the hosts of these, 0 for the others."""
        keys = [0 if new.link else new.key or url_to_key(new.url) for new in links]
        found = self.find([key for key in keys if key])
        numbers, hosts, rows = [], [], []
        for key, new in zip(keys, links, strict=True):
            host, number = 0, new.link or found.get(key, 0)
            if not number:
                host, number = self.host(new.host), self.next
                found[key], self.next = number, number + 1
                rows.append((number, key, new.url, host, new.depth, source, _WAITING, new.base, new.request))
            numbers.append(number)
            hosts.append(host)
        self._file.write_many(_INSERT, rows)
        return numbers, hosts

    def host(self, name: str) -> int:
        """The number of a host."""
        number = self._hosts.get(name)
        if number is None:
            number = self._hosts[name] = len(self.host_names)
            self.host_names.append(name)
            self._file.write("INSERT INTO hosts VALUES (?, ?)", (number, name))
        return number

    def update(self, link: int, **values: Any) -> None:
        """Change columns of a link."""
        columns = ", ".join(f"{name} = ?" for name in values)
        self._file.write(f"UPDATE links SET {columns} WHERE id = ?", (*values.values(), link))  # noqa: S608  # our names

    def behind(self, link: int) -> int:
        """The link at the end of a chain of redirects."""
        for _ in range(_LONGEST_CHAIN):
            row = self._file.row("SELECT target FROM links WHERE id = ?", (link,))
            if not row or not row[0]:
                break
            link = row[0]
        return link

    def take_leases_back(self, most_deaths: int) -> set[int]:
        """Links that were out when the crawl died wait again; which these are.

        One of them may be the killer. It is given up when it was `at_work` at so many deaths; the others were merely
        out, and are only given up when that has happened far too often.
        """
        suspects = set()
        for link, tries, detail in self._file.rows("SELECT id, tries, detail FROM links WHERE state = 2"):
            if tries >= _FAR_TOO_OFTEN * most_deaths or _times_at_work(detail) >= most_deaths:
                state, outcome = State.DONE.value, Outcome.FAILED.value
                self.update(link, state=state, outcome=outcome, detail="never finished")
            else:
                suspects.add(link)
        self._file.write("UPDATE links SET state = 1 WHERE state = 2")
        return suspects

    def at_work(self, link: int) -> None:
        """The page of a suspect has come and is about to be parsed and judged: write down how often that was."""
        (detail,) = self._file.row("SELECT detail FROM links WHERE id = ?", (link,))
        self.update(link, detail=f"{_AT_WORK}{_times_at_work(detail) + 1}")


def _times_at_work(detail: str | None) -> int:
    times = detail.removeprefix(_AT_WORK) if detail and detail.startswith(_AT_WORK) else ""
    return int(times) if times.isdecimal() and len(times) < _FAR_TOO_OFTEN else 0
