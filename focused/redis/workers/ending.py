"""Knows at once when somebody asks the process to end, also while its event loop stands still."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Ending:
    """Listens to the signals that end a crawl; whoever listened before is told, too."""

    def __init__(self) -> None:
        self.is_asked = False
        self._before: dict[int, Any] = {}

    def listen(self) -> None:
        """Begin; to be called when the event loop runs: Scrapy sets up its own handlers as late as that."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            before = signal.getsignal(number)
            # What ends the process at once needs no listening.
            if callable(before):
                self._before[number] = before
                signal.signal(number, self._heard)

    def stop(self) -> None:
        """Let those listen alone who listened before, unless somebody else does by now."""
        for number, before in self._before.items():
            if signal.getsignal(number) == self._heard:
                signal.signal(number, before)
        self._before.clear()

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.is_asked = True
        before = self._before.get(number)
        if before is not None:
            before(number, frame)
