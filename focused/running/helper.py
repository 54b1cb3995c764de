"""A process of our own that answers one question after another: pickles over its standard input and output.

It is started when the first question is asked, finds modules where this process finds them (that may be an egg, or a
user's folder), and ends when its input does, however we end.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any


class NotSendable(TypeError):
    """A question that cannot leave this process."""


class HelperFailed(RuntimeError):
    """The process ended without an answer."""


class Helper:
    """Questions for ``python -m module``, from one thread at a time; `close` from any."""

    def __init__(self, module: str, environment: Mapping[str, str] | None = None) -> None:
        path = os.pathsep.join(filter(None, sys.path))
        self._module, self._environment = module, {**(environment or os.environ), "PYTHONPATH": path}
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, *question: Any) -> Any:
        """What it answers; an exception that it answers is raised here."""
        try:
            message = pickle.dumps(question, pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise NotSendable(str(error)) from error
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(message)
            process.stdin.flush()
            answer = pickle.load(process.stdout)  # noqa: S301  # from our own process
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
            self.close()
            raise HelperFailed(f"the process {self._module} failed (code {process.returncode})") from error
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def close(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            # Waits for its end, and lets go of its pipes.
            process.communicate()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(  # noqa: S603  # our own module
                [sys.executable, "-m", self._module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._environment,
            )
        return self._process


def questions() -> Iterator[tuple[tuple[Any, ...], Callable[[Any], None]]]:
    """In the process: each question, and how to answer it, until there are no more."""
    # The pipe is ours alone: what components print goes where the log goes.
    asked, answers, sys.stdout = sys.stdin.buffer, sys.stdout.buffer, sys.stderr

    def answer(value: Any) -> None:
        with suppress(BrokenPipeError):
            pickle.dump(value, answers)
            answers.flush()

    with suppress(EOFError):
        while True:
            yield pickle.load(asked), answer  # noqa: S301  # from our own process
