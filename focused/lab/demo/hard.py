"""The hard web: registers in which only the position of a word says which link it describes.

The point of Chakrabarti, Punera and Subramanyam (WWW 2002) is that ⟨token, offset⟩ says more than the token. Here
anchors say nothing ("Item 12"), addresses are opaque, and every page, whatever it is about, links to pages of all
topics alike. The only clue is a short description of each entry in another cell of its row, in a layout that differs
between registers; around it are the descriptions of other entries (of the rows before and after, and of an entry
"to compare"), so that the same words without their offsets say little. The page's own text, from which a critic
knows what it is about, is far from the links.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from focused.lab.demo.markup import document, link, paragraphs
from focused.lab.demo.prose import Prose
from focused.lab.demo.web import WANTED, GeneratedWeb, some_of
from focused.lab.demo.words import vocabularies

# How much of the web is about what: the wanted topic is about one page in nine.
SHARES = {
    "stars": 0.11,
    "garden": 0.15,
    "kitchen": 0.15,
    "chess": 0.14,
    "sailing": 0.13,
    "railways": 0.16,
    "news": 0.16,
}
_ROWS = (10, 15)
_PARAGRAPHS = (2, 4)
_WORDS = 4
_WANTED = "Entries about astronomy, in registers where only the place of a word tells."


@dataclass(frozen=True, slots=True)
class _Item:
    """One page of the web, before it is written."""

    url: str
    name: str
    kind: str
    layout: str


# Cells of a row. ``about`` tells of the link in it; ``compare`` of an entry that the row does not link to.
_LAYOUTS = {
    # about at +1, around it the neighbours' at -1, +3, -3, +5, -5
    "register": ("link", "about"),
    # about at +2, others' at -1, -2, +3, -5
    "inventory": ("compare", "link", "size", "about"),
    # about at -4, others' at +3, +4, -5
    "ledger": ("about", "shelf", "place", "year", "link", "keeper", "state", "compare"),
}
_HOSTS = (
    ("register.example", "register"),
    ("inventory.example", "inventory"),
    ("ledger.example", "ledger"),
    ("second-register.example", "register"),
)


def hard_web(pages: int = 4_500, seed: int = 0) -> GeneratedWeb:
    """The hard web, of so many pages."""
    return _HardWeb(pages, seed).build()


class _HardWeb:
    def __init__(self, pages: int, seed: int) -> None:
        self.random = Random(f"hard/{seed}")
        self.web = GeneratedWeb("hard", _WANTED, ("star", "galaxy", "nebula", "telescope", "planet"))
        self.prose = {kind: Prose(vocabularies()[kind], self.random) for kind in SHARES}
        self.entries = [self._entry(number) for number in range(pages)]
        self.listed = [self._linked(number) for number in range(pages)]
        self.cells: dict[str, Callable[[_Item], str]] = {
            "link": lambda entry: link(entry.url, entry.name),
            "about": lambda entry: self.prose[entry.kind].words(_WORDS),
            "compare": lambda _: self.prose[self.random.choice(self.entries).kind].words(_WORDS),
            "size": lambda _: f"{self.random.randint(2, 90)} x {self.random.randint(2, 90)}",
            "shelf": lambda _: f"{self.random.choice('ABCDEF')}{self.random.randint(1, 40)}",
            "place": lambda _: self.random.choice(("cellar", "attic", "annexe", "vault")),
            "year": lambda _: str(self.random.randint(1890, 1999)),
            "keeper": lambda _: self.random.choice(("Abel", "Berg", "Conti", "Dahl", "Egger")),
            "state": lambda _: self.random.choice(("sound", "worn", "mended")),
        }

    def build(self) -> GeneratedWeb:
        for entry, listed in zip(self.entries, self.listed, strict=True):
            self.web.add_labelled(entry.url, entry.kind, entry.name, self._page(entry, listed))
        self.web.seeds = self._seeds()
        self.web.take_examples(self.random, share=0.1, most=40)
        return self.web

    def _entry(self, number: int) -> _Item:
        host, layout = _HOSTS[number % len(_HOSTS)]
        kind = self.random.choices(list(SHARES), list(SHARES.values()))[0]
        return _Item(f"http://{host}/p/{self.random.getrandbits(40):010x}", f"Item {number + 1}", kind, layout)

    def _linked(self, number: int) -> list[_Item]:
        """The entries that a page lists: the next one, so that all can be reached, and others at random."""
        rows = min(self.random.randint(*_ROWS), len(self.entries) - 1)
        others = self.random.sample(self.entries, rows)
        others[self.random.randrange(rows)] = self.entries[(number + 1) % len(self.entries)]
        return [entry for entry in others if entry is not self.entries[number]]

    def _page(self, entry: _Item, listed: list[_Item]) -> str:
        layout = _LAYOUTS[entry.layout]
        prose = self.prose[entry.kind]
        text = [prose.paragraph(self.random.randint(3, 5)) for _ in range(self.random.randint(*_PARAGRAPHS))]
        half = len(text) // 2
        rows = "\n".join(self._row(layout, other) for other in listed)
        body = (
            f"<h1>{entry.name}</h1>\n{paragraphs(text[:half])}\n"
            "<h2>From the same collection</h2>\n<p>Entries as received, in no order.</p>\n"
            "<ol><li>Ask at the desk.</li><li>Handle with care.</li><li>Return by noon.</li></ol>\n"
            f"<table>\n{rows}\n</table>\n"
            "<ol><li>Copies on request.</li><li>No photographs.</li><li>Fees apply.</li><li>All as seen.</li></ol>\n"
            f"<hr>\n<h2>Notes</h2>\n{paragraphs(text[half:])}"
        )
        return document(entry.name, body)

    def _row(self, layout: tuple[str, ...], entry: _Item) -> str:
        return "<tr>" + "".join(f"<td>{self.cells[cell](entry)}</td>" for cell in layout) + "</tr>"

    def _seeds(self) -> dict[str, list[str]]:
        on = [entry.url for entry in self.entries if entry.kind == WANTED]
        pages = zip(self.entries, self.listed, strict=True)
        far = [entry.url for entry, listed in pages if WANTED not in {entry.kind, *(other.kind for other in listed)}]
        root = [entry.url for entry in self.entries[: len(_HOSTS)]]
        return {"on": some_of(on, self.random), "far": some_of(far, self.random), "root": root}
