"""Every table of a comparison by name, and the functions that build it from its frame."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, reduce
from importlib import resources
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.frames import iter_rows
from skewanova.base.rounding import TIE, is_maximum
from skewanova.base.text import (
    MAX_ROWS,
    Table,
    build_table,
    drop_column,
    format_column,
    format_factor,
    format_limits,
    format_number,
    format_p,
    format_prior_interval,
    format_with_error,
    shorten_notes,
    truncate_rows,
)
from skewanova.decision.operating import MEAN, ON_OTHER_CASES
from skewanova.decision.planning import ASSURANCE
from skewanova.inference.catalogue import get_test, name_response, name_test
from skewanova.report.source import (
    MAX_PRIORS,
    ReportSource,
    format_level,
    get_effect_unit,
    select_primary,
    subsample,
)
from skewanova.scores.design import FoldDesign

#: Function that formats a cell from the row of a frame.
Cell = Callable[[Any], str]


@dataclass(frozen=True)
class TableSpec:
    """One table of a comparison: the function that builds it, and the files with its numbers."""

    make: Callable[[ReportSource], Table]
    files: tuple[str, ...]


@dataclass(frozen=True)
class FrameTable:
    """A table with a row for each row of a frame; caption and note are in ``tables.toml``.

    Attributes
    ----------
    name : str
        Name of the table.
    cells : mapping of str to callable
        Heading of each column, with the function that formats its cells.
    frame : str
        Name of the frame, by default that of the table.
    extra_files : tuple of str
        Further files with its numbers.
    truncated : bool
        True if the table has at most `MAX_ROWS` rows.
    sort_by : str
        Boolean column whose True rows come first.
    """

    name: str
    cells: Mapping[str, Cell]
    frame: str = ""
    extra_files: tuple[str, ...] = ()
    truncated: bool = False
    sort_by: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the CSV files that hold the numbers of the table."""
        return (f"{self.frame or self.name}.csv", *self.extra_files)

    def make(self, source: ReportSource) -> Table:
        """Build the table of a comparison."""
        design = source.design
        posterior = "cases" if not design.is_over_folds else "halves" if design.n_halvings else "folds"
        return self.build(
            source.tables[self.frame or self.name],
            alpha=source.alpha,
            level=format_level(source.alpha),
            units=design.units,
            unit=get_effect_unit(source),
            posterior=_POSTERIORS[posterior],
        )

    def build(self, frame: pd.DataFrame, **words: Any) -> Table:
        """Build the table of a frame."""
        rows = frame.sort_values(self.sort_by, ascending=False, kind="stable") if self.sort_by else frame
        rows, cut = truncate_rows(rows, self.files[0]) if self.truncated else (rows, "")
        words["row"] = next(iter_rows(frame), None)
        caption, note = (_load_texts()[self.name].get(key, "").format(**words) for key in ("caption", "note"))
        cells = {head.format(**words): cell for head, cell in self.cells.items()}
        return build_table(self.name, caption, rows, cells, note=f"{note} {cut}".strip())


@cache
def _load_texts() -> dict[str, dict[str, str]]:
    """Read captions and notes by the name of the table."""
    folder = resources.files("skewanova.report") / "templates"
    return tomllib.loads(folder.joinpath("tables.toml").read_text(encoding="utf-8"))


_POSTERIORS = {
    "cases": "t posterior of each pair's difference over cases, under a flat prior.",
    "halves": "t posterior of each pair's difference by the split-half variance, under a flat prior.",
    "folds": "Bayesian correlated t test with flat priors, allowing for the training data that folds share.",
}


# --- performance and ranking --------------------------------------------------------------------------------


#: Explains P(best), which is not 1 - p, and need not be in the order of the means.
P_BEST_NOTE = (
    "model-based probability of the largest true IAUPREC; it shrinks models towards each other, so it is "
    "more cautious than p"
)


REGRET_NOTE = "Max regret: largest shortfall from the best model over the deployment prior."


#: Replaces what tests would say if none is reliable; the note on groups then.
NOT_RELIABLE = "No test is reliable here"
NO_GROUPS = f"{NOT_RELIABLE}, so there are no groups"


