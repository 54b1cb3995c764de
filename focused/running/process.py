"""``scrapy crawl focused`` in a process of its own: its command line, and its environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def crawl_command(arguments: Mapping[str, object], settings: Mapping[str, object], *options: str) -> list[str]:
    """The command line, with this Python; what is no text is told as Python writes it."""
    return [
        *(sys.executable, "-m", "scrapy", "crawl", "focused", *options),
        *(part for name, value in arguments.items() for part in ("-a", f"{name}={value}")),
        *(part for name, value in settings.items() for part in ("-s", f"{name}={value}")),
    ]


def crawl_environment(proxy: str = "") -> dict[str, str]:
    """Our own environment with one proxy for everything in place of any other, or without any.

    The project is found from whatever folder the process runs in.
    """
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    path = os.pathsep.join(filter(None, (str(_ROOT), kept.get("PYTHONPATH"))))
    own = {"PYTHONPATH": path, "SCRAPY_SETTINGS_MODULE": kept.get("SCRAPY_SETTINGS_MODULE", "focused.settings")}
    return kept | own | ({"http_proxy": proxy, "https_proxy": proxy} if proxy else {})
