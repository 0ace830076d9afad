"""Every table of a comparison, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.frames import records
from skewanova.base.rounding import TIE, is_maximum
from skewanova.base.text import (
    MAX_ROWS,
    Table,
    format_factor,
    format_number,
    format_p,
    format_with_error,
    limits,
    number,
    open_interval,
    table_of,
    truncate_rows,
    without,
)
from skewanova.decision.operating import MEAN, OTHER_CASES
from skewanova.inference.catalogue import get_test, response_name
from skewanova.report.source import (
    MOST_PRIORS,
    evenly,
)
from skewanova.scores.design import FoldDesign

#: How the intervals of the ranking were found.
_OVER_FOLDS = "t over folds"


_OVERLAPPING = "t over folds, allowing for the training data they share"


_OVER_CASES = "over samples of cases"


_OVER_RUNS = "t over runs and cases"


_OVER_CASES_POSTERIOR = "t posterior of each pair's difference over cases, under a flat prior."


_OVER_FOLDS_POSTERIOR = (
    "Bayesian correlated t test with flat priors, allowing for the training data that folds share."
)


_HALVED_POSTERIOR = "t posterior of each pair's difference by the split-half variance, under a flat prior."


#: What P(best) is, and why it is not 1 - p, nor always in the order of the means.
BEST_NOTE = (
    "probability that the true IAUPREC is the largest; it takes models as alike until the data tell them "
    "apart, so it is more cautious than p, and a mean that varies more counts for less"
)


_TOGETHER = (
    "Adjusted p hold together for the pairs of one test and measure, at {:g}. The interval of an adjusted t "
    "test is at the level of the step that decided its pair: it holds no 0 where the pair differs. Those of "
    "other tests hold together."
)


def performance_table(auprec: pd.DataFrame, iauprec: pd.DataFrame, ranking: pd.DataFrame) -> Table:
    """Mean and standard deviation over folds of every measure: table 1 of Landgrebe et al. 2006."""
    models = ranking["model"].tolist()
    priors = auprec["prior"].unique()
    displayed = evenly(priors, MOST_PRIORS)
    by_prior = dict(iter(auprec[auprec["prior"].isin(displayed)].groupby("prior", sort=False, observed=True)))
    groups = dict(zip(_prior_heads(displayed), by_prior.values(), strict=True))
    columns = {head: group.groupby("model", observed=True)["auprec"] for head, group in groups.items()}
    columns["IAUPREC"] = iauprec.groupby("model", observed=True)["iauprec"]
    columns["AUC"] = iauprec.groupby("model", observed=True)["auc"]
    means = {head: by_model.mean().loc[models] for head, by_model in columns.items()}
    spreads = {head: by_model.std().loc[models] for head, by_model in columns.items()}
    rows = [(m, *(format_with_error(means[head][m], spreads[head][m]) for head in columns)) for m in models]
    best = frozenset(
        (i, j)
        for j, head in enumerate(columns, start=1)
        for i in np.flatnonzero(is_maximum(means[head])).tolist()
    )
    over_folds = any(spread.notna().any() for spread in spreads.values())
    what = "AUPREC at each prior, IAUPREC and AUC"
    return Table(
        "measures",
        f"Mean (standard deviation over folds) of {what}" if over_folds else f"{what} on the test set",
        ("Model", *columns),
        tuple(rows),
        bold=best,
        note=""
        if len(displayed) == len(priors)
        else f"{len(displayed)} of {len(priors):,} priors: auprec.csv holds them all.",
    )


#: Columns of the ranking that rest on tests, and what stands in their place where none is trusted.
OF_TESTS, NO_GROUPS = ("Group", "P(best)"), "No test is trusted here, so there are no groups"


def ranking_table(
    ranking: pd.DataFrame,
    level: float,
    *,
    design: FoldDesign,
    sizes: pd.DataFrame,
    deployment_prior: str,
    trusted: bool = True,
) -> Table:
    """Ranking with intervals, regret and the probability of being best; the deployment prior in words.

    `sizes` has the columns n_positive and n_negative.
    """
    over_folds, runs = ranking["std"].notna().any(), design.has_runs
    means = f"Ranking by mean IAUPREC over {'runs' if runs else 'folds'}"
    shared = _OVERLAPPING if design.overlapping else _OVER_FOLDS
    way = (_OVER_RUNS if runs else shared) if over_folds else _OVER_CASES
    groups = f"{group_note(ranking)}. P(best): {BEST_NOTE}" if trusted else NO_GROUPS
    table = table_of(
        "ranking",
        means if over_folds else "Ranking by IAUPREC on the test set",
        ranking,
        {
            "Model": lambda row: row.model,
            "IAUPREC": number("iauprec"),
            f"{100 * level:g} % interval": limits,
            "Group": lambda row: row.group,
            "P(best)": number("p_best", 2),
            "At rarest": number("auprec_at_rarest"),
            "Regret": number("expected_regret"),
            "Max regret": number("max_regret"),
        },
        note=(
            f"{sizes_note(sizes, design)}. IAUPREC: {'mean ' if over_folds else ''}AUPREC averaged over the "
            f"deployment prior, {deployment_prior}. Interval: {way}, about {design.population}; whether two "
            f"overlap is no test. {groups}. At rarest: AUPREC at prior {ranking['rarest_prior'].iloc[0]:g}, "
            "the rarest of the deployment. Regret: mean shortfall from the best model at each prior of the "
            "deployment; max: the largest."
        ),
    )
    return table if trusted else without(without(table, OF_TESTS[0]), OF_TESTS[1])


def sizes_note(sizes: pd.DataFrame, design: FoldDesign) -> str:
    """How many folds or runs there are, and how many cases of each class in each of them."""
    ends = {kind: (sizes[f"n_{kind}"].min(), sizes[f"n_{kind}"].max()) for kind in ("positive", "negative")}
    cases = " and ".join(
        f"{low:,.10g}{'' if low == high else f' to {high:,.10g}'} {kind}s"
        for kind, (low, high) in ends.items()
    )
    if design.is_test_set:
        return f"Test set: {cases}"
    word = "Runs" if design.has_runs else "Folds"
    return f"{word}: {design.n_folds}, each of {cases}"


def group_note(ranking: pd.DataFrame) -> str:
    """What the column group says, but for the full stop."""
    control = ranking.loc[ranking["group"] == "control", "model"]
    if control.empty:
        return "Models that share a letter were not found to differ"
    return f"Group: ahead of the control, {control.iloc[0]}, or behind it; blank if not found to differ"


def tests_table(tests: pd.DataFrame) -> Table:
    """Every analysis of variance, a row a term."""
    return table_of(
        "tests",
        "Analysis of variance",
        tests,
        {
            "Test": lambda row: f"{get_test(row.test).name}, {response_name(row.response)}",
            "Term": lambda row: row.term,
            "df": lambda row: _df(row.df),
            "Error df": lambda row: _df(row.df_error),
            "Sum of squares": number("sum_sq", 4),
            "F": number("statistic", 2),
            "p": lambda row: format_p(row.p_value),
            "Partial eta sq.": number("partial_eta_sq"),
            "Breakdown corr.": number("breakdown_correlation", 2),
        },
    )


def pairs_table(pairs: pd.DataFrame, alpha: float) -> Table:
    """Pairwise differences with intervals."""
    displayed, cut = truncate_rows(pairs, "pairs.csv")
    return table_of(
        "pairs",
        "Pairwise differences",
        displayed,
        {
            "Pair": _pair,
            "Test": lambda row: get_test(row.test).name,
            "Measure": lambda row: (
                response_name(row.response) + ("" if np.isnan(row.prior) else f"({row.prior:g})")
            ),
            **_difference(alpha),
        },
        note=f"{_TOGETHER.format(alpha)} {cut}".strip(),
    )


def _pair(row: Any) -> str:
    return f"{row.model_a} - {row.model_b}"


def _difference(alpha: float) -> dict[str, Callable[[Any], str]]:
    """Cells of a tested difference."""
    return {
        "Difference": number("estimate"),
        "Interval": limits,
        "Adjusted p": lambda row: format_p(row.p_adjusted),
        f"Differ at {alpha:g}": _differs,
    }


def _differs(row: Any) -> str:
    """What the test says of a pair, if there was one."""
    return "not tested" if np.isnan(row.p_adjusted) else "yes" if row.reject else "no"


def prior_pairs_table(prior_pairs: pd.DataFrame, alpha: float) -> Table:
    """Pairwise differences between priors, all models together."""
    displayed, cut = truncate_rows(prior_pairs, "prior_pairs.csv")
    caption = "Differences of AUPREC between priors (Tukey HSD, 3-way mean square)"
    cells = {"Priors": lambda row: f"{row.prior_a:g} - {row.prior_b:g}", **_difference(alpha)}
    return table_of("priors", caption, displayed, cells, note=cut)


def regions_table(regions: pd.DataFrame) -> Table:
    """Which model leads at which prior."""
    return table_of(
        "regions",
        "Largest mean AUPREC by prior (the lead is not tested)",
        regions,
        {
            "Model": lambda row: row.model,
            "Priors": lambda row: f"{row.prior_low:.4g} to {row.prior_high:.4g}",
            "Mean lead": number("margin", 4),
            "Runner-up": lambda row: row.runner_up,
        },
    )


def _prior_heads(priors: Iterable[float]) -> list[str]:
    """Column heads with as few digits as keep the priors apart."""
    values = list(priors)
    heads: list[str] = []
    for digits in range(6, 18):
        heads = [f"AUPREC({p:.{digits}g})" for p in values]
        if len(set(heads)) == len(heads):
            break
    return heads


def intervals_table(intervals: pd.DataFrame, claim: str) -> Table:
    """Confidence intervals of every model and fold, and what they are about."""
    about = f"Each interval is its own, about {claim}: what training anew would change is not in it."
    if (intervals["level"] != "fold").any():
        about += " Rows in brackets take the models of all folds for one."
    notes = dict.fromkeys([about, *(text for text in intervals["warning"] if text)])
    return table_of(
        "intervals",
        "Confidence intervals",
        intervals,
        {
            "Model": lambda row: row.model,
            "Fold": _fold_or,
            "AUPREC": number("estimate"),
            f"{100 * intervals['confidence_level'].iloc[0]:g} % interval": limits,
            "Method": lambda row: row.method,
        },
        note=" ".join(notes),
    )


def _fold_or(row: Any) -> str:
    """The fold, or what the row is about where it has none: in brackets, as no fold is called."""
    return str(row.fold) if row.level == "fold" else f"({row.level})"


def effects_table(effects: pd.DataFrame, level: float, *, per: str = "fold") -> Table:
    """Effect size of every pair: the difference, and the same in standard deviations."""
    displayed, cut = truncate_rows(effects, "effects.csv")
    return table_of(
        "effects",
        "Effect sizes: difference in IAUPREC, and in standard deviations",
        displayed,
        {
            "Pair": _pair,
            "Difference": number("estimate"),
            f"{100 * level:g} % interval": limits,
            "Effect": number("effect", 2),
            "Its interval": lambda row: _range_of(row.effect_low, row.effect_high),
        },
        note=f"Effect: difference over the standard deviation it has in one {per}, by the noncentral t "
        f"distribution. Intervals are each pair's own. {cut}".strip(),
    )


def _range_of(low: float, high: float) -> str:
    return "" if np.isnan(low) else f"{format_number(low, 2)} to {format_number(high, 2)}"


def equivalence_table(equivalence: pd.DataFrame, *, test_set: bool = False, halved: bool = False) -> Table:
    """Tests and probability that two models are practically equal."""
    over_folds = _HALVED_POSTERIOR if halved else _OVER_FOLDS_POSTERIOR
    displayed, cut = truncate_rows(equivalence, "equivalence.csv")
    width = equivalence["rope"].iloc[0]
    return table_of(
        "equivalence",
        f"Whether a pair differs by less than {width:g} in IAUPREC",
        displayed,
        {
            "Pair": _pair,
            "Adjusted p": lambda row: format_p(row.p_adjusted),
            "Practically equal": lambda row: "yes" if row.equivalent else "not shown",
            "P(first ahead)": number("p_a_ahead", 2),
            "P(equal)": number("p_equal", 2),
            "P(second ahead)": number("p_b_ahead", 2),
        },
        note="Adjusted p: of two one-sided t tests that the difference is within the limits. "
        "Probabilities: "
        f"{_OVER_CASES_POSTERIOR if test_set else over_folds} P(best) of the ranking is more cautious: it "
        f"takes models as alike until the data tell them apart. {cut}".strip(),
    )


def assumptions_table(assumptions: pd.DataFrame) -> Table:
    """Return what the tests assume, and what follows."""
    return table_of(
        "assumptions",
        "Assumptions of the tests",
        assumptions,
        {
            "Check": lambda row: row.check.replace("_", " "),
            "Statistic": number("statistic"),
            "p": lambda row: format_p(row.p_value),
            "Advice": lambda row: row.advice or "nothing to add",
        },
    )


def _df(value: float) -> str:
    """Degrees of freedom, which need not be whole; without decimals where they are, but for rounding."""
    whole = np.isfinite(value) and abs(value - round(value)) <= TIE * max(1.0, abs(value))
    return f"{value:.0f}" if whole else format_number(value, 2)


HEADS = {
    "recall": "Recall",
    "fpr": "FPR",
    "precision": "Precision",
    "npv": "NPV",
    "flagged": "Flagged",
    "error_rate": "Error",
    "f_measure": "F1",
    "expected_cost": "Cost",
}


RULES = {
    "threshold": "score at least {target:g}",
    "recall": "the highest with recall {target:g} or more",
    "precision": "the lowest with precision {target:g} or more at the prior it was chosen for",
    "flagged": "the lowest that flags at most {target:g} of cases at the prior it was chosen for",
    "cost": "the one of smallest expected cost at the prior it was chosen for",
}


def curves_by_skew_table(operating: pd.DataFrame) -> Table:
    """Operating points of every model: the mean over folds where there are several."""
    means = operating[operating["level"] == MEAN]
    displayed = means if len(means) else operating
    costless = displayed.loc[displayed["measure"] == "expected_cost", "estimate"].isna().all()
    measures = [m for m in HEADS if m != "expected_cost" or not costless]
    keys = ["model", "chosen_prior", "prior"]
    rows = []
    for _, group in displayed.groupby(keys, sort=False, observed=True, dropna=False):
        result = {row.measure: row for row in records(group)}
        rows.append((_label(result["recall"]), *(_cell(result[measure]) for measure in measures)))
    header = ("Model, prior", *(HEADS[m] for m in measures))
    return Table(
        "operating", "Operating points", header, tuple(rows), note=_note(displayed, bool(len(means)))
    )


def thresholds_table(operating: pd.DataFrame) -> Table:
    """The threshold of every model, and the prior it was chosen for where the rule asks for one."""
    single = operating[(operating["fold"] != MEAN) & (operating["measure"] == "recall")]
    chosen = single.drop_duplicates(["model", "fold", "chosen_prior"])
    rows = []
    keys: Any = ["model", "chosen_prior"]
    for (model, prior), group in chosen.groupby(keys, sort=False, observed=True, dropna=False):
        values = group["threshold"].to_numpy(dtype=np.float64)
        result = values if len(values) == 1 else np.quantile(values, [0, 0.5, 1], method="lower")
        label = str(model) if pd.isna(prior) else f"{model} (for {prior:g})"
        rows.append((label, *map(_threshold, result)))
    several = max(map(len, rows)) > 2
    header = ("Model", *(("Smallest", "Median", "Largest") if several else ("Threshold",)))
    note = "A case that scores at least the threshold is flagged."
    if several:
        note += " Each fold has its own threshold: these are the smallest, the median and the largest."
    return Table("thresholds", "Thresholds", header, tuple(rows), note=note)


def _threshold(value: float) -> str:
    if np.isnan(value):
        return "out of reach"
    return "none is flagged" if value == np.inf else repr(float(value))


def _label(row: Any) -> str:
    """Model and prior, and the prior that the threshold was chosen for where it is another."""
    chosen = f" (for {row.chosen_prior:g})" if abs(row.chosen_prior - row.prior) > 0 else ""
    return f"{row.model}, {row.prior:g}{chosen}"


def _cell(row: Any) -> str:
    if np.isnan(row.estimate):
        return "-"
    return f"{format_number(row.estimate)} ({limits(row)})"


def _note(shown: pd.DataFrame, averaged: bool) -> str:
    rule, target, level = (shown[column].iloc[0] for column in ("rule", "target", "confidence_level"))
    several = rule == "threshold" and shown["target"].nunique() > 1
    told = "each model's own" if several else RULES[rule].format(target=target)
    way = (
        "means over folds with t intervals that allow for the training data they share"
        if averaged
        else "Wilson's intervals of recall and false positive rate, and from these the others"
    )
    text = f"Threshold: {told}. In brackets {100 * level:g} % intervals: {way}."
    return text + _on_choice(rule, elsewhere=OTHER_CASES in shown["chosen_on"].to_numpy(), averaged=averaged)


def _on_choice(rule: str, *, elsewhere: bool, averaged: bool) -> str:
    """What choosing the threshold does to the numbers."""
    if elsewhere:
        return "" if rule == "threshold" else " Chosen on other cases than those that judge it."
    text = ""
    if rule in {"precision", "cost"}:
        text = " A threshold chosen on the cases that judge it looks better than it is."
    if rule in {"precision", "cost", "flagged"} and not averaged:
        text += " Intervals take it as given, and may hold the truth less often than they say (.89 to .99)."
    return text


#: The rule that each criterion of a choice stands for.
CRITERIA = {
    "highest_expected_auprec": "highest mean (IAUPREC)",
    "minimum_expected_regret": "smallest mean regret",
    "maximin_auprec": "best worst case (maximin)",
    "minimax_regret": "smallest largest regret (minimax)",
    "highest_p_best": "most probably the best",
}


#: Names in one cell; the others are counted.
MOST_NAMES = 12


def choices_table(choices: pd.DataFrame) -> Table:
    """Which model each criterion picks, and how clearly."""
    return table_of(
        "choices",
        "Which model each criterion picks over the deployment prior",
        choices,
        {
            "Criterion": lambda row: CRITERIA.get(row.criterion, str(row.criterion).replace("_", " ")),
            "Model": lambda row: row.model,
            "Value": number("value"),
            "Runner-up": lambda row: "" if pd.isna(row.runner_up) else row.runner_up,
            "Margin": number("margin"),
        },
        note="Margin: by how much the runner-up is worse by the same criterion. None of them is a test.",
    )


def leaders_table(leaders: pd.DataFrame, level: float) -> Table:
    """Which models may be the best at which prior: one row a stretch of priors."""
    rows, cut = [], False
    for (low, high), stretch in leaders.groupby(["prior_low", "prior_high"], sort=False, observed=True):
        first = stretch.iloc[0]
        others = [name for name in stretch["contender"] if name != first["leader"]]
        rest = len(others) - MOST_NAMES
        cut |= rest > 0
        names = ", ".join(others[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
        rows.append((f"{low:.3g} to {high:.3g}", first["leader"], names or "none"))
    return Table(
        "leaders",
        f"Which models may be the best, by simultaneous {100 * level:g} % bands of differences",
        ("Priors", "Highest AUPREC", "May be as good or better"),
        tuple(rows[:MAX_ROWS]),
        note="A model is left out where a band puts another one above it."
        + (f" The first {MAX_ROWS:,} of {len(rows):,} stretches." if len(rows) > MAX_ROWS else "")
        + (" leaders.csv names them all." if cut else ""),
    )


def crossings_table(crossings: pd.DataFrame, level: float) -> Table:
    """Where the curves of two models cross; first where the lead changes."""
    ordered = crossings.sort_values("lead", ascending=False, kind="stable")
    displayed, cut = truncate_rows(ordered, "crossings.csv")
    return table_of(
        "crossings",
        "Priors at which the AUPREC of two models crosses",
        displayed,
        {
            "Prior": lambda row: f"{row.prior:.3g}",
            f"{100 * level:g} % interval": open_interval,
            "Higher below it": lambda row: row.model_below,
            "Higher above it": lambda row: row.model_above,
            "Changes the lead": lambda row: "yes" if row.lead else "no",
        },
        note="Intervals are each crossing's own. Or below, or above: the data set no limit within the priors "
        f"looked at. {cut}".strip(),
    )


def plans_table(plans: pd.DataFrame, units: str = "cases") -> Table:
    """How much more data would tell each pair of models apart: one row a pair."""
    displayed, cut = truncate_rows(plans, "plans.csv")
    power, alpha, assurance = (plans[name].iloc[0] for name in ("power", "alpha", "assurance"))
    return table_of(
        "plans",
        f"How much more data would tell a pair apart at {alpha:.3g} with power {power:g}",
        displayed,
        {
            "Pair": _pair,
            "Observed difference": number("difference"),
            "Power now": number("power_now", 2),
            f"Times the {units}": lambda row: _times(row.case_factor),
            f"{100 * assurance:g} % assured": lambda row: _times(row.case_factor_assured),
            "Folds": lambda row: (
                f"{row.n_folds:g}" if np.isfinite(row.n_folds) and row.design != "test_set" else ""
            ),
        },
        note=(
            "As if the true difference were the one observed, which is optimistic where a pair was picked "
            "for its difference: `skewanova plan --difference` takes the smallest that would matter. The "
            "power is that to be expected, since these data only estimate how much a difference varies; the "
            "assured size has it unless they are among the luckiest. No "
            f"number of folds is given where folds share training data and no number is enough. {cut}"
        ).strip(),
    )


def components_table(components: pd.DataFrame) -> Table:
    """Where the variance of one area comes from, of several runs on one test set."""
    return table_of(
        "components",
        "Where the variance of IAUPREC comes from",
        components,
        {
            "Component": lambda row: row.component,
            "Standard deviation": number("std_dev"),
            "Share": lambda row: "" if np.isnan(row.share) else f"{100 * row.share:.0f} %",
        },
        note="Of one model in one run. More runs bring down what runs bring in, more cases what cases bring "
        "in; what all models share is not in their differences. Estimates below 0 are 0.",
    )


def _times(factor: float) -> str:
    if np.isnan(factor):
        return ""
    return "enough now" if factor <= 1 else format_factor(factor) if np.isfinite(factor) else "never"


def sensitivity_table(decisions: pd.DataFrame) -> Table:
    """How much AUPREC depends on the prior."""
    return table_of(
        "sensitivity",
        "How AUPREC changes between the rarest and the commonest deployment prior",
        decisions,
        {
            "Model": lambda row: row.model,
            "At the rarest": number("auprec_at_rarest"),
            "At the commonest": number("auprec_commonest"),
            "Change": number("sensitivity"),
            "Loss per tenfold": number("loss_per_tenfold"),
        },
        note="Loss per tenfold: of AUPREC, where positives become ten times as rare.",
    )