def build_performance_table(auprec: pd.DataFrame, iauprec: pd.DataFrame, ranking: pd.DataFrame) -> Table:
    """Build table 1 of Landgrebe et al. (2006): mean and standard deviation over folds of each measure."""
    models, priors = ranking["model"].tolist(), auprec["prior"].unique()
    displayed = subsample(priors, MAX_PRIORS)
    by_prior = auprec.groupby(["model", "prior"], observed=True)["auprec"]
    areas = iauprec.groupby("model", observed=True)[["iauprec", "auc"]]
    heads = [*_format_prior_heads(displayed), "IAUPREC", "AUC"]
    means, spreads = (
        a.unstack("prior")[displayed].join(b).set_axis(heads, axis=1).loc[models]
        for a, b in ((by_prior.mean(), areas.mean()), (by_prior.std(), areas.std()))
    )
    rows = [(model, *map(format_with_error, means.loc[model], spreads.loc[model])) for model in models]
    is_best = np.column_stack([is_maximum(means[head]) for head in means])
    best = frozenset((i, j + 1) for i, j in np.argwhere(is_best).tolist())
    over_folds = spreads.notna().any(axis=None)
    content = "AUPREC at each prior, IAUPREC and AUC"
    caption = (
        f"Mean (standard deviation over folds) of {content}" if over_folds else f"{content} on the test set"
    )
    several = len(displayed) < len(priors)
    note = f"{len(displayed)} of {len(priors):,} priors: auprec.csv holds them all." if several else ""
    return Table("measures", caption, ("Model", *means), tuple(rows), bold=best, note=note)


def _format_prior_heads(priors: Iterable[float]) -> list[str]:
    """Return column headings with as few digits as distinguish the priors."""
    values = list(priors)
    heads = ([f"AUPREC({p:.{digits}g})" for p in values] for digits in range(6, 18))
    return next(texts for texts in heads if len(set(texts)) == len(texts))


def _build_performance_with_groups(source: ReportSource) -> Table:
    table = build_performance_table(source.tables["auprec"], source.tables["iauprec"], source.ranking)
    if not source.verdict.is_trusted:
        return replace(table, note=f"Bold: the largest mean. {NO_GROUPS}.")
    explanations = {"Group": f"{write_group_note(source.ranking)} in IAUPREC."}
    table = _add_column(table, "Group", source.ranking["group"])
    return replace(table, note="Bold: the largest mean.", explanations=explanations)


def _add_column(table: Table, head: str, cells: Iterable[str]) -> Table:
    rows = tuple((*row, cell) for row, cell in zip(table.rows, cells, strict=False))
    return replace(table, header=(*table.header, head), rows=rows)


def build_ranking_table(source: ReportSource) -> Table:
    """Build the ranking, with intervals, regret and the probability of being best."""
    ranking, design, trusted = source.ranking, source.design, source.verdict.is_trusted
    over_folds, runs = ranking["std"].notna().any(), design.has_runs
    method = (
        "t over folds, allowing for the training data they share" if design.overlapping else "t over folds"
    )
    method = ("t over runs and cases" if runs else method) if over_folds else "over samples of cases"
    means = f"Ranking by mean IAUPREC over {'runs' if runs else 'folds'}"
    interval = f"{format_level(source.alpha)} interval"
    prior = source.evaluation.deployment_prior.describe()
    loss = source.tables["decisions"]["expected_loss"].min()
    table = build_table(
        "ranking",
        means if over_folds else "Ranking by IAUPREC on the test set",
        ranking,
        {
            "Model": attrgetter("model"),
            "IAUPREC": format_column("iauprec"),
            interval: format_limits,
            "Group": attrgetter("group"),
            "Rank": lambda row: "-".join(map(str, sorted({row.rank_low, row.rank_high}))),
            "P(best)": format_column("p_best", 2),
            "At rarest": format_column("auprec_at_rarest"),
            "Max regret": format_column("max_regret"),
        },
        note=f"{write_sizes(source.tables['iauprec'], design)}.",
    )
    explanations = {
        "IAUPREC": f"IAUPREC: mean AUPREC over the deployment prior, {prior}.",
        interval: f"Interval: {method}, for {design.population}; overlap of two intervals is not a test.",
        "Group": f"{write_group_note(ranking)}.",
        "Rank": f"Rank: {format_level(source.alpha)} intervals for all models at once, by tests of pairs.",
        "P(best)": f"P(best): {P_BEST_NOTE}. Deciding now loses {format_number(loss, 4)} on average.",
        "At rarest": f"At rarest: AUPREC at prior {ranking['rarest_prior'].iloc[0]:g}.",
        "Max regret": REGRET_NOTE,
    }
    if trusted:
        return replace(table, explanations=explanations)
    table = replace(table, note=f"{table.note} {NO_GROUPS}.", explanations=explanations)
    return reduce(drop_column, ("Group", "Rank", "P(best)"), table)


