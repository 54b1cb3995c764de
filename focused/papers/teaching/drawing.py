"""Where paths are drawn from: a recorded web with labels, a crawl's own records, or a file of backlinks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path as File

import msgspec
import numpy as np

from focused.critics.base import RELEVANT
from focused.critics.classes import UNWANTED
from focused.frontier.records import read_records
from focused.papers.paths.draw import Field
from focused.papers.paths.graph import Graph, host_and_port
from focused.papers.paths.path import PathsError
from focused.papers.paths.topics import KnownTopic, read_table, read_topics, with_label
from focused.problems import did_you_mean
from focused.topics.examples import read_examples
from focused.topics.focus import in_focus
from focused.topics.topic import Topic, load_topic
from focused.warc.web import Web, normal_form

_MOST_MILESTONES = 12


def field_of_web(
    web: Web, graph: Graph, topic: KnownTopic, labels: dict[str, list[str]], milestones: Sequence[str]
) -> Field:
    """A topic's part in a recorded web: its targets, inside its hosts, from its root pages."""
    inside = np.array([status == 200 for status in web.status])
    targets = np.zeros(len(web), bool)
    targets[[row for row in map(web.find, topic.target_urls) if row >= 0 and inside[row]]] = True
    if topic.hosts:
        inside &= np.array([host_and_port(url) in topic.hosts for url in web.urls])
    roots = [int(graph.leads_to[row]) for row in map(web.find, topic.seeds_root) if row >= 0]
    label_of = _labels_of(web, labels, milestones, topic.focus)
    return Field(graph, targets, inside, [root for root in roots if root >= 0], label_of)


def field_of_job(web: Web, graph: Graph, job: str | File, roots: Sequence[str] = ()) -> Field:
    """What a crawl has fetched, as its critic judged it; ``web`` is where its pages are recorded."""
    with closing(read_records(job)) as records:
        rows = records.execute("SELECT url, relevance, class FROM pages ORDER BY seq").fetchall()
    inside, targets = np.zeros(len(web), bool), np.zeros(len(web), bool)
    classes: dict[int, str] = {}
    for url, relevance, of_class in rows:
        page = web.find(url)
        if page >= 0 and web.status[page] == 200:
            inside[page], targets[page] = True, relevance >= RELEVANT
            classes[page] = "" if str(of_class).lower() in UNWANTED else str(of_class)
    if not targets.any():
        raise PathsError([f"{job}: of its {len(rows)} pages none was judged relevant, or the web does not hold them"])
    sought = {classes[page] for page in np.flatnonzero(targets).tolist()}
    seeds = [page for page in map(web.find, roots or [str(rows[0][0])]) if page >= 0]
    milestones = {page: name for page, name in classes.items() if name not in sought}
    return Field(graph, targets, inside, seeds, lambda page: milestones.get(page, ""))


def field_of_backlinks(path: str | File, targets: Sequence[str]) -> Field:
    """A graph from a table with the columns ``source`` and ``target``: pages and what they link to."""
    columns, rows = read_table(path)
    if not {"source", "target"} <= set(columns):
        raise PathsError([f"{path}: a table of backlinks has the columns 'source' and 'target'"])
    graph = Graph.of_links((row["source"], row["target"]) for row in rows)
    wanted = {normal_form(url) for url in targets}
    mask = np.array([normal_form(url) in wanted for url in graph.urls])
    if not mask.any():
        raise PathsError([f"{path}: it has none of the {len(targets)} wanted examples"])
    return Field(graph, mask, np.ones(len(graph), bool))


def lab_topics(names: Sequence[str], file: str, labels: dict[str, list[str]], roots: Sequence[str]) -> list[KnownTopic]:
    """Topics of a topics file, or topics as users write them, whose targets are the pages with a label in focus."""
    if file:
        known = read_topics(file)
        strangers = [name for name in names if name not in known]
        if strangers:
            near = did_you_mean(strangers[0], known)
            raise PathsError([f"{file}: no topic {strangers[0]!r}{near} (known: {', '.join(known)})"])
        topics = [known[name] for name in names]
    else:
        topics = [_lab_topic(load_topic(name), labels) for name in names]
    return [msgspec.structs.replace(topic, seeds_root=list(roots) or topic.seeds_root) for topic in topics]


def _lab_topic(topic: Topic, labels: dict[str, list[str]]) -> KnownTopic:
    focus = topic.focus or [topic.name]
    targets = with_label(labels, focus)
    if not targets:
        raise PathsError([f"topic {topic.name!r}: no page has a label in focus ({', '.join(focus)}): give --labels"])
    return KnownTopic(name=topic.name, focus=focus, target_urls=targets, seeds_root=topic.seeds)


def wanted_examples(topic: Topic) -> list[str]:
    """The addresses of a topic's example pages that are wanted."""
    return [one.url for one in read_examples(topic) if one.url and in_focus(one.class_name, topic.focus)]


def targets_of(name: str) -> list[str]:
    """The same of a topic by its name. PathsError if there are none."""
    found = wanted_examples(topic := load_topic(name))
    if not found:
        raise PathsError([f"topic {topic.name!r} has no wanted example with an address"])
    return found


def _labels_of(
    web: Web, labels: dict[str, list[str]], milestones: Sequence[str], focus: Sequence[str]
) -> Callable[[int], str]:
    """The milestone of a page: the first of its labels that is one. By default the most frequent labels are."""
    if not milestones:
        every = (label for ones in labels.values() for label in ones)
        often = Counter(label for label in every if label.rpartition(".")[2].lower() not in UNWANTED)
        milestones = [label for label, _ in often.most_common() if not in_focus(label, focus)][:_MOST_MILESTONES]
    known = set(milestones)
    strangers = known - {label for ones in labels.values() for label in ones}
    if strangers:
        raise PathsError([f"no page has the label {name!r} that is to be a milestone" for name in sorted(strangers)])
    by_page = {row: ones for url, ones in labels.items() if (row := web.find(url)) >= 0}
    return lambda page: next((label for label in by_page.get(page, ()) if label in known), "")
