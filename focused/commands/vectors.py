"""``scrapy vectors SOURCE --out FILE.npz``: a table of word vectors, as a crawl reads it."""

from __future__ import annotations

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from focused.running import command


class Command(command.Command):
    """Convert word vectors, once: a crawl would take too long to read them as text."""

    usage = "[options] SOURCE --out FILE.npz"
    summary = "Make a table of word vectors for FOCUSED_VECTORS"
    details = (
        "Converts word vectors. SOURCE is a text file as word2vec and GloVe write it (also .gz), or the name of the "
        "installed package wordllama. Nothing is fetched. See docs/critics.md."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--out", type=Path, metavar="FILE.npz", help="the file to write")
        add("--language", default="en", metavar="CODE", help="language of the words (default: %(default)s)")
        licence = "where the vectors are from, and their licence; each crawl shows it in its log"
        add("--about", default="", metavar="TEXT", help=licence)
        most = "take the first N words (default: %(default)s)"
        add("--most", type=command.whole_number(), default=100_000, metavar="N", help=most)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from focused.critics.language import check_languages
        from focused.critics.vectors import read_text, write_vectors
        from focused.critics.wordllama import read_wordllama
        from focused.extras import VECTORS
        from focused.files import write_whole

        if len(args) != 1 or not opts.out:
            raise UsageError("give a file of word vectors, and where to write the table (--out FILE.npz)")
        check_languages([opts.language])
        source = args[0]
        if source == VECTORS:
            table = read_wordllama()
        elif not Path(source).is_file():
            raise ValueError(f"there is no file {source!r}: give a file of word vectors, or {VECTORS}")
        else:
            about = opts.about or f"from {Path(source).name}, licence not given"
            table = read_text(Path(source), language=opts.language, about=about, most=opts.most)
        with write_whole(opts.out) as file:
            write_vectors(table, file)
        count, numbers = table.vectors.shape
        print(f"{count:,} words, {numbers} numbers each ({table.about}): {opts.out}")
