"""Packaging, for `pip install .` and for scrapyd, which needs to be told of the settings and of the data files."""

from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent


def requirements() -> list[str]:
    """The pinned dependencies; an egg built on another machine carries them as its own."""
    lines = (HERE / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in (line.partition("#")[0].strip() for line in lines) if line]


setup(
    name="focused",
    version="0.1.0",
    description="A focused crawler that learns which links lead to pages on a topic",
    license="BSD-3-Clause",
    python_requires=">=3.11",
    packages=find_packages(include=["focused", "focused.*"]),
    package_data={
        "focused.topics": ["shipped/*"],
        "focused.lab.demo": ["data/*"],
        "focused.redis": ["lua/*", "reading/*.lua"],
        "focused": ["entry_points.txt", "py.typed", "*/templates/*", "*/*/templates/*"],
    },
    install_requires=requirements(),
    entry_points=(HERE / "focused" / "entry_points.txt").read_text(encoding="utf-8"),
    zip_safe=False,
)
