"""A generated web as files: the WARC, and beside it what a comparison and a crawl need to know of it.

For ``FILE.warc.gz`` these are ``FILE.labels.tsv`` (url, labels, title of every page), ``FILE.examples.tsv`` (url,
class), ``FILE.topics.json`` (topic → focus, target_urls, starting pages), and for each topic ``FILE.TOPIC.toml``
with ``FILE.TOPIC.tsv``, its examples as text, so that a critic is taught without fetching anything.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path

from focused.lab.demo.web import Answer, GeneratedWeb, WebTopic
from focused.lab.replay.write import write_web as write_recorded
from focused.pages.page import page_from_html
from focused.warc.reader import Recorded


def write_web(web: GeneratedWeb, path: Path) -> list[Path]:
    """Write a web as ``path`` (``.warc.gz`` or ``.warc``) and the files beside it; says which files."""
    stem = path.name.removesuffix(".gz").removesuffix(".warc")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_recorded(path, {url: _to_recorded(answer) for url, answer in web.pages.items()})
    written = [path]
    for suffix, write in (("labels.tsv", _labels), ("examples.tsv", _examples), ("topics.json", _topics)):
        written.append(path.with_name(f"{stem}.{suffix}"))
        written[-1].write_text(write(web), "utf-8")
    for topic in web.topics:
        examples, file = (path.with_name(f"{stem}.{topic.name}.{suffix}") for suffix in ("tsv", "toml"))
        examples.write_text(_example_texts(web), "utf-8")
        file.write_text(_topic_file(topic, examples.name), "utf-8")
        written += [examples, file]
    return written


def _to_recorded(answer: Answer) -> Recorded:
    headers = (*answer.headers.items(), ("Content-Length", str(len(answer.body))))
    return Recorded(answer.status, headers, answer.body)


def _labels(web: GeneratedWeb) -> str:
    rows = ((url, web.classes[url], web.titles[url]) for url in sorted(web.classes))
    return _tsv(("url", "labels", "title"), rows)


def _examples(web: GeneratedWeb) -> str:
    return _tsv(("url", "class"), sorted(web.examples.items()))


def _example_texts(web: GeneratedWeb) -> str:
    """Tabs and quotes are nowhere in these texts: white space is folded, and the generators write no quotes."""
    texts = {url: page_from_html(web.pages[url].body, url).text for url in sorted(web.examples)}
    return _tsv(("class", "text"), ((web.examples[url], " ".join(text.split())) for url, text in texts.items()))


def _tsv(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def _topics(web: GeneratedWeb) -> str:
    topics = {}
    for topic in web.topics:
        targets = web.targets(topic)
        seeds = {f"seeds_{kind}": urls for kind, urls in topic.seeds.items()}
        topics[topic.name] = {"focus": list(topic.focus), "targets": len(targets), **seeds, "target_urls": targets}
    return json.dumps(topics, indent=1, ensure_ascii=False) + "\n"


def _topic_file(topic: WebTopic, examples: str) -> str:
    values = {
        "name": topic.name,
        "description": topic.description,
        "keywords": list(topic.keywords),
        "seeds": topic.seeds["root"],
        "examples": examples,
        "focus": list(topic.focus),
    }
    # TOML's strings and lists of strings are JSON's.
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())