def write_sizes(sizes: pd.DataFrame, design: FoldDesign) -> str:
    """Write the number of folds or runs, and of cases of each class in each of them."""
    ends = {kind: (sizes[f"n_{kind}"].min(), sizes[f"n_{kind}"].max()) for kind in ("positive", "negative")}
    cases = " and ".join(
        f"{low:,.10g}{'' if low == high else f' to {high:,.10g}'} {kind}s"
        for kind, (low, high) in ends.items()
    )
    if design.is_test_set:
        return f"Test set: {cases}"
    return f"{'Runs' if design.has_runs else 'Folds'}: {design.n_folds}, each of {cases}"


def write_group_note(ranking: pd.DataFrame) -> str:
    """Write the meaning of the column group, without a full stop."""
    control = ranking.loc[ranking["group"] == "control", "model"]
    if control.empty:
        return "Models that share a letter were not found to differ"
    return f"Group: ahead of the control, {control.iloc[0]}, or behind it; blank if not found to differ"


# --- cells --------------------------------------------------------------------------------------------------


def format_pair(row: Any) -> str:
    """Format the models of a pair as "A - B"."""
    return f"{row.model_a} - {row.model_b}"


#: Heading of the column that says which pairs differ.
DIFFER = "Differ (level {alpha:g})"


#: Cells of a tested difference.
_DIFFERENCE: Mapping[str, Cell] = {
    "Difference": format_column("estimate"),
    "Interval": format_limits,
    "Adjusted p": lambda row: format_p(row.p_adjusted),
    DIFFER: lambda row: "not tested" if np.isnan(row.p_adjusted) else "yes" if row.reject else "no",
}


def _format_df(value: float) -> str:
    """Format degrees of freedom, without decimals if they are integers up to rounding errors."""
    is_integer = np.isfinite(value) and abs(value - round(value)) <= TIE * max(1.0, abs(value))
    return f"{value:.0f}" if is_integer else format_number(value, 2)


def _format_measure(row: Any) -> str:
    return name_response(row.response) + ("" if np.isnan(row.prior) else f"({row.prior:g})")


def _format_effect_interval(row: Any) -> str:
    low, high = row.effect_low, row.effect_high
    return "" if np.isnan(low) else f"{format_number(low, 2)} to {format_number(high, 2)}"


def _format_growth(factor: float) -> str:
    """Format the factor by which the data must grow."""
    if np.isnan(factor):
        return ""
    return "enough now" if factor <= 1 else format_factor(factor) if np.isfinite(factor) else "never"


def _format_n_folds(row: Any) -> str:
    """Format the number of folds; empty for a single test set or an unknown number."""
    return f"{row.n_folds:g}" if np.isfinite(row.n_folds) and row.design != "test_set" else ""


#: Description of each criterion of choice.
CRITERIA = {
    "highest_expected_auprec": "highest mean (IAUPREC)",
    "minimum_expected_regret": "smallest mean regret",
    "maximin_auprec": "best worst case (maximin)",
    "minimax_regret": "smallest largest regret (minimax)",
    "highest_p_best": "most probably the best",
}


#: Advice of a check without one.
NO_ADVICE = "nothing to add"


#: Names in one cell; the rest are counted.
MAX_NAMES = 12


