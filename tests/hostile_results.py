"""Comparisons of models whose names are hostile."""

import warnings

import numpy as np
from fold_tables import draw_rows

from skewanova.comparison.pipeline import compare
from skewanova.report.document import build_provenance, render_page

SCRIPT = "<script>alert(1)</script>"


HOSTILE = (
    SCRIPT, "a_b%$", "../x", "say \"hi\" & 'bye'", "two\nlines\rand\ttab --> ]]> \\end{document} ^~#{}|"
)  # fmt: skip


def render_html(source):
    """The page of a comparison, in no folder."""
    return render_page(source, build_provenance(source))


def simulated(names, n_folds=4, priors=(0.5, 0.1), **options):
    rng, positive = np.random.default_rng(7), np.repeat([True, False], [30, 90])
    frame = draw_rows(dict.fromkeys(names, 2.0), range(1, n_folds + 1), positive, rng)
    with warnings.catch_warnings(action="ignore"):
        return compare(frame, at_priors=priors, **options)
