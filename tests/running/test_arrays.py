"""Files of arrays: what was learned is read back; what claims more than it holds is refused, in bounded memory."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest

from focused.arrays import load_arrays, save_arrays


def claiming(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    """An array of which only the header is there."""
    file = BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def archive(entries: dict[str, bytes], how: int = ZIP_STORED) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w", how) as packed:
        for name, data in entries.items():
            packed.writestr(name, data)
    return file.getvalue()


BAD = {
    "nothing": b"",
    "something else": b"not arrays at all",
    "an array without a name": claiming((3,)) + bytes(24),
    "2**40 numbers": archive({"weights.npy": claiming((2**40,))}),
    "2**40 numbers in three dimensions": archive({"weights.npy": claiming((2**20, 2**10, 2**10))}),
    "2**62 numbers": archive({"weights.npy": claiming((2**62,))}),
    "fewer numbers than it says": archive({"weights.npy": claiming((2**25,)) + bytes(800)}),
    "a negative number of numbers": archive({"weights.npy": claiming((-(2**40),))}),
    "objects": archive({"weights.npy": claiming((3,), "|O") + b"cos\nsystem\n(S'true'\ntR."}),
    "a bomb": archive({"weights.npy": claiming((2**26,)) + bytes(2**29)}, ZIP_DEFLATED),
    "an entry that is no array": archive({"notes.txt": b"hello"}),
    "cut off": save_arrays({"weights": np.arange(10_000)})[:-200],
}


def test_what_was_saved_is_read_back() -> None:
    arrays = {"weights": np.arange(10, dtype=np.float32), "name": np.array("ada"), "none": np.zeros((0, 3))}
    back = load_arrays(save_arrays(arrays))
    assert list(back) == list(arrays)
    assert all((back[name] == value).all() and back[name].dtype == value.dtype for name, value in arrays.items())


def test_compressed_arrays_are_read(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", vectors=np.zeros((500_000, 2), np.float16))
    assert load_arrays(tmp_path / "a.npz")["vectors"].shape == (500_000, 2)


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What comes of reading each in a process of its own, and the most memory it took, in megabytes."""
    folder = tmp_path_factory.mktemp("bad")
    for name, data in BAD.items():
        (folder / name.replace("*", "")).write_bytes(data)
    names = [str(folder / name.replace("*", "")) for name in BAD]
    run = subprocess.run([sys.executable, "-c", CODE, *names], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


CODE = """
import re, sys
from pathlib import Path
from focused.arrays import load_arrays
for name in sys.argv[1:]:
    try:
        load_arrays(Path(name))
    except ValueError as error:
        print("refused" if str(error) else "refused without a word")
    else:
        print("read")
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) >> 10)
"""


@pytest.mark.parametrize("name", BAD)
def test_what_is_none_is_refused(tried: list[str], name: str) -> None:
    assert tried[list(BAD).index(name)] == "refused"


def test_what_is_none_takes_no_memory(tried: list[str]) -> None:
    assert int(tried[-1]) < 200
