"""docs/redis.md does what it says: its example is run as it stands there, on other ports."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from focused.lab.process import crawl_environment
from tests.egg import ROOT

PAGE = (ROOT / "docs" / "redis.md").read_text(encoding="utf-8")
# Whatever a line does, nothing is left running.
TRAP = "trap 'kill $(jobs -p) 2> out/kill.log' EXIT\nset -e\n"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@pytest.mark.timeout(240)
def test_the_example(tmp_path: Path) -> None:
    (script,) = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.S)
    for told in ("8500", "6390"):
        assert told in script
        script = script.replace(told, str(free_port()))
    script = script.replace("export PATH=$PWD/.venv/bin:$PATH", f"export PATH={Path(sys.executable).parent}:$PATH")
    # Nobody need be spared here.
    assert "DOWNLOAD_DELAY=0.5" in script
    script = script.replace("DOWNLOAD_DELAY=0.5", "DOWNLOAD_DELAY=0.05")
    # As soon as both have joined; the crawl could be over in the time that the page gives them.
    assert "\nsleep 20\n" in script
    joined = "until grep -q joins out/one.log && grep -q joins out/two.log; do sleep 0.2; done"
    script = script.replace("sleep 20", joined)
    for name in ("scrapy.cfg", "focused"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "out").mkdir()
    run = subprocess.run(
        ["bash", "-c", "-m", TRAP + script],
        cwd=tmp_path,
        env=crawl_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    logs = "\n".join(path.read_text() for path in sorted((tmp_path / "out").glob("*.log")))
    assert run.returncode == 0, run.stdout + run.stderr + logs
    assert "stars: running on 2 workers" in run.stdout
    assert "stars: not running; its workers have ended" in run.stdout
    lines = [line for name in ("one", "two") for line in (tmp_path / "out" / f"{name}.jsonl").read_text().splitlines()]
    urls = [json.loads(line)["url"] for line in lines]
    judged = re.findall(r"  links +(\d+) pages", run.stdout)
    assert 280 < len(urls) == len(set(urls)) == int(judged[-1])
    assert "'focused/seed/pushed': 1" in logs


def test_every_key_is_told() -> None:
    (table,) = re.findall(r"\| key \| type \| what \|\n\|[-|]+\|\n(.*?)\n\n", PAGE, flags=re.S)
    told = {key.strip("` ").partition(":")[0] for line in table.splitlines() for key in line.split("|")[1].split(",")}
    scripts = [path.read_text() for path in (ROOT / "focused" / "redis" / "lua").glob("*.lua")]
    assert told == {
        "meta",
        "inbox",
        *(name for script in scripts for name in re.findall(r"PREFIX \.\. '([a-z]+)", script)),
    }