def build_leaders_table(leaders: pd.DataFrame, level: str) -> Table:
    """Build the table of models that may be the best, a row for each range of priors."""
    rows, is_cut = [], False
    for (low, high), group in leaders.groupby(["prior_low", "prior_high"], sort=False, observed=True):
        leader = group["leader"].iloc[0]
        others = [name for name in group["contender"] if name != leader]
        rest = len(others) - MAX_NAMES
        is_cut |= rest > 0
        names = ", ".join(others[:MAX_NAMES]) + (f" and {rest} more" if rest > 0 else "")
        rows.append((f"{low:.3g} to {high:.3g}", leader, names or "none"))
    return Table(
        "leaders",
        f"Which models may be the best, by simultaneous {level} bands of differences",
        ("Priors", "Highest AUPREC", "May be as good or better"),
        tuple(rows[:MAX_ROWS]),
        note="A model is left out where a band puts another one above it."
        + (f" The first {MAX_ROWS:,} of {len(rows):,} stretches." if len(rows) > MAX_ROWS else "")
        + (" leaders.csv names them all." if is_cut else ""),
    )


def build_pairs_table(rows: pd.DataFrame, alpha: float, *columns: str, trusted: bool = True) -> Table:
    """Build the table of pairwise differences without some columns; untrusted, it claims no difference."""
    table = PAIRS.build(rows, alpha=alpha)
    for head in columns if trusted else (*columns, DIFFER.format(alpha=alpha)):
        table = drop_column(table, head)
    return table if trusted else replace(table, note=f"{NOT_RELIABLE}.")


def _build_pairwise(source: ReportSource) -> Table:
    """Build the table of the primary test of pairs, with effect sizes."""
    rows = select_primary(source.pairs)
    table = build_pairs_table(rows, source.alpha, "Test", "Measure", trusted=source.verdict.is_trusted)
    sizes = source.tables["effects"].set_index(["model_a", "model_b"])["effect"]
    pairs = zip(rows["model_a"], rows["model_b"], strict=True)
    return replace(
        _add_column(table, "Effect", [format_number(sizes.get(pair, np.nan), 2) for pair in pairs]),
        name="pairwise",
        caption=f"Pairwise differences, {name_test(next(iter_rows(rows)))}",
        explanations={
            "Effect": f"Effect: difference in standard deviations of one {get_effect_unit(source)}."
        },
    )


# --- every table --------------------------------------------------------------------------------------------


PAIRS = FrameTable(
    "pairs",
    {
        "Pair": format_pair,
        "Test": lambda row: get_test(row.test).name,
        "Measure": _format_measure,
        **_DIFFERENCE,
    },
    truncated=True,
)


