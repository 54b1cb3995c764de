"""A crawl with an installed Focused, from an empty folder: ``python smoke.py FOLDER`` with the Python to be tried.

Uses nothing but what the distribution brings.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import focused
from focused.lab.site.reply import linking
from focused.lab.site.server import SiteServer

HUB = "http://hub.example/"
ON, OFF = [f"{HUB}galaxy/{i}" for i in range(6)], [f"{HUB}prices/{i}" for i in range(6)]
PAGES = {
    HUB: linking(*ON, *OFF, text="star galaxy telescope"),
    **{url: linking(HUB, text=f"{url} star galaxy telescope nebula") for url in ON},
    **{url: linking(HUB, text=f"{url} cheap shoes and hats for sale") for url in OFF},
}


def main(folder: Path) -> None:
    program = str(Path(sys.executable).with_name("focused"))
    with SiteServer(PAGES) as site:
        environment = {**os.environ, "http_proxy": site.url}

        def call(*words: str) -> str:
            process = subprocess.run(
                [program, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
            )
            assert process.returncode == 0, f"{words}:\n{process.stdout}\n{process.stderr}"
            return process.stdout

        assert focused.__version__ in call("--version")
        options = ("-a", "topic=star galaxy telescope", "-a", f"seeds={HUB}", "-s", "DOWNLOAD_DELAY=0")
        call("crawl", *options, "-s", "JOBDIR=job", "-o", "pages.jsonl")
        pages = [json.loads(line) for line in (folder / "pages.jsonl").read_text("utf-8").splitlines()]
        assert {page["url"] for page in pages} == set(PAGES), "every page is fetched in the end"
        assert "13 pages" in call("status", "job")
    print(f"focused {focused.__version__}: {len(pages)} pages with Python {sys.version.partition(' ')[0]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
