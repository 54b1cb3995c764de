"""docs/deploy.md does what it says: its commands are run as they stand there, and its files fit together."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path
from urllib.parse import unquote_plus

from focused.lab.demo.web import GeneratedWeb
from focused.lab.site.server import SiteServer
from tests.egg import ROOT, copy_project
from tests.scrapyd.daemon import DEPLOY_PAGE, STATE, Scrapyd, documented_conf

HERE = "http://localhost:6800"


def commands() -> Iterator[list[str]]:
    """The commands of the first section, word by word, with what the shell puts in."""
    for block in re.findall(r"```sh\n(.*?)```", DEPLOY_PAGE, flags=re.S):
        for line in block.replace("\\\n", " ").replace("$(date +%s)", str(int(time.time()))).splitlines():
            yield shlex.split(line)


def _field(flag: str, option: str) -> tuple[str, str]:
    """What curl sends: with -d a value goes into the request as it is written, so it must need no quoting."""
    assert flag in {"-d", "--data-urlencode", "-F"}
    name, _, value = option.partition("=")
    assert flag != "-d" or unquote_plus(value) == value
    return name, value


def parsed(text: str) -> ConfigParser:
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return parser


class Reader:
    """A reader of the page in the project's folder: curl, with another port, and pages of the test's own."""

    def __init__(self, scrapyd: Scrapyd, project: Path, seed: str) -> None:
        self.scrapyd, self.project, self.seed = scrapyd, project, seed
        self.delay = 0.0

    def follow(self, command: list[str]) -> str:
        match command:
            case ["curl", url, *options]:
                return self._curl(url.removeprefix(HERE), options)
            case [".venv/bin/scrapyd-deploy", *options]:
                module = [sys.executable, "-m", "scrapyd_client.deploy", *options]
                run = subprocess.run(module, cwd=self.project, check=False, capture_output=True, text=True)
                assert run.returncode == 0, run.stdout + run.stderr
                return run.stdout
        raise AssertionError(f"unknown command: {command}")

    def _curl(self, path: str, options: list[str]) -> str:
        fields = [_field(flag, value) for flag, value in zip(options[::2], options[1::2], strict=True)]
        service = path.strip("/").removesuffix(".json")
        if not fields:
            return self.scrapyd.text(path)
        if service == "addversion":
            form = dict(fields)
            return str(self.scrapyd.deploy(self.project / form["egg"].removeprefix("@"), form["version"]))
        if service == "schedule":
            pace = (f"DOWNLOAD_DELAY={self.delay}", "AUTOTHROTTLE_ENABLED=0")
            fields += [("seeds", self.seed), *(("setting", value) for value in pace)]
        return str(self.scrapyd.post(service, fields))


def test_the_commands_of_the_first_section(tmp_path: Path, site: SiteServer, web: GeneratedWeb):
    project = tmp_path / "project"
    project.mkdir()
    copy_project(project)
    folder = tmp_path / "jobs"
    folder.mkdir()
    command = [str(ROOT / "scripts" / "run-scrapyd"), sys.executable, str(folder)]
    seen = len(site.visits)
    job = "astronomy-1"
    deploy, schedule, *looks, cancel, again, build, send = commands()
    with Scrapyd(folder, site.url, command=command) as scrapyd:
        cfg = project / "scrapy.cfg"
        cfg.write_text(cfg.read_text().replace("localhost:6800", f"127.0.0.1:{scrapyd.port}"))
        reader = Reader(scrapyd, project, next(iter(web.pages)))
        assert '"status": "ok"' in reader.follow(deploy)
        assert scrapyd.get("listprojects")["projects"] == ["focused"]

        reader.delay = 3.0  # so that it is still at work when it is cancelled
        reader.follow(schedule)
        scrapyd.wait(lambda: len(site.visits) > seen + 12, "nothing is fetched")
        listed, log, items = (reader.follow(look) for look in looks)
        assert job in listed
        assert "Topic 'astronomy" in log
        assert site.visits[-1].headers["user-agent"] == "focused (+mailto:you@your.example)"
        assert not items or '"relevance"' in items

        assert "running" in reader.follow(cancel)
        assert "run the same command again to resume it" in scrapyd.text(scrapyd.finish(job)["log_url"])
        reader.delay = 0.0
        reader.follow(again)
        scrapyd.finish(job, times=2)
        assert '"relevance"' in reader.follow(looks[-1])
        assert (folder / "jobs" / "focused" / "focused" / job / "report.html").exists()
        assert set(site.fetched(since=seen)) == set(web.pages)

        reader.follow(build)
        assert "'spiders': 1" in reader.follow(send)
    assert (folder / "scrapyd.conf").exists()


def test_the_configuration_keeps_everything_in_the_folder_of_the_service():
    conf = parsed(documented_conf())["scrapyd"]
    assert {conf[name].rpartition("/")[0] for name in conf if name.endswith("_dir")} == {STATE}
    assert conf["bind_address"] == "127.0.0.1"


def test_the_service_finds_what_the_page_has_installed():
    text, of_workers = re.findall(r"```ini\n(\[Unit\]\n.*?)```", DEPLOY_PAGE, flags=re.S)
    service, worker = parsed(text)["Service"], parsed(of_workers)["Service"]
    assert service["WorkingDirectory"] == STATE == f"/var/lib/{service['StateDirectory']}"
    assert service["Environment"] == f"FOCUSED_MODELS={STATE}/models"
    venv, _, rest = service["ExecStart"].partition("/bin/")
    assert rest == "python -m scrapyd --pidfile="
    assert f"python3 -m venv {venv}\n{venv}/bin/pip install --require-hashes -r requirements.txt\n" in DEPLOY_PAGE
    assert f"useradd --system --home-dir {STATE} {service['User']}\n" in DEPLOY_PAGE
    assert worker["ExecStart"].startswith(f"{venv}/bin/scrapy crawl focused ")
    assert {name: worker[name] for name in ("User", "StateDirectory", "Environment")} == {
        name: service[name] for name in ("User", "StateDirectory", "Environment")
    }


def test_the_page_installs_what_is_tested():
    locked = dict(re.findall(r"^([a-z-]+)==([\d.]+)", (ROOT / "requirements-dev.txt").read_text("utf-8"), flags=re.M))
    [install] = [line for line in DEPLOY_PAGE.splitlines() if "bin/pip install scrapyd" in line]
    assert shlex.split(install)[-2:] == [f"scrapyd=={locked['scrapyd']}", "setuptools<81"]
    assert int(locked["setuptools"].partition(".")[0]) < 81


def test_a_port_that_is_taken_is_told_in_a_sentence(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = subprocess.run(
            [ROOT / "scripts" / "run-scrapyd", sys.executable, tmp_path],
            env={**os.environ, "SCRAPYD_HTTP_PORT": str(port)},
            check=False,
            capture_output=True,
            text=True,
            timeout=280,
        )
    assert run.returncode != 0
    assert run.stderr.startswith(f"scrapyd cannot listen on 127.0.0.1:{port} (Address already in use): stop what does")
    assert f"SCRAPYD_HTTP_PORT={port + 1} make scrapyd" in run.stderr
    assert run.stderr.count("\n") == 1


def test_make_scrapyd_calls_the_script():
    make = shutil.which("make")
    assert make, "make is missing: apt-get install make"
    run = subprocess.run([make, "-n", "scrapyd"], cwd=ROOT, check=True, capture_output=True, text=True)
    assert "scripts/run-scrapyd .venv/bin/python jobs/scrapyd" in run.stdout
