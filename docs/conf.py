"""Settings of the documentation site; ``./docs-site`` builds it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util.images import get_image_size

from motionloom import __version__
from scripts.report_pages import to_site

project = "motionloom"
author = "The motionloom authors"
copyright = "the motionloom authors, MIT licence"  # noqa: A001
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["film", "pictures"]
suppress_warnings = ["ref.citation"]  # papers that no docstring cites yet
toc_object_entries = False  # headings list the names already, and the build is faster

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"motionloom {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f6f78", "color-brand-content": "#1f6f78"},
    "dark_css_variables": {"color-brand-primary": "#6cc5c9", "color-brand-content": "#6cc5c9"},
}

NUMPY_STYLE = Config(napoleon_use_param=False, napoleon_use_rtype=False, napoleon_use_ivar=True)


def read_sections(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Turn the sections of a docstring into fields.

    Napoleon as an extension would do so for attributes as well, and read the words before a colon
    in them as a type.
    """
    if what not in ("attribute", "property", "data"):
        lines[:] = NumpyDocstring(lines, NUMPY_STYLE, app, what, name, value, options).lines()


def link_reports(app: Sphinx, page: str, source: list[str]) -> None:
    """Lead links to reports to their pages of the site."""
    source[0] = to_site(page, source[0])


def leave_out_fields(
    app: Sphinx, what: str, name: str, value: object, skip: bool, options: object
) -> bool | None:
    """Leave out fields of tuples without a text: their class lists them in its docstring."""
    return True if str(value.__doc__).startswith("Alias for field number") else None


WIDE = 1.35
"""Width over height of a picture that a phone shows larger than its page."""


def link_pictures(app: Sphinx, doctree: nodes.document) -> None:
    """Link every picture to its file in full size, which Sphinx does for pictures with a scale."""
    for picture in doctree.findall(nodes.image):
        picture["scale"] = 100
        size = get_image_size(str(Path(app.srcdir) / picture["uri"]))
        if size and size[0] > WIDE * size[1]:
            picture["classes"].append("wide")


def setup(app: Sphinx) -> None:
    """Read docstrings in the style of numpydoc, and link pictures and reports."""
    app.connect("autodoc-process-docstring", read_sections)
    app.connect("source-read", link_reports)
    app.connect("autodoc-skip-member", leave_out_fields)
    app.connect("doctree-read", link_pictures)
