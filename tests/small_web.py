"""A small web for experiments: two hosts, a topic with words of its own, hubs, dead links, redirects, https links."""

from __future__ import annotations

import json
import random

from focused.lab.replay.write import write_web
from focused.warc.reader import Recorded

ONE, TWO = "http://one.example", "http://two.example"
STARS = ["star", "galaxy", "telescope", "orbit", "planet", "nebula", "comet", "supernova", "redshift", "quasar"]
SOUPS = ["soup", "carrot", "onion", "pepper", "kitchen", "recipe", "garlic", "butter", "flour", "oven"]
COMMON = ["the", "of", "and", "to", "a", "in", "is", "it", "that", "was", "for", "on", "with", "as", "by", "at"]


def address(number):
    return f"{ONE if number % 3 else TWO}/page/{number}.html"


def html(words, links, title):
    anchors = "".join(f"<li>{before} <a href='{url}'>{anchor}</a></li>" for url, anchor, before in links)
    return (
        f"<html><head><title>{title}</title></head><body><p>{' '.join(words)}</p><ul>{anchors}</ul>"
        f"<a href='{ONE}/'>home</a></body></html>"
    )


class SmallWeb:
    """Pages 0 to ``count`` - 1; every fifth is on the topic. Written beside it: labels, examples, topics."""

    def __init__(self, folder, count=150, seed=1):
        self.random = random.Random(seed)
        self.count = count
        self.warc = folder / "small.warc.gz"
        self.topics = folder / "small.topics.json"
        self.labels = folder / "small.labels.tsv"
        self.examples = folder / "small.examples.tsv"
        self.on_topic = [number for number in range(count) if number % 5 == 0]
        self.taught = [number for number in range(count) if number % 5 in {0, 1} and number % 20 < 10]
        self.pages = self._pages()
        write_web(self.warc, self.pages)
        self._write_tables()

    @property
    def targets(self):
        return [address(number) for number in self.on_topic if number not in self.taught]

    def _pages(self):
        pages = {address(number): self._page(number) for number in range(self.count)}
        pages[f"{ONE}/"] = html(COMMON, [(address(number), "page", "see") for number in range(1, 12)], "home")
        for number in range(0, self.count, 7):
            old = (("Location", address(number)), ("Content-Length", "0"))
            pages[address(number).replace("/page/", "/old/")] = Recorded(301, old)
        pages[f"{TWO}/robots.txt"] = Recorded(200, (("Content-Type", "text/plain"),), b"User-agent: *\nAllow: /\n")
        return pages

    def _page(self, number):
        words = STARS if number in self.on_topic else SOUPS
        text = self.random.choices(words, k=30) + self.random.choices(COMMON, k=30)
        links = [self._link(number) for _ in range(8)]
        return html([*text, str(number)], links, f"{words[0]} {number}")

    def _link(self, number):
        kind = self.random.random()
        if kind < 0.1:
            return f"{ONE}/gone/{self.random.randrange(40)}", "gone", "was"
        near = number in self.on_topic and kind < 0.6
        target = self.random.choice(self.on_topic) if near else self.random.randrange(self.count)
        url = address(target)
        if target % 7 == 0 and kind > 0.8:
            url = url.replace("/page/", "/old/")
        if kind > 0.95:
            url = url.replace("http:", "https:")
        words = STARS if target in self.on_topic else SOUPS
        return url, self.random.choice(words + COMMON), self.random.choice(words)

    def _write_tables(self):
        names = {number: "stars" if number in self.on_topic else "soups" for number in range(self.count)}
        labels = "".join(f"{address(number)}\t{name}\t{name} {number}\n" for number, name in names.items())
        self.labels.write_text("url\tlabels\ttitle\n" + labels)
        examples = "".join(
            f"{address(number)}\t{names[number]}\t{'east' if number % 2 else 'west'}\n" for number in self.taught
        )
        self.examples.write_text("url\tclass\tside\n" + examples)
        topic = {
            "focus": ["stars"],
            "targets": len(self.targets),
            "target_urls": self.targets,
            "seeds_on": self.targets[:2],
            "seeds_root": [f"{ONE}/"],
        }
        self.topics.write_text(json.dumps({"stars": topic, "stars@east": topic}))
