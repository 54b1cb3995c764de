"""``focused``: what ``scrapy`` does in this project, from any folder.

Where there is no Scrapy project around, the settings are ours; inside somebody's project they are the project's. The
commands are ours in either case, and Scrapy's own beside them.
"""

from __future__ import annotations

import os
import sys
from pkgutil import iter_modules

import scrapy
from scrapy import commands
from scrapy.cmdline import execute
from scrapy.utils.project import get_project_settings, inside_project

from focused import __version__
from focused.problems import did_you_mean
from focused.registry import own

COMMANDS_MODULE = "focused.commands"


def main() -> None:
    """Run a command; without one, list what there is."""
    name = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    if not inside_project():
        os.environ["SCRAPY_SETTINGS_MODULE"] = "focused.settings"
    if name:
        _check_name(name)
        settings = get_project_settings()
        settings.set("COMMANDS_MODULE", COMMANDS_MODULE, priority="cmdline")
        execute(sys.argv, settings)
    elif "--version" in sys.argv[1:]:
        print(f"Focused {__version__} (Scrapy {scrapy.__version__})")
    else:
        print(_overview())


def _ours() -> dict[str, str]:
    """Our commands, and a line on each."""
    lines = {entry.name: str(entry.load()().short_desc()) for entry in own("scrapy.commands")}
    lines["crawl"] = "Collect the pages on a topic: focused crawl -a topic=TOPIC -a pages=200"
    return dict(sorted(lines.items()))


def _scrapys() -> list[str]:
    """Scrapy's commands that are not replaced by one of ours."""
    return sorted({module.name for module in iter_modules(commands.__path__)} - set(_ours()))


def _check_name(name: str) -> None:
    known = [*_ours(), *_scrapys()]
    if name not in known:
        print(f"focused: there is no command {name!r}{did_you_mean(name, known)} (see focused --help)", file=sys.stderr)
        sys.exit(2)


def _overview() -> str:
    return "\n".join(
        [
            f"Focused {__version__} (Scrapy {scrapy.__version__})",
            "",
            "Usage: focused COMMAND [options]",
            "",
            *(f"  {name:<9} {line}" for name, line in _ours().items()),
            "",
            f"Scrapy's own commands work, too: {', '.join(_scrapys())}.",
            "focused COMMAND -h explains a command.",
        ]
    )
