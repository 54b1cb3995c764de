"""Coverage-guided fuzzing of everything that reads what strangers write: `make fuzz TARGET=page MINUTES=5`.

A target is a module in `fuzz.targets`: ``check`` reads some bytes with our code and raises if something does not hold
that must hold of any bytes, and ``seeds`` makes the inputs to begin with. Nothing in a target knows the fuzzer, so the
tests run each over its seeds. `fuzz.__main__` is the command, `fuzz.run` the process in which atheris is.
"""
