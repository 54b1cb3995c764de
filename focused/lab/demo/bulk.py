"""The bulk web: as many pages as wanted, of a size as wanted, all alive, for benchmarks and for tests of endurance."""

from __future__ import annotations

from random import Random

from focused.lab.demo.markup import bullets, document, paragraphs
from focused.lab.demo.prose import Prose
from focused.lab.demo.web import WANTED, GeneratedWeb
from focused.lab.demo.words import vocabularies

TOPICS = ("stars", "garden", "kitchen", "chess", "sailing", "railways", "news")
_SENTENCES_A_PARAGRAPH = 5


def bulk_web(
    pages: int = 5_000, seed: int = 0, *, size: int = 20_000, links: int = 40, hosts: int = 20
) -> GeneratedWeb:
    """Pages of about ``size`` bytes with ``links`` links each; page *n* links to *n* + 1, so that all are reached."""
    random = Random(f"bulk/{seed}")
    prose = {kind: Prose(vocabularies()[kind], random) for kind in TOPICS}
    urls = [f"http://host{n % hosts}.example/{TOPICS[n % len(TOPICS)]}/{n}.html" for n in range(pages)]
    keywords = vocabularies()[WANTED].nouns[:5]
    web = GeneratedWeb("bulk", "Pages about astronomy among as many others.", keywords)
    for number, url in enumerate(urls):
        kind = TOPICS[number % len(TOPICS)]
        title = prose[kind].title()
        targets = [urls[(number + 1) % pages], *random.choices(urls, k=links - 1)]
        listed = bullets((target, prose[_kind_of(target)].words(3)) for target in targets)
        body = f"<h1>{title}</h1>\n{_text(prose[kind], size - len(listed))}\n{listed}"
        web.add_labelled(url, kind, title, document(title, body))
    web.seeds = {"on": urls[:1], "far": urls[1:2], "root": urls[:1]}
    web.take_examples(random, share=0.1, most=20)
    return web


def _kind_of(url: str) -> str:
    return url.split("/")[3]


def _text(prose: Prose, size: int) -> str:
    texts: list[str] = []
    length = 0
    while length < size - 300:
        texts.append(prose.paragraph(_SENTENCES_A_PARAGRAPH))
        length += len(texts[-1]) + 8
    return paragraphs(texts)
