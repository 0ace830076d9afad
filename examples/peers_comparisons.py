"""Cells about the comparison of models by their values over folds: see peers_checks."""

from __future__ import annotations

import tempfile
from contextlib import redirect_stdout
from functools import cache
from inspect import signature
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
from peers_checks import CHECKS, NAMES, check, lacks, refused, score_table, verdict

import skewanova as sa

RATIO = 0.25  # test cases for each training case, of 80/20 hold-outs


def folds() -> pd.DataFrame:
    """Values of four models with odd names in 20 folds."""
    values = 0.5 + 0.05 * np.random.default_rng(1).normal(size=(20, 4)) + 0.04 * np.arange(4)
    return pd.DataFrame(values, columns=NAMES)


def long(table: pd.DataFrame, value: str = "iauprec") -> pd.DataFrame:
    """One row for each model and fold."""
    return table.reset_index(names="fold").melt("fold", var_name="model", value_name=value)


def gap() -> pd.DataFrame:
    """Return the folds with one value missing."""
    table = folds()
    table.iloc[0, 0] = np.nan
    return table


@cache
def comparison() -> sa.Comparison:
    """All of skewanova's results on these scores."""
    return sa.compare(score_table(), design="independent")


# --- shared training data -----------------------------------------------------------------------------------


def corrected_pairs() -> pd.DataFrame:
    """Paired t tests with the variance of Nadeau and Bengio."""
    return sa.inference.posthoc(long(folds()), ratio=RATIO, order=NAMES)


@check("two_overlap", "skewanova")
def _() -> str:
    difference = folds()[NAMES[0]] - folds()[NAMES[1]]
    expected = difference.mean() / np.sqrt(difference.var() * (1 / 20 + RATIO))
    return verdict(np.isclose(corrected_pairs()["statistic"].iloc[0], expected), "any test share")


@check("several_overlap", "skewanova")
def _() -> str:
    found = sa.inference.omnibus_test(long(folds()), ratio=RATIO, method="corrected_hotelling").to_frame()
    pairs = corrected_pairs()
    adjusted = (pairs["p_adjusted"] >= pairs["p_value"]).all()
    return verdict(0 < found["p_value"].iloc[0] < 1 and adjusted, "corrected T2; pairs, Holm")


@check("two_overlap", "baycomp")
def _() -> str:
    return verdict(baycomp_agrees(), "cross-validation, `runs=`")


@check("same", "baycomp")
def _() -> str:
    return verdict(baycomp_agrees(), "corrected t")


def baycomp_agrees() -> bool:
    """Whether four runs of five folds, which share as 20 hold-outs 80/20 do, have the corrected p-value."""
    from baycomp import two_on_single

    both = two_on_single(*(folds()[name].to_numpy() for name in NAMES[:2]), runs=4)
    return bool(np.isclose(2 * min(both), corrected_pairs()["p_value"].iloc[0], rtol=1e-9))


CHECKS["several_overlap", "baycomp"] = lacks("baycomp", "adjust", "holm", "bonferroni")
OVERLAP = ("nadeau", "overlap", "train", "test_size", "runs")
for _tool in ("autorank", "scikit-posthocs", "pingouin"):
    CHECKS["two_overlap", _tool] = CHECKS["several_overlap", _tool] = lacks(_tool, *OVERLAP)

# --- the same tests in skewanova ----------------------------------------------------------------------------


def smallest(method: str) -> float:
    """Smallest adjusted p of a family of pairs in skewanova."""
    return float(sa.inference.posthoc(long(folds()), method=method)["p_adjusted"].min())


@check("same", "autorank")
def _() -> str:
    found = ranked(folds(), force_mode="parametric")[0].pvalue
    model = sa.inference.two_way_anova(long(folds())).to_frame().query("term == 'model'")
    return verdict(np.isclose(found, model["p_value"].iloc[0], rtol=1e-9), "repeated measures F")


@check("same", "scikit-posthocs")
def _() -> str:
    from scikit_posthocs import posthoc_nemenyi_friedman

    found = posthoc_nemenyi_friedman(folds()).to_numpy().min()
    return verdict(np.isclose(found, smallest("nemenyi"), rtol=1e-9), "Nemenyi")


