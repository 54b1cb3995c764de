"""Plays the process that tries a topic, without fetching anything: pages that were said to be wanted are relevant.

Before it shows its sample it waits for the file in its name for that, so that a test sees what is in between.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import sleep

import msgspec

from focused.watch.sampling import AnswersSoFar, Judged, SamplePage, SamplerLine, SampleTold, Wanted


def tell(told: SamplerLine) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(told) + b"\n")
    sys.stdout.buffer.flush()


def main(gate: Path) -> None:
    lines = sys.stdin.buffer
    wanted = msgspec.json.decode(lines.readline(), type=Wanted)
    tell(SamplerLine(progress=(1, wanted.pages, 0)))
    while not gate.exists():
        sleep(0.01)
    seed = wanted.seeds[0]
    urls = [seed, *(f"{seed}{number}" for number in range(1, wanted.pages))] if "none" not in wanted.keywords else []
    pages = [SamplePage(url, f"Page {url}", url == seed, [("tea", True)]) for url in urls]
    missing = dict.fromkeys(wanted.seeds[1:], "not HTML")
    tell(SamplerLine(sample=SampleTold(pages, {"tea": len(pages)}, missing, ["A doubt."])))
    for line in lines:
        said = msgspec.json.decode(line, type=AnswersSoFar)
        tell(SamplerLine(judged=Judged(said.number, [float(said.answers.get(url, 0.25)) for url in urls])))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
