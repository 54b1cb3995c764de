"""The benchmark of critics takes their options as other commands do."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench import critics
from focused.lab.replay.write import write_web

BIRDS, TAXES = "The penguin swims. Feathers and a beak.", "Tax law and the rates of taxes."


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The options that name a web of six pages, four of them examples."""
    pages = {f"http://s.example/{n}": f"<p>{BIRDS if n % 2 else TAXES} {n}" for n in range(6)}
    write_web(tmp_path / "web.warc.gz", pages)
    rows = "".join(f"{url}\t{'birds' if n % 2 else 'taxes'}\n" for n, url in enumerate(list(pages)[:4]))
    (tmp_path / "examples.tsv").write_text(f"url\tclass\n{rows}")
    topics = {"birds": {"focus": ["birds"], "target_urls": [url for n, url in enumerate(pages) if n % 2]}}
    (tmp_path / "topics.json").write_text(json.dumps(topics))
    named = {"--web": "web.warc.gz", "--examples": "examples.tsv", "--topics": "topics.json"}
    return [word for option, name in named.items() for word in (option, str(tmp_path / name))]


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["bench.critics", *words])
    critics.main()


def test_options_are_given_as_for_a_comparison(files, monkeypatch, capsys):
    spec = "naive-bayes:priors=balanced:smoothing=0.1"
    run(monkeypatch, *files, spec)
    assert capsys.readouterr().out.splitlines()[-1].startswith(spec)


@pytest.mark.parametrize("spec", ["naive-bayes:priors=even", "naive-bayes:priors", "naive-bayess"])
def test_what_is_wrong_with_a_critic_is_one_sentence(spec, files, monkeypatch):
    with pytest.raises(SystemExit, match=r"^bench\.critics: .*(priors|naive-bayes)"):
        run(monkeypatch, *files, spec)