@check("same", "pingouin")
def _() -> str:
    from pingouin import pairwise_tests

    options = {"dv": "iauprec", "within": "model", "subject": "fold", "padjust": "holm"}
    found = pairwise_tests(long(folds()), **options)["p_corr"].min()
    return verdict(np.isclose(found, smallest("paired_t"), rtol=1e-9), "paired t, Holm")


# --- names, tables, reports ---------------------------------------------------------------------------------


def kept(names: object) -> str:
    """Whether these are the names that were given."""
    return verdict(set(names) == set(NAMES), "kept")


def escaped(latex: str) -> str:
    """Whether characters that LaTeX reads otherwise were escaped."""
    return "escaped" if r"\& 100\%" in latex else "names not escaped"


def ranked(table: pd.DataFrame, **options: object) -> tuple[object, str]:
    """Return what autorank finds, and what its LaTeX table prints."""
    from autorank import autorank, latex_table

    with redirect_stdout(StringIO()) as printed:
        result = autorank(table, **options)
        printed.truncate(printed.seek(0))
        latex_table(result)
    return result, printed.getvalue()


@check("names", "skewanova")
def _() -> str:
    return kept(comparison().ranking["model"])


@check("names", "autorank")
def _() -> str:
    return kept(ranked(folds())[0].rankdf.index)


@check("names", "scikit-posthocs")
def _() -> str:
    from scikit_posthocs import posthoc_nemenyi_friedman

    return kept(posthoc_nemenyi_friedman(folds()).index)


@check("names", "pingouin")
def _() -> str:
    from pingouin import pairwise_tests

    found = pairwise_tests(long(folds()), dv="iauprec", within="model", subject="fold")
    return kept({*found["A"], *found["B"]})


@check("names", "baycomp")
def _() -> str:
    from baycomp import two_on_single

    return "only in plots" if "names" in signature(two_on_single).parameters else "none"


@cache
def saved() -> dict[str, str]:
    """Text of the report that skewanova writes, by file."""
    with tempfile.TemporaryDirectory() as folder:
        comparison().save(Path(folder) / "report")
        files = [Path(folder) / "report" / name for name in ("tables/tables.tex", "report.html")]
        return {file.name: file.read_text(encoding="utf-8") for file in files}


@check("latex", "skewanova")
def _() -> str:
    return escaped(saved()["tables.tex"])


@check("latex", "autorank")
def _() -> str:
    return escaped(ranked(folds())[1])


@check("latex", "pingouin")
def _() -> str:
    from pingouin import pairwise_tests, print_table

    found = pairwise_tests(long(folds()), dv="iauprec", within="model", subject="fold")
    with redirect_stdout(StringIO()) as printed:
        print_table(found[["A", "B", "T"]], tablefmt="latex")
    return escaped(printed.getvalue())


@check("html", "skewanova")
def _() -> str:
    return verdict("<b>B</b>" not in (page := saved()["report.html"]) and "&lt;b&gt;B" in page, "yes")


@check("html", "autorank")
def _() -> str:
    from autorank import create_report, latex_report

    return verdict(callable(create_report) and callable(latex_report), "text and LaTeX")


for _tool in ("scikit-posthocs", "pingouin", "baycomp"):
    CHECKS.setdefault(("latex", _tool), lacks(_tool, "latex"))
    CHECKS["html", _tool] = lacks(_tool, "html")

# --- letters, equivalence, plans ----------------------------------------------------------------------------


@check("letters", "skewanova")
def _() -> str:
    letters = sa.inference.compact_letters(["A", "B", "C"], [("A", "C")])
    return verdict(letters == {"A": "a", "B": "ab", "C": "b"}, "yes")


@check("letters", "scikit-posthocs")
def _() -> str:
    from scikit_posthocs import compact_letter_display, posthoc_nemenyi_friedman

    letters = compact_letter_display(posthoc_nemenyi_friedman(folds()))
    return verdict(set(letters[NAMES[0]].strip()).isdisjoint(letters[NAMES[3]].strip()), "yes")


