"""The house keeps its plan: which room knows of what, and what it is built from."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCES = sorted((ROOT / "focused").rglob("*.py"))
PLAIN = ("pages", "critics", "prioritizers", "frontier", "papers/critics", "papers/prioritizers", "papers/pages")
NOT_IN_PLAIN = ("scrapy", "twisted", "redis", "scrapy_redis")
HEAVY = ("sklearn", "scipy", "joblib", "wordfreq", "rich", "jinja2")

# Not imported by name: the event loop that a setting names, the selectors behind Scrapy's responses, its parser of
# robots.txt, what gives the client of a frontier on many machines, and what that client reads by.
USED_WITHOUT_IMPORT = {"uvloop", "parsel", "protego", "scrapy-redis", "hiredis"}
# Parts of others, which pin them.
COMES_WITH = {"zope-interface": "twisted", "markupsafe": "jinja2"}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def plain_modules() -> list[str]:
    folder = ROOT / "focused"
    return sorted(module_of(path) for room in PLAIN for path in (folder / room).rglob("*.py"))


def imports_of(path: Path) -> set[str]:
    """The top-level names of the packages that a file imports, at the top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def required() -> set[str]:
    """The distributions that pyproject.toml asks for, the extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return {re.match(r"[a-z0-9-]+", one)[0] for wanted in lists for one in wanted} - {"focused"}


def third_party_imports() -> set[str]:
    """Distributions that the code imports, by the names that requirements.txt uses."""
    distributions = packages_distributions()
    names = set().union(*(imports_of(path) for path in SOURCES)) - set(sys.stdlib_module_names) - {"focused"}
    wanted = {re.sub(r"[._]", "-", distributions[name][0].lower()) for name in names}
    return {COMES_WITH.get(name, name) for name in wanted}


def test_plain_rooms_load_neither_scrapy_nor_twisted_nor_redis() -> None:
    modules = plain_modules()
    assert "focused.frontier.order" in modules
    code = (
        "import importlib, sys\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        f"print([name for name in {NOT_IN_PLAIN!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]", "loaded by a plain room, perhaps through another module of ours"


def test_commands_and_spiders_are_listed_without_loading_what_is_heavy() -> None:
    """Scrapy imports all of them to run any command, ``scrapy list`` and ``scrapy crawl -h`` too."""
    modules = [module_of(path) for path in SOURCES if path.parent.name in {"commands", "spiders"}]
    assert "focused.commands.crawl" in modules
    code = (
        "import importlib, sys\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]", "import it inside run()"


def test_a_crawl_by_words_begins_without_scikit_learn() -> None:
    """It takes half a second of each start, and is needed once there are pages to learn from."""
    code = (
        "import sys\n"
        "import focused.parts, focused.scheduling.scheduler, focused.teaching.first\n"
        "from focused.critics.combined import CombinedCritic\n"
        "CombinedCritic(keywords=['star'])\n"
        "print('sklearn' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_everything_imported_is_required() -> None:
    assert third_party_imports() <= required()


@pytest.mark.parametrize("lock", ["requirements.txt", "requirements-dev.txt", "requirements-lowest.txt"])
def test_everything_required_is_locked(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert required() <= set(re.findall(r"^([a-z0-9-]+)(?:\[\S+\])?==", text, re.M))


def test_everything_required_is_imported() -> None:
    assert required() - third_party_imports() <= USED_WITHOUT_IMPORT


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_every_module_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not text.strip() or ast.get_docstring(ast.parse(text)), f"{path.relative_to(ROOT)} has no docstring"


def test_no_import_cycles() -> None:
    """Each module of ours can be the first that is loaded."""
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    for ours in [m for m in sys.modules if m.split('.')[0] == 'focused']: del sys.modules[ours]\n"
        "    importlib.import_module(name)\n"
    )
    modules = [module_of(path) for path in SOURCES if path.name != "__main__.py"]
    run = subprocess.run([sys.executable, "-c", code, *modules], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
