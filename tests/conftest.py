"""What all tests share."""

import os

from hypothesis import settings

# Where a green run lets a change in, the same change must not fail by the luck of the draw; everywhere else new
# examples are tried at every run.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
