"""What this wing adds to ``scrapy paths``: recording them on a page that is served."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from focused.running import command

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from focused.papers.paths.path import Path

_PORT = 8898


class PathRecorder:
    """``scrapy paths record TOPIC --start URL``."""

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument_group("Record").add_argument
        add("--start", default="", metavar="URL", help="where to begin (default: the first seed of the topic)")
        words = f"port to listen on; 0: a free one (default: {_PORT})"
        add("--port", type=command.port, default=_PORT, help=words)
        add("--open", action="store_true", help="open the page in a browser")

    @staticmethod
    def is_wanted(opts: argparse.Namespace) -> bool:
        return bool(opts.start or opts.open)

    @staticmethod
    def record(topic: str, opts: argparse.Namespace, settings: Settings) -> tuple[list[Path], list[str]]:
        """The paths that somebody has shown, and the names of milestones on them."""
        from focused.defaults import read
        from focused.topics.settings import apply_settings
        from focused.topics.topic import load_topic
        from focused.watch.recording.record import record_paths

        seeds, trusted = [opts.start] if opts.start else [], read(settings, "FOCUSED_TOPICS_TRUSTED")
        found = load_topic(topic, seeds=seeds, seeds_needed=True, trusted=trusted)
        apply_settings(found, settings)
        how = {"web": "".join(opts.web), "port": opts.port, "opened": opts.open}
        return record_paths(opts.out, found.seeds[0], settings, **how)
