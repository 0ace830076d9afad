"""Run other tools on the tables of make_values.py and write what they print to values_peers.csv.

In a new environment: ``pip install autorank==1.3.0 scikit-posthocs==0.17.1 baycomp==1.0.3 mlxtend==0.25.0
pingouin==0.7.0 stambo==0.1.6``, then ``python make_values.py && python values_peers.py``.
"""

import warnings
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

import baycomp
import numpy as np
import pandas as pd
import pingouin
import scikit_posthocs
import stambo
from autorank import autorank
from make_values import MODELS
from mlxtend.evaluate import combined_ftest_5x2cv, paired_ttest_5x2cv
from sklearn.datasets import load_wine

HERE = Path(__file__).parent
PAIRS = list(combinations(MODELS, 2))
ROPE = 0.01


def read(name):
    return pd.read_csv(HERE / f"values_{name}.csv")[list(MODELS)]


def bayesian(name, runs):
    """Baycomp's correlated t test."""
    table = read(name)
    for a, b in PAIRS:
        parts = baycomp.two_on_single(table[a].to_numpy(), table[b].to_numpy(), rope=ROPE, runs=runs)
        for quantity, value in zip(("left", "rope", "right"), parts, strict=True):
            yield name, "baycomp", "two_on_single", a, b, quantity, value


def bayesian_ranks(name):
    """Baycomp's signed ranks of data sets."""
    table = read(name)
    for a, b in PAIRS:
        x, y = table[a].to_numpy(), table[b].to_numpy()
        parts = baycomp.two_on_multiple(x, y, rope=ROPE, random_state=1)
        for quantity, value in zip(("left", "rope", "right"), parts, strict=True):
            yield name, "baycomp", "two_on_multiple", a, b, quantity, value


def ranked(name):
    """Autorank's test of all models and its critical distance of mean ranks."""
    table = read(name)
    result = autorank(table, force_mode="nonparametric", alpha=0.05)
    yield name, "autorank", "friedman", "", "", "p", result.pvalue
    yield name, "autorank", "nemenyi", "", "", "critical_distance", result.cd
    for model in MODELS:
        yield name, "autorank", "nemenyi", model, "", "mean_rank", result.rankdf.loc[model, "meanrank"]


def posthocs(name):
    """Nemenyi's and Wilcoxon's tests of scikit-posthocs."""
    table = read(name)
    nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(table)
    long = table.melt(var_name="model")
    wilcoxon = {
        adjust: scikit_posthocs.posthoc_wilcoxon(long, val_col="value", group_col="model", p_adjust=adjust)
        for adjust in (None, "holm")
    }
    for a, b in PAIRS:
        yield name, "scikit-posthocs", "posthoc_nemenyi_friedman", a, b, "p_adjusted", nemenyi.loc[a, b]
        yield name, "scikit-posthocs", "posthoc_wilcoxon", a, b, "p", wilcoxon[None].loc[a, b]
        yield name, "scikit-posthocs", "posthoc_wilcoxon", a, b, "p_adjusted", wilcoxon["holm"].loc[a, b]


def pairwise(name):
    """Pingouin's Friedman, Wilcoxon's and paired t tests."""
    long = read(name).reset_index(names="fold").melt("fold", var_name="model")
    options = {"dv": "value", "within": "model", "subject": "fold"}
    f = pingouin.friedman(long, method="f", **options)
    for quantity in ("F", "ddof1", "ddof2", "p_unc"):
        yield name, "pingouin", "friedman, f", "", "", quantity, f[quantity].iloc[0]
    for parametric, test, statistic in ((False, "wilcoxon", "W_val"), (True, "paired_t", "T")):
        pairs = pingouin.pairwise_tests(long, parametric=parametric, padjust="holm", **options)
        for row in pairs.to_dict("records"):
            for quantity in (statistic, "p_unc", "p_corr"):
                yield name, "pingouin", f"{test}, holm", row["A"], row["B"], quantity, row[quantity]


def five_by_two():
    """Both 5x2 tests of mlxtend."""
    X, y = load_wine(return_X_y=True)
    for a, b in PAIRS:
        for function, statistic in ((paired_ttest_5x2cv, "t"), (combined_ftest_5x2cv, "F")):
            values = function(MODELS[a], MODELS[b], X, y, random_seed=1)
            for quantity, value in zip((statistic, "p"), values, strict=True):
                yield "five_by_two", "mlxtend", function.__name__, a, b, quantity, value


def bootstrapped(name):
    """Stambo's percentile bootstrap of the difference of means."""
    table = read(name)
    for a, b in PAIRS:
        x, y = table[b].to_numpy(), table[a].to_numpy()
        result = stambo.two_sample_test(x, y, {"mean": np.mean}, n_bootstrap=5000, seed=1, silent=True)
        for quantity, value in zip(("p", "estimate", "low", "high"), result["mean"][:4], strict=True):
            yield name, "stambo", "two_sample_test", a, b, quantity, value


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # ties, and few data sets
    rows = [
        *bayesian("repeated_cv", 10), *bayesian("five_by_two", 5), *bayesian_ranks("datasets"),
        *ranked("datasets"), *ranked("repeated_cv"), *posthocs("datasets"),
        *pairwise("datasets"), *pairwise("repeated_cv"), *five_by_two(),
        *bootstrapped("datasets"), *bootstrapped("repeated_cv"),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["input", "tool", "test", "model_a", "model_b", "quantity", "value"])
    frame.insert(2, "version", frame["tool"].map({tool: version(tool) for tool in frame["tool"].unique()}))
    frame.to_csv(HERE / "values_peers.csv", index=False, float_format="%.10g")
