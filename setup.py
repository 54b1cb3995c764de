"""For scrapyd-deploy, which builds an egg with this file: everything is in pyproject.toml."""

from setuptools import setup

setup(zip_safe=False)
