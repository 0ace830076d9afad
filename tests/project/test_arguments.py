"""Numbers that nobody means, in public arguments: a result, or an error of ours, and no raw warning."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from fold_tables import draw_rows
from loops import each

import skewanova as sa

VALUES = {
    "nan": np.nan, "inf": np.inf, "-inf": -np.inf, "-1": -1, "0": 0, "1": 1, "1e-300": 1e-300,
    "1e300": 1e300, "1e308": 1e308, "huge": 10**30, "text": "a", "none": None, "true": True,
    "complex": 1 + 2j, "list": [0.1, 0.2], "array": np.array([0.1, 0.2, 0.3]), "empty": np.array([]),
    "NA": pd.NA, "dict": {},
}  # fmt: skip


def frame(n_folds, tests):
    labels = (np.arange(tests) % 3 == 0).astype(int)
    rng = np.random.default_rng(0)
    return sa.read_scores(draw_rows({"A": 1.2, "B": 0.8}, range(n_folds), labels, rng, stride=tests))


FOLDS, ONE = frame(3, 24), frame(1, 30)
LABELS = (np.arange(30) % 3 == 0).astype(int)
SCORES = np.random.default_rng(1).normal(size=(30, 2)) + LABELS[:, None]
with warnings.catch_warnings(action="ignore", category=sa.SkewanovaWarning):
    MEASURES = sa.evaluate(FOLDS, at_priors=(0.5, 0.1))
MEANS = MEASURES.iauprec
ANOVA = sa.inference.two_way_anova(MEANS)
interval = partial(sa.confidence_interval, LABELS, SCORES[:, 0])


def weighting(prior):
    prior.quadrature()
    return prior.low, prior.high, prior.describe()


#: Public arguments, by name.
CALLS = {
    "skew_from_prior": sa.skew_from_prior, "prior_from_skew": sa.prior_from_skew,
    "UniformPrior.low": lambda v: weighting(sa.UniformPrior(v, 0.5)),
    "UniformPrior.high": lambda v: weighting(sa.UniformPrior(0.1, v)),
    "UniformSkew.low": lambda v: weighting(sa.UniformSkew(v, 1e5)),
    "UniformSkew.high": lambda v: weighting(sa.UniformSkew(1, v)),
    "BetaPrior.a": lambda v: weighting(sa.BetaPrior(v, 1)),
    "BetaPrior.b": lambda v: weighting(sa.BetaPrior(2, v)),
    "BetaPrior.both": lambda v: weighting(sa.BetaPrior(v, v)),
    "DiscretePrior.priors": lambda v: weighting(sa.DiscretePrior(v)),
    "DiscretePrior.weights": lambda v: weighting(sa.DiscretePrior((0.1, 0.2), (v, v))),
    "from_quantiles": lambda v: sa.BetaPrior.from_quantiles({0.05: 0.02, 0.95: v}),
    "auprec_score": lambda v: sa.auprec_score(LABELS, SCORES[:, 0], prior=v),
    "iauprec_score": lambda v: sa.iauprec_score(LABELS, SCORES[:, 0], deployment_prior=v),
    "confidence_interval.level": lambda v: interval(prior=0.1, confidence_level=v),
    "confidence_interval.prior": lambda v: interval(prior=v),
    "confidence_interval.rng": lambda v: interval(prior=0.1, method="bca", rng=v),
    "evaluate.priors": lambda v: sa.evaluate(ONE, at_priors=v),
    "evaluate.a_prior": lambda v: sa.evaluate(ONE, at_priors=(v,)),
    "ranking.alpha": lambda v: sa.decision.rank_models(MEASURES, alpha=v),
    "evaluate.test_fraction": lambda v: sa.FoldDesign("auto", v),
    "evaluate.resampling": lambda v: sa.evaluate(FOLDS, design=v),
    "decisions.rng": lambda v: sa.decision.decision_table(MEASURES, rng=v),
    "crossings.alpha": lambda v: sa.decision.find_crossings(MEASURES, alpha=v),
    "posthoc.ratio": lambda v: sa.inference.posthoc(MEANS, ratio=v),
    "omnibus_test.ratio": lambda v: sa.inference.omnibus_test(MEANS, method="corrected_gg", ratio=v),
    "omnibus_test.method": lambda v: sa.inference.omnibus_test(MEANS, method=v),
    "difference_curves.n_draws": lambda v: sa.decision.difference_curves(MEASURES, [0.1], n_draws=v),
    "auprec_bands.priors": lambda v: sa.decision.auprec_bands(MEASURES, v, n_draws=99),
    "equivalence.rope": lambda v: sa.inference.equivalence(MEASURES, rope=v),
    "two_way_anova.alpha": lambda v: sa.inference.two_way_anova(MEANS, alpha=v),
    "two_way_anova.sum_of_squares": lambda v: sa.inference.two_way_anova(MEANS, sum_of_squares=v),
    "tukey_hsd.alpha": lambda v: sa.inference.tukey_hsd(ANOVA, alpha=v),
    "posthoc.alpha": lambda v: sa.inference.posthoc(MEASURES, alpha=v),
    "posthoc.rng": lambda v: sa.inference.posthoc(MEANS, method="max_t", rng=v),
    "threshold_table.threshold": lambda v: sa.threshold_table(ONE, threshold=v),
    "threshold_table.recall": lambda v: sa.threshold_table(ONE, recall=v),
    "threshold_table.precision": lambda v: sa.threshold_table(ONE, precision=v),
    "threshold_table.costs": lambda v: sa.threshold_table(ONE, costs=(v, v)),
    "threshold_table.a_prior": lambda v: sa.threshold_table(ONE, costs=(1, 10), at_priors=(v,)),
    "threshold_table.level": lambda v: sa.threshold_table(ONE, recall=0.5, confidence_level=v),
    "compare_test_set.prior": lambda v: sa.inference.compare_test_set(LABELS, SCORES, prior=v),
    "compare_test_set.level":
        lambda v: sa.inference.compare_test_set(LABELS, SCORES, prior=0.1, confidence_level=v),
}  # fmt: skip


@each("argument", CALLS)
def test_no_number_gives_a_foreign_error_or_warning(argument):
    foreign = {}
    for name, value in VALUES.items():
        with warnings.catch_warnings(action="error"):
            warnings.simplefilter("ignore", sa.SkewanovaWarning)
            try:
                CALLS[argument](value)
            except (sa.InputError, sa.InputTypeError):
                pass
            except Exception as error:  # noqa: BLE001 - whatever is not ours is what this test looks for
                foreign[name] = f"{type(error).__name__}: {error}"
    assert not foreign


#: Numbers that `compare` takes, and what none of them can be.
OF_COMPARE = {
    "alpha": "nan inf -1 0 1 1e300 huge text complex list empty NA dict",
    "rope": "nan inf -inf -1 1e300 huge text complex list empty NA dict",
    "rng": "nan inf -1 1e-300 text complex NA dict",
    "at_priors": "nan inf -inf -1 0 1 1e300 huge text complex empty NA dict",
    "deployment_prior": "nan inf -1 0 1 1e300 huge text complex empty dict",
}


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
@pytest.mark.parametrize("argument", OF_COMPARE)
def test_compare_refuses_what_no_number_of_it_can_be(argument):
    for name in OF_COMPARE[argument].split():
        with pytest.raises((sa.InputError, sa.InputTypeError)):
            sa.compare(FOLDS, **({"at_priors": (0.5,)} | {argument: VALUES[name]}))


WRONG = {
    "alpha": (0.0, "`alpha` must lie above 0 and at most 0.5"),
    "rope": (-1.0, "`rope` must be a difference that would not matter, 0 or more, but got -1"),
    "control": ("nobody", "`control` must be one of A, B; but got 'nobody'"),
    "rng": (-1, "`rng` must be a whole number of 0 or more"),
}


@each("argument", WRONG)
def test_options_are_checked_alike_for_folds_one_set_and_several(argument):
    value, message = WRONG[argument]
    several = {"one": FOLDS.frame, "two": FOLDS.frame}
    for compare, scores in ((sa.compare, FOLDS), (sa.compare, ONE), (sa.compare_datasets, several)):
        with pytest.raises((sa.InputError, sa.InputTypeError), match=message):
            compare(scores, **{argument: value})