@check("letters", "autorank")
def _() -> str:
    from autorank import plot_stats

    return verdict(callable(plot_stats), "groups in its plot")


@check("rope", "skewanova")
def _() -> str:
    found = comparison().tables["equivalence"][["p_a_ahead", "p_equal", "p_b_ahead"]]
    return verdict(np.allclose(found.sum(axis=1), 1), "`rope=`")


@check("rope", "autorank")
def _() -> str:
    found = ranked(folds(), approach="bayesian", nsamples=500, random_state=1)[0]
    return verdict(found.rankdf["p_equal"].iloc[1:].between(0, 1).all(), '`approach="bayesian"`')


@check("rope", "pingouin")
def _() -> str:
    from pingouin import tost

    p_value = tost(folds()[NAMES[0]], folds()[NAMES[1]], bound=0.1, paired=True)["pval"].iloc[0]
    return verdict(0 < p_value < 1, "two models, `tost`")


@check("rope", "baycomp")
def _() -> str:
    from baycomp import two_on_single

    found = two_on_single(folds()[NAMES[0]].to_numpy(), folds()[NAMES[1]].to_numpy(), rope=0.02)
    return verdict(np.isclose(sum(found), 1), "two models, `rope=`")


@check("plan", "skewanova")
def _() -> str:
    plan = sa.plan_comparison(score_table(), difference=0.05, design="independent").to_frame()
    return verdict((plan["n_folds"] > 1).all(), "folds or cases")


@check("plan", "pingouin")
def _() -> str:
    from pingouin import power_ttest

    return verdict(power_ttest(d=0.5, power=0.8, contrast="paired") > 2, "from an effect size")


CHECKS["letters", "pingouin"] = lacks("pingouin", "letter")
CHECKS["letters", "baycomp"] = lacks("baycomp", "letter")
CHECKS["rope", "scikit-posthocs"] = lacks("scikit-posthocs", "rope", "equiv", "tost")
for _tool in ("autorank", "scikit-posthocs", "baycomp"):
    CHECKS["plan", _tool] = lacks(_tool, "power", "plan")

# --- gaps and other designs ---------------------------------------------------------------------------------


@check("missing", "skewanova")
def _() -> str:
    table = score_table()
    table = table[(table["model"] != NAMES[0]) | (table["fold"] != 0)]
    refusal = refused(lambda: sa.compare(table, design="independent"))
    found = sa.compare(table, design="independent", missing="drop")
    both = refusal == "refused" and "mixed" in set(found.tests["test"])
    return verdict(both, "refused; or fold dropped, mixed model added")


@check("missing", "autorank")
def _() -> str:
    return verdict(np.isnan(ranked(gap())[0].pvalue), "p is nan")


@check("missing", "scikit-posthocs")
def _() -> str:
    from scikit_posthocs import posthoc_nemenyi_friedman

    found, without = (posthoc_nemenyi_friedman(table) for table in (gap(), gap().dropna()))
    return "fold dropped" if np.allclose(found, without) else "ranks of the values left"


@check("missing", "pingouin")
def _() -> str:
    from pingouin import rm_anova

    options = {"dv": "iauprec", "within": "model", "subject": "fold"}
    found, without = (rm_anova(long(table), **options)["F"].iloc[0] for table in (gap(), gap().dropna()))
    return verdict(np.isclose(found, without), "fold dropped")


@check("missing", "baycomp")
def _() -> str:
    from baycomp import two_on_single

    both = two_on_single(gap()[NAMES[0]].to_numpy(), gap()[NAMES[1]].to_numpy())
    return verdict(np.isnan(both).all(), "p is nan")


@check("factors", "pingouin")
def _() -> str:
    from pingouin import ancova

    rng = np.random.default_rng(1)
    table = long(folds()).assign(size=rng.normal(size=80))
    return verdict(
        len(ancova(table, dv="iauprec", covar="size", between="model")) == 3, "`ancova`, `mixed_anova`"
    )


for _tool in ("skewanova", "autorank", "scikit-posthocs", "baycomp"):
    CHECKS["factors", _tool] = lacks(_tool, "covariate", "ancova", "between")
