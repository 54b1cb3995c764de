"""What somebody says of the pages that were visited: which are goals, milestones, or not what is sought."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from focused.addresses import to_url
from focused.papers.paths.path import GOAL, PathsError
from focused.papers.paths.reading import wrong_with_label
from focused.papers.paths.topics import read_labels
from focused.papers.paths.visited import NOT, Tour, Visited
from focused.problems import Problems
from focused.warc.web import normal_form

PageLabels = list[dict[int, str]]
"""For each tour, the label of its pages."""


@dataclass(frozen=True)
class Rule:
    """A label of the pages whose address is ``target``, or fits it if it has asterisks; ``where`` it was given."""

    label: str
    target: str
    where: str

    def fits(self) -> re.Pattern[str]:
        """What the addresses of its pages look like, in their normal form. ValueError if it is no address."""
        if "*" in self.target:
            return re.compile(".*".join(map(re.escape, re.sub(r"^https:", "http:", self.target).split("*"))))
        return re.compile(re.escape(normal_form(to_url(self.target))))


def rules_of(goals: Sequence[str], milestones: Sequence[str], others: Sequence[str]) -> list[Rule]:
    """The labels that options give; PathsError lists all that is wrong with them."""
    problems = Problems()
    rules = [Rule(GOAL, one, f"--goal {one}") for one in goals] + [Rule(NOT, one, f"--not {one}") for one in others]
    for one in milestones:
        name, is_given, target = one.partition("=")
        mistake = next(iter(wrong_with_name(name)), "") if is_given else "write NAME=URL, such as department=https://…"
        if mistake:
            problems.add(f"--milestone {one}", mistake)
        rules.append(Rule(name, target, f"--milestone {one}"))
    problems.raise_as(PathsError)
    return rules


def rules_of_file(file: str) -> list[Rule]:
    """The labels in a table with the columns ``url`` and ``labels`` (or ``class``)."""
    problems = Problems()
    rules = [Rule(label, url, file) for url, labels in read_labels(file).items() for label in labels]
    for label in dict.fromkeys(rule.label for rule in rules if rule.label not in {GOAL, NOT}):
        for what in wrong_with_name(label):
            problems.add(file, what)
    problems.raise_as(PathsError)
    return rules


def wrong_with_name(name: str) -> Iterable[str]:
    """Why a milestone cannot have this name."""
    yield from wrong_with_label(name, is_last=False)
    if name == NOT:
        yield f"{name!r} is said of pages that are not sought: give the milestone another name"


def label_pages(tours: Sequence[Tour], rules: Sequence[Rule], *, all_fit: bool) -> PageLabels:
    """The pages that rules label. PathsError if a page gets two labels, or, with ``all_fit``, a rule fits no page."""
    problems, labels = Problems(), [dict[int, str]() for _ in tours]
    given: dict[tuple[int, int], Rule] = {}
    addresses = [[_addresses(page) for page in tour.pages] for tour in tours]
    for rule in rules:
        try:
            fits = rule.fits()
        except ValueError as error:
            problems.add(rule.where, str(error))
            continue
        found = [
            (number, page)
            for number, pages in enumerate(addresses)
            for page, urls in enumerate(pages)
            if any(map(fits.fullmatch, urls))
        ]
        if all_fit and not found:
            problems.add(rule.where, "no page that was visited has this address")
        for number, page in found:
            first = given.setdefault((number, page), rule)
            labels[number][page] = first.label
            if first.label != rule.label:
                url = tours[number].pages[page].url
                problems.add(rule.where, f"{url} is {first.label!r} already ({first.where}): give it one label")
    problems.raise_as(PathsError)
    return labels


def _addresses(page: Visited) -> list[str]:
    return [normal_form(url) for url in page.urls]