#: Tables by name, in the order of the report.
TABLES: Mapping[str, TableSpec | FrameTable] = {
    "performance": TableSpec(make=_build_performance_with_groups, files=("auprec.csv", "iauprec.csv")),
    "ranking": TableSpec(make=build_ranking_table, files=("ranking.csv", "decisions.csv")),
    "choices": FrameTable(
        "choices",
        {
            "Criterion": lambda row: CRITERIA[row.criterion],
            "Model": attrgetter("model"),
            "Value": format_column("value"),
            "Runner-up": lambda row: "" if pd.isna(row.runner_up) else row.runner_up,
            "Margin": format_column("margin"),
        },
    ),
    "regions": FrameTable(
        "regions",
        {
            "Model": attrgetter("model"),
            "Priors": lambda row: f"{row.prior_low:.4g} to {row.prior_high:.4g}",
            "Mean lead": format_column("margin", 4),
            "Runner-up": attrgetter("runner_up"),
        },
        extra_files=("support.csv",),
    ),
    "leaders": TableSpec(
        make=lambda source: build_leaders_table(source.tables["leaders"], format_level(source.alpha)),
        files=("leaders.csv", "differing_priors.csv"),
    ),
    "crossings": FrameTable(
        "crossings",
        {
            "Prior": lambda row: f"{row.prior:.3g}",
            "{level} interval": format_prior_interval,
            "Higher below it": attrgetter("model_below"),
            "Higher above it": attrgetter("model_above"),
            "Changes the lead": lambda row: "yes" if row.lead else "no",
        },
        truncated=True,
        sort_by="lead",
    ),
    "sensitivity": FrameTable(
        "sensitivity",
        {
            "Model": attrgetter("model"),
            "At the rarest": format_column("auprec_at_rarest"),
            "At the commonest": format_column("auprec_commonest"),
            "Change": format_column("sensitivity"),
            "Loss per tenfold": format_column("loss_per_tenfold"),
        },
        frame="decisions",
    ),
    "tests": FrameTable(
        "tests",
        {
            "Test": lambda row: f"{get_test(row.test).name}, {name_response(row.response)}",
            "Term": attrgetter("term"),
            "df": lambda row: _format_df(row.df),
            "Error df": lambda row: _format_df(row.df_error),
            "Sum of squares": format_column("sum_sq", 4),
            "F": format_column("statistic", 2),
            "p": lambda row: format_p(row.p_value),
            "Partial eta sq.": format_column("partial_eta_sq"),
            "Breakdown corr.": format_column("breakdown_correlation", 2),
        },
    ),
    "pairwise": TableSpec(make=_build_pairwise, files=("pairs.csv",)),
    "pairs": PAIRS,
    "prior_pairs": FrameTable(
        "priors",
        {"Priors": lambda row: f"{row.prior_a:g} - {row.prior_b:g}", **_DIFFERENCE},
        frame="prior_pairs",
        truncated=True,
    ),
    "effects": FrameTable(
        "effects",
        {
            "Pair": format_pair,
            "Difference": format_column("estimate"),
            "{level} interval": format_limits,
            "Effect": format_column("effect", 2),
            "Its interval": _format_effect_interval,
        },
        truncated=True,
    ),
    "equivalence": FrameTable(
        "equivalence",
        {
            "Pair": format_pair,
            "Adjusted p": lambda row: format_p(row.p_adjusted),
            "Practically equal": lambda row: "yes" if row.equivalent else "not shown",
            "P(first ahead)": format_column("p_a_ahead", 2),
            "P(equal)": format_column("p_equal", 2),
            "P(second ahead)": format_column("p_b_ahead", 2),
        },
        truncated=True,
    ),
    "plans": FrameTable(
        "plans",
        {
            "Pair": format_pair,
            "Observed difference": format_column("difference"),
            "Power now": format_column("power_now", 2),
            "Times the {units}": lambda row: _format_growth(row.case_factor),
            f"{100 * ASSURANCE:g} % assured": lambda row: _format_growth(row.case_factor_assured),
            "Folds": _format_n_folds,
        },
        truncated=True,
    ),
    "components": FrameTable(
        "components",
        {
            "Component": attrgetter("component"),
            "Standard deviation": format_column("std_dev"),
            "Share": lambda row: "" if np.isnan(row.share) else f"{100 * row.share:.0f} %",
        },
    ),
    "assumptions": FrameTable(
        "assumptions",
        {
            "Check": lambda row: row.check.replace("_", " "),
            "Statistic": format_column("statistic"),
            "p": lambda row: format_p(row.p_value),
            "Advice": lambda row: row.advice or NO_ADVICE,
        },
    ),
}


# --- tables of single commands ------------------------------------------------------------------------------


def build_intervals_table(intervals: pd.DataFrame, population: str) -> Table:
    """Build the table of confidence intervals of each model and fold."""
    about = f"Each interval is its own, about {population}: what training anew would change is not in it."
    if (intervals["level"] != "fold").any():
        about += " Rows in brackets take the models of all folds for one."
    notes = shorten_notes(text for text in intervals["warning"] if text)
    return build_table(
        "intervals",
        "Confidence intervals",
        intervals,
        {
            "Model": attrgetter("model"),
            "Fold": lambda row: str(row.fold) if row.level == "fold" else f"({row.level})",
            "AUPREC": format_column("estimate"),
            f"{100 * intervals['confidence_level'].iloc[0]:g} % interval": format_limits,
            "Method": attrgetter("method"),
        },
        note=" ".join([about, *(f"Warning: {note}." for note in notes)]),
    )


#: Headings of the measures of operating points.
HEADINGS = {
    "recall": "Recall",
    "fpr": "FPR",
    "precision": "Precision",
    "npv": "NPV",
    "flagged": "Flagged",
    "error_rate": "Error",
    "f_measure": "F1",
    "expected_cost": "Cost",
}


