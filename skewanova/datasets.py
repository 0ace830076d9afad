"""The bundled example: held-out scores of three models on the Satellite data."""

from __future__ import annotations

from importlib.resources import as_file, files

from skewanova._score_table import ScoreTable
from skewanova.scores import scores_from_wide


def load_satellite_scores() -> ScoreTable:
    """Scores of Landgrebe et al.'s models A, B and C over 20 random hold-outs of the Satellite data.

    A is a mixture of Gaussians on three principal components; B and C are nearest-prototype classifiers with
    15 and 50 prototypes. `examples/satellite.py` trains them and writes these scores.

    Returns
    -------
    ScoreTable
        77,220 rows: 3 models, 20 folds, 1,287 cases a fold.

    References
    ----------
    Landgrebe et al. (2006), section 6; Statlog (Landsat Satellite), UCI Machine Learning Repository,
    CC BY 4.0.

    Examples
    --------
    >>> from skewanova import load_satellite_scores
    >>> load_satellite_scores().models
    ('A', 'B', 'C')
    """
    with as_file(files("skewanova") / "_data" / "satellite_scores.csv.gz") as path:
        return scores_from_wide(path, fold="fold", case="case", models=("A", "B", "C"))
