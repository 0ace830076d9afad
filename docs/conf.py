"""Sphinx configuration: `make docs` builds the site to docs/_build/html, warnings being errors."""

import skewanova

project = "skewanova"
author = "The skewanova developers"
version = release = skewanova.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"skewanova {version}"
html_show_sphinx = False
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"  # types stand in the numpydoc sections
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
nitpicky = False