#: Description of each rule that sets a threshold.
RULES = {
    "threshold": "score at least {target:g}",
    "recall": "the highest with recall {target:g} or more",
    "precision": "the lowest with precision {target:g} or more at the prior it was chosen for",
    "flagged": "the lowest that flags at most {target:g} of cases at the prior it was chosen for",
    "cost": "the one of smallest expected cost at the prior it was chosen for",
}


def build_operating_table(operating: pd.DataFrame) -> Table:
    """Build the table of operating points of each model: means over folds, or the values of one fold."""
    means = operating[operating["level"] == MEAN]
    displayed = means if len(means) else operating
    costless = displayed.loc[displayed["measure"] == "expected_cost", "estimate"].isna().all()
    measures = [m for m in HEADINGS if m != "expected_cost" or not costless]
    keys = ["model", "chosen_prior", "prior"]
    rows = []
    for _, group in displayed.groupby(keys, sort=False, observed=True, dropna=False):
        points = {row.measure: row for row in iter_rows(group)}
        first = points["recall"]
        chosen = f" (for {first.chosen_prior:g})" if abs(first.chosen_prior - first.prior) > 0 else ""
        rows.append(
            (f"{first.model}, {first.prior:g}{chosen}", *(_format_point(points[m]) for m in measures))
        )
    header = ("Model, prior", *(HEADINGS[m] for m in measures))
    note = _write_operating_note(displayed, averaged=bool(len(means)))
    return Table("operating", "Operating points", header, tuple(rows), note=note)


def _format_point(row: Any) -> str:
    return "-" if np.isnan(row.estimate) else f"{format_number(row.estimate)} ({format_limits(row)})"


def _write_operating_note(points: pd.DataFrame, *, averaged: bool) -> str:
    """Write the note on the threshold, the intervals, and the bias of choosing on the same cases."""
    rule, target, level = (points[column].iloc[0] for column in ("rule", "target", "confidence_level"))
    several = rule == "threshold" and points["target"].nunique() > 1
    threshold = "each model's own" if several else RULES[rule].format(target=target)
    method = (
        "means over folds with t intervals that allow for the training data they share"
        if averaged
        else "Wilson's intervals of recall and false positive rate, and from these the others"
    )
    text = f"Threshold: {threshold}. In brackets {100 * level:g} % intervals: {method}."
    if ON_OTHER_CASES in points["chosen_on"].to_numpy():
        return text + (" Chosen on other cases than those that judge it." if rule != "threshold" else "")
    if rule in {"precision", "cost"}:
        text += " A threshold chosen on the cases that judge it looks better than it is."
    if rule in {"precision", "cost", "flagged"} and not averaged:
        text += " Intervals take it as given, and may hold the truth less often than they say (.89 to .99)."
    return text


def build_thresholds_table(operating: pd.DataFrame) -> Table:
    """Build the table of thresholds by model and by the prior for which the rule chose them."""
    single = operating[(operating["fold"] != MEAN) & (operating["measure"] == "recall")]
    chosen = single.drop_duplicates(["model", "fold", "chosen_prior"])
    rows = []
    keys: Any = ["model", "chosen_prior"]
    for (model, prior), group in chosen.groupby(keys, sort=False, observed=True, dropna=False):
        values = group["threshold"].to_numpy(dtype=np.float64)
        result = values if len(values) == 1 else np.quantile(values, [0, 0.5, 1], method="lower")
        label = str(model) if pd.isna(prior) else f"{model} (for {prior:g})"
        rows.append((label, *map(_format_threshold, result)))
    several = max(map(len, rows)) > 2
    header = ("Model", *(("Smallest", "Median", "Largest") if several else ("Threshold",)))
    note = "A case that scores at least the threshold is flagged; threshold.csv and JSON have all digits."
    if several:
        note += (
            " Each fold has its own threshold: these are the smallest, the median and the largest. For a "
            "model that is retrained on all data, choose it on cases held out from that training."
        )
    return Table("thresholds", "Thresholds", header, tuple(rows), note=note)


def _format_threshold(value: float) -> str:
    if np.isnan(value):
        return "out of reach"
    return "none is flagged" if value == np.inf else f"{value:.4g}"
