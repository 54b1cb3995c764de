"""The process in which one target is fuzzed: atheris instruments our code, and hands the rest to libFuzzer.

``python -m fuzz.run TARGET [libFuzzer's options and folders]``; started by `fuzz.__main__`.
"""

from __future__ import annotations

import gc
import logging
import sys
from importlib import import_module

# Modules of others whose branches say whether we get further.
ALSO = ["zipfile", "tomllib", "numpy.lib"]


def main(name: str, options: list[str]) -> None:
    import atheris  # noqa: PLC0415  # in an environment of its own: the targets do without

    with atheris.instrument_imports(include=["focused", *ALSO]):
        check = import_module(f"fuzz.targets.{name}").check
    logging.disable(logging.CRITICAL)
    # What is here by now stays: it need not be looked through again and again.
    gc.freeze()
    atheris.Setup([sys.argv[0], *options], check)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
