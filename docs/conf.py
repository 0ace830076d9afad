"""Sphinx configuration: `make docs` builds the site to docs/_build/html, warnings being errors.

The build makes the sample reports anew and runs the notebooks, so that none is older than the code.
"""

import contextlib
import logging
import os
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import skewanova

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import gallery
import samples

project = "skewanova"
author = "The skewanova developers"
project_copyright = f"2026, {author}"
version = release = skewanova.__version__
extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_theme_options = {"top_of_page_buttons": []}
html_title = f"skewanova {version}"
html_show_sphinx = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # seconds a cell, on a busy machine
nb_output_stderr = "remove-warn"  # a warning in a notebook is an error of the build
autosummary_generate = True
autodoc_typehints = "none"  # types stand in the numpydoc sections
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

logging.getLogger("matplotlib.font_manager").setLevel(
    logging.ERROR
)  # fonts that it looks for and does not need

#: Every name of the API in a page or docstring leads somewhere.
nitpicky = True

#: Other packages' references are fetched by the network: only where pages are published, or on demand.
if os.environ.get("READTHEDOCS") or os.environ.get("SKEWANOVA_DOCS_ONLINE"):
    extensions.append("sphinx.ext.intersphinx")
else:
    nitpick_ignore_regex = [(r"py:.*", r"(numpy|scipy|pandas|matplotlib|sklearn|warnings)(\..*)?")]
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "pandas": ("https://pandas.pydata.org/docs", None),
    "matplotlib": ("https://matplotlib.org/stable", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
}
linkcheck_anchors_ignore_for_url = [r"https://github\.com/.*"]  # drawn by a script, unseen by the checker
linkcheck_ignore = [r"https://doi\.org/.*"]  # publishers refuse programs

#: Where the files are that are no pages of the site.
REPOSITORY = "https://github.com/skewanova/skewanova"

#: Constants have no docstring of their own: without one, that of `tuple` would be shown.
CONSTANTS = {"skewanova.curves.ESTIMATORS": "Names of the estimators of the area."}


def describe_constant(
    _app: Sphinx, _kind: str, name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    """Put the text of `CONSTANTS` in the place of the docstring."""
    if name in CONSTANTS:
        lines[:] = [CONSTANTS[name]]


def drop_signature(
    _app: Sphinx, kind: str, _name: str, found: Any, _options: Any, signature: str, returned: str
) -> tuple[str, str]:
    """Show no signature of classes whose docstring has no parameters: functions make them, not users."""
    made_by_users = kind != "class" or "Parameters\n" in (found.__doc__ or "")
    return (signature, returned) if made_by_users else ("", "")


def link_repository(_app: Sphinx, docname: str, source: list[str]) -> None:
    """Point relative links that leave this folder to the repository."""
    up = "../" * (docname.count("/") + 1)
    source[0] = source[0].replace(f"]({up}", f"]({REPOSITORY}/blob/main/")


def link_back(_app: Sphinx, name: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Point a page of source back to the names that the reference uses: viewcode takes one package a file."""
    if name.startswith("_modules/"):
        link = r"(/generated/((?:\w+\.)+(\w+))\.html#)(?:\w+\.)+?\3\b"
        context["body"] = re.sub(link, r"\1\2", context["body"])


def make_samples(app: Sphinx) -> None:
    """Write the sample tables, their reports and the pictures of the gallery, beside the pages."""
    folder = Path(app.outdir).resolve() / "samples"
    samples.write_samples(folder)
    with contextlib.chdir(folder):
        gallery.draw_pictures(folder.parent / "gallery", gallery.PAGE.read_text(encoding="utf-8"))
    os.environ["SKEWANOVA_SAMPLES"] = str(folder)  # for the notebooks


def show_pictures(_app: Sphinx, name: str, source: list[str]) -> None:
    """Put the pictures on the page of the gallery."""
    if name == "gallery":
        source[0] = gallery.add_pictures(source[0], "gallery")


def setup(app: Sphinx) -> None:
    """Connect the functions above."""
    app.connect("builder-inited", make_samples)
    app.connect("source-read", show_pictures)
    app.connect("source-read", link_repository)
    app.connect("html-page-context", link_back)
    app.connect("autodoc-process-docstring", describe_constant, priority=400)
    app.connect("autodoc-process-signature", drop_signature)
