"""The documentation as a site: `make docs`."""

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

import focused

project = "Focused"
author = "The Focused developers"
version = release = focused.__version__
copyright = "2026, " + author

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["Thumbs.db"]
# Most code blocks are commands and their output; and quotes in TOML and JSON must survive being copied.
highlight_language = "text"
smartquotes = False
html_theme = "furo"
html_title = f"Focused {version}"
html_copy_source = False

myst_heading_anchors = 4
# The pages are read on their own, too, where their links lead to files of the project.
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
# A single backtick in a docstring marks a name; not every name has a page.
default_role = "code"

nitpicky = True
# Types of other projects: looking them up would need the network.
nitpick_ignore_regex = [(r"py:.*", r"(?!focused\.).*")]


def setup(app: Sphinx) -> None:
    """Tables of examples are shown as they are."""
    app.add_lexer("tsv", TextLexer)
