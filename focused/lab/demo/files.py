"""A generated web as files: the WARC, and beside it what a comparison and a crawl need to know about it.

For ``FILE.warc.gz`` these are ``FILE.labels.tsv`` (url, labels, title of every page), ``FILE.examples.tsv`` (url,
class), ``FILE.topics.json`` (topic → focus, title, words, target_urls, starting pages), and
``FILE.stars.toml`` with ``FILE.stars.tsv``, its examples as text, so that a critic is taught without fetching anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from focused.lab.demo.web import WANTED, GeneratedWeb
from focused.lab.replay.write import write_web as write_recorded
from focused.lab.toml import to_toml
from focused.pages.page import page_from_html


def write_web(web: GeneratedWeb, path: Path) -> list[Path]:
    """Write a web as ``path`` (``.warc.gz`` or ``.warc``) and the files beside it; says which files."""
    stem = path.name.removesuffix(".gz").removesuffix(".warc")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_recorded(path, web.pages)
    urls, taught = sorted(web.classes), sorted(web.examples)
    # Tabs and quotes are nowhere in these texts: white space is folded, and the generators write no quotes.
    texts = {url: " ".join(page_from_html(web.pages[url].body, url).text.split()) for url in taught}
    files = {
        "labels.tsv": _tsv(("url", "labels", "title"), *((url, web.classes[url], web.titles[url]) for url in urls)),
        "examples.tsv": _tsv(("url", "class"), *((url, web.examples[url]) for url in taught)),
        "topics.json": _topics(web),
        f"{WANTED}.tsv": _tsv(("class", "text"), *((web.examples[url], texts[url]) for url in taught)),
        f"{WANTED}.toml": to_toml(
            {
                "name": WANTED,
                "description": web.description,
                "keywords": list(web.keywords),
                "seeds": web.seeds["root"],
                "examples": f"{stem}.{WANTED}.tsv",
                "focus": [WANTED],
            }
        ),
    }
    for suffix, text in files.items():
        path.with_name(f"{stem}.{suffix}").write_text(text, "utf-8")
    return [path, *(path.with_name(f"{stem}.{suffix}") for suffix in files)]


def _tsv(*rows: Iterable[str]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def _topics(web: GeneratedWeb) -> str:
    seeds = {f"seeds_{kind}": urls for kind, urls in web.seeds.items()}
    user = {"title": WANTED, "words": list(web.keywords)}
    topic = {"focus": [WANTED], **user, "targets": len(web.targets), **seeds, "target_urls": web.targets}
    return json.dumps({WANTED: topic}, indent=1, ensure_ascii=False) + "\n"
