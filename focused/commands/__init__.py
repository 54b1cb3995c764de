"""The commands of the project, those of the wings included.

Scrapy looks for a project's commands in one package (COMMANDS_MODULE), so that of the core continues in the folders
of all others that ``entry_points.txt`` lists.
"""

from pathlib import Path

from focused.registry import own

_HOME = Path(__path__[0]).parents[1]
_FOLDERS = (str(_HOME.joinpath(*entry.module.split(".")[:-1])) for entry in own("scrapy.commands"))
__path__ = list(dict.fromkeys([*__path__, *_FOLDERS]))
