"""Comparisons of models whose names are hostile."""

import warnings

import numpy as np
import pandas as pd
from fold_tables import score_rows

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
    rng = np.random.default_rng(7)
    positive = np.repeat([True, False], [30, 90])
    parts = [
        score_rows(name, f, positive, rng.normal(positive * 2 - 0.2 * k))
        for f in range(1, n_folds + 1)
        for k, name in enumerate(names)
    ]
    with warnings.catch_warnings(action="ignore"):
        return compare(pd.concat(parts), at_priors=priors, **options)
