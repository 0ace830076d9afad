"""Small frames of tests, as tables and sentences take them."""

import numpy as np
import pandas as pd

NAN = float("nan")


def frame_of(columns, *rows):
    """A frame of rows under column names that are separated by spaces."""
    return pd.DataFrame(rows, columns=columns.split())


def posthoc(*rows, **columns):
    """Pairwise comparisons: the two models, estimate, adjusted p, whether rejected."""
    frame = frame_of("model_a model_b estimate p_adjusted reject", *rows)
    defaults = {"test": "tukey", "response": "iauprec", "prior": NAN, "std_error": 0.1}
    return frame.assign(**(defaults | {"conf_low": -0.1, "conf_high": 0.3} | columns))


ANOVA = frame_of(
    "test response term df df_error sum_sq statistic p_value partial_eta_sq breakdown_correlation",
    ("two_way", "iauprec", "model", 2.0, 38.0, 0.12345, 15.254, 0.00001, 0.4, 0.55),
    ("two_way", "iauprec", "residual", 38.0, NAN, 0.3, NAN, NAN, NAN, NAN),
    ("odd_test", "iauprec", "model", 1.234567, 20.5, 0.2, np.inf, 0.0, 1.0, 1.0),
    ("three_way", "auprec", "model", 1.0, 5.0, 0.2, NAN, NAN, NAN, NAN),
)
