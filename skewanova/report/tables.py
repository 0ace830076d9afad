"""Every table of a comparison by name, and the functions that build it from its frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
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
    count_decimals,
    drop_column,
    format_column,
    format_factor,
    format_interval,
    format_limits,
    format_number,
    format_p,
    format_prior_interval,
    format_with_error,
    set_decimals,
    shorten_notes,
    truncate_rows,
)
from skewanova.decision.planning import ASSURANCE
from skewanova.inference.catalogue import get_test, name_response, name_test
from skewanova.report.source import (
    MAX_PRIORS,
    TEXTS,
    ReportSource,
    TestedResult,
    format_level,
    select_primary,
    subsample,
)
from skewanova.scores.design import FoldDesign

#: Function that formats a cell from the row of a frame.
Cell = Callable[[Any], str]


@dataclass(frozen=True)
class TableSpec:
    """One table of a comparison: the function that builds it, and the files with its numbers."""

    make: Callable[[Any], Table]
    files: tuple[str, ...]


@dataclass(frozen=True)
class FrameTable:
    """A table with a row for each row of a frame; caption, headings and note are in ``texts.toml``.

    `frame` is the name of its frame, by default its own. `CELLS` formats the cells below each heading, unless
    `own_cells` does. Rows where the boolean column `sort_by` is True come first.
    """

    name: str
    frame: str = ""
    own_cells: Mapping[str, Cell] = field(default_factory=dict)
    extra_files: tuple[str, ...] = ()
    truncated: bool = False
    sort_by: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the CSV files that hold the numbers of the table."""
        return (f"{self.frame or self.name}.csv", *self.extra_files)

    def make(self, source: TestedResult, **words: Any) -> Table:
        """Return the table of this frame of a comparison; `words` are those that other tables do not need."""
        design = source.design
        posterior = "cases" if not design.is_over_folds else "halves" if design.n_halvings else "folds"
        shared = {
            "alpha": source.alpha,
            "level": format_level(source.alpha),
            "units": design.units,
            "unit": source.unit,
            "measure": source.measure,
            "population": source.population,
            "groups": write_group_note(source.ranking),
            "posterior": TEXTS["posteriors"][posterior],
        }
        return self.build(source.tables[self.frame or self.name], **{**shared, **words})

    def build(self, frame: pd.DataFrame, **words: Any) -> Table:
        """Return the table of a frame, sorted and cut if so set, with `words` filled into its texts."""
        rows = frame.sort_values(self.sort_by, ascending=False, kind="stable") if self.sort_by else frame
        rows, cut = truncate_rows(rows, self.files[0]) if self.truncated else (rows, "")
        assurance, first = f"{100 * ASSURANCE:g} %", next(iter_rows(frame), None)
        words = {"measure": "IAUPREC", "assurance": assurance, "row": first, **words}
        texts = TEXTS[self.name]
        caption, note = (texts.get(key, "").format(**words) for key in ("caption", "note"))
        known_cells = {**CELLS, **self.own_cells}
        cells = {h.format(**words): known_cells.get(h, attrgetter(h.lower())) for h in texts["heads"]}
        table = build_table(self.name, caption, rows, cells, note=f"{note} {cut}".strip())
        explanations = texts.get("explanations", {}).items()
        return replace(table, explanations={k.format(**words): v.format(**words) for k, v in explanations})


# --- performance and ranking --------------------------------------------------------------------------------


#: Replaces what tests would say if none is reliable; the note on groups then.
NOT_RELIABLE = "No test is reliable here"
NO_GROUPS = f"{NOT_RELIABLE}, so there are no groups"


def build_performance_table(
    auprec: pd.DataFrame, iauprec: pd.DataFrame, ranking: pd.DataFrame, unit: str = "fold"
) -> Table:
    """Return mean (SD of folds) of AUPREC at up to 16 priors, IAUPREC, AUC in ranking order; maxima bold."""
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
    caption = "AUPREC at each prior, IAUPREC and AUC on the test set"
    if spreads.notna().any(axis=None):
        caption = f"Mean (standard deviation over {unit}s) of AUPREC at each prior, IAUPREC and AUC"
    several = len(displayed) < len(priors)
    note = f"{len(displayed)} of {len(priors):,} priors: auprec.csv holds them all." if several else ""
    return Table("measures", caption, ("Model", *means), tuple(rows), bold=best, note=note)


def _format_prior_heads(priors: Iterable[float]) -> list[str]:
    """Return headings "AUPREC(0.1)" with as few significant digits, from six on, as tell priors apart."""
    values = list(priors)
    heads = ([f"AUPREC({p:.{digits}g})" for p in values] for digits in range(6, 18))
    return next(texts for texts in heads if len(set(texts)) == len(texts))


def _build_performance_with_groups(source: ReportSource) -> Table:
    """Return the table of performance with the column Group or, if untrusted, with a note instead."""
    auprec, iauprec = (source.tables[name] for name in ("auprec", "iauprec"))
    table = build_performance_table(auprec, iauprec, source.ranking, source.unit)
    if not source.verdict.is_trusted:
        return replace(table, note=f"Bold: the largest mean. {NO_GROUPS}.")
    explanations = {"Group": f"{write_group_note(source.ranking)} in IAUPREC."}
    table = add_columns(table, {"Group": source.ranking["group"]})
    return replace(table, note="Bold: the largest mean.", explanations=explanations)


def add_columns(table: Table, columns: Mapping[str, Iterable[str]]) -> Table:
    """Return the table with further columns at the right, given as the cells by heading."""
    rows = (
        (*row, *cells) for row, cells in zip(table.rows, zip(*columns.values(), strict=True), strict=True)
    )
    return replace(table, header=(*table.header, *columns), rows=tuple(rows))


def build_ranking_table(source: ReportSource) -> Table:
    """Return the ranking with intervals, groups, P(best) and regret, less what `withhold_claims` drops."""
    ranking, design = source.ranking, source.design
    caption, method = "Ranking by IAUPREC on the test set", f"over samples of {design.units}"
    if ranking["std"].notna().any():
        caption = f"Ranking by mean IAUPREC over {source.unit}s"
        shared = ", allowing for the training data they share" if design.overlapping else ""
        if not design.has_fixed_models:
            method = f"t over runs and {design.units}" if design.has_runs else f"t over folds{shared}"
    table = RANKING.make(
        source,
        caption=caption,
        method=method,
        loss=format_number(source.tables["decisions"]["expected_loss"].min(), 4),
        prior=source.evaluation.deployment_prior.describe(),
        sizes=write_sizes(source.tables["iauprec"], design),
    )
    return withhold_claims(table, source)


def withhold_claims(table: Table, source: TestedResult) -> Table:
    """Return the table without Rank if `p_adjust` is bh or, if no test is reliable, Group and P(best) too."""
    if source.verdict.is_trusted:
        return drop_column(table, "Rank") if source.settings.get("p_adjust") == "bh" else table
    table = replace(table, note=f"{table.note} {NO_GROUPS}.".strip())
    return reduce(drop_column, ("Group", "Rank", "P(best)"), table)


def build_values_ranking(source: TestedResult) -> Table:
    """Return the ranking by any measure (data sets: by mean rank), less what `withhold_claims` drops."""
    shared = ", allowing for the training data they share" if source.design.overlapping else ""
    on_cases, title = source.design.is_test_set, write_value_heading(source)
    with set_decimals(count_decimals([source.ranking["mean"].abs().max() / 10])):  # two significant digits
        table = VALUES_RANKING.make(
            source,
            by="mean rank" if source.unit == "data set" else title[0].lower() + title[1:],
            title=title,
            units="on a single test set" if on_cases else f"over {source.design.n_folds} {source.unit}s",
            unit=source.design.units.removesuffix("s") if on_cases else source.unit,
            shared=shared,
        )
    table = drop_column(table, "P(best)" if source.unit == "data set" else "Mean rank")
    table = drop_column(table, "Best in") if on_cases else table
    return withhold_claims(replace(table, name="ranking"), source)


def write_value_heading(source: TestedResult) -> str:
    """Return "Mean accuracy" or, on a single test set, just the measure: "Accuracy"."""
    measure = source.measure
    return measure[:1].upper() + measure[1:] if source.design.is_test_set else f"Mean {measure}"


def write_cases(sizes: pd.DataFrame) -> str:
    """Return fewest to most cases of each class in a fold, as in "20 to 22 positives and 80 negatives"."""
    ends = {kind: (sizes[f"n_{kind}"].min(), sizes[f"n_{kind}"].max()) for kind in ("positive", "negative")}
    return " and ".join(
        f"{low:,.10g}{'' if low == high else f' to {high:,.10g}'} {kind}s"
        for kind, (low, high) in ends.items()
    )


def write_sizes(sizes: pd.DataFrame, design: FoldDesign) -> str:
    """Return "Test set: ..." or "Folds: 10, each of ..." (of runs "Runs: ...") with text of `write_cases`."""
    cases = write_cases(sizes)
    if design.is_test_set:
        return f"Test set: {cases}"
    return f"{'Runs' if design.has_runs else 'Folds'}: {design.n_folds}, each of {cases}"


def write_group_note(ranking: pd.DataFrame) -> str:
    """Return what the column Group means, with a control or without one, and without a full stop."""
    control = ranking.loc[ranking["group"] == "control", "model"]
    if control.empty:
        return "Models that share a letter were not found to differ"
    return f"Group: ahead of the control, {control.iloc[0]}, or behind it; blank if not found to differ"


# --- cells --------------------------------------------------------------------------------------------------


#: Heading of the column that says which pairs differ.
DIFFER = "Differ (level {alpha:g})"


def _format_df(value: float) -> str:
    """Return degrees of freedom with 2 decimals, or without any if integer up to rounding errors."""
    is_integer = np.isfinite(value) and abs(value - round(value)) <= TIE * max(1.0, abs(value))
    return f"{value:.0f}" if is_integer else format_number(value, 2)


def _format_growth(factor: float) -> str:
    """Return the growth factor as a bare "3.2", "enough now" up to 1, "never" if infinite, "" if nan."""
    if np.isnan(factor):
        return ""
    return "enough now" if factor <= 1 else format_factor(factor) if np.isfinite(factor) else "never"


def _format_needed(number: float) -> str:
    """Return a number of folds as text, "never" if infinite, or "" for nan."""
    return "" if np.isnan(number) else f"{number:g}" if np.isfinite(number) else "never"


#: Advice of a check without one.
NO_ADVICE = "nothing to add"


#: Format of the cells below each heading, from a row of the frame; others have the column of their name.
CELLS: Mapping[str, Cell] = {
    "A new data set": lambda row: format_interval(row.prediction_low, row.prediction_high),
    "AUPREC": format_column("estimate"),
    "Adjusted p": lambda row: format_p(row.p_adjusted),
    "Advice": lambda row: row.advice or NO_ADVICE,
    "At rarest": format_column("auprec_at_rarest"),
    "At the commonest": format_column("auprec_commonest"),
    "At the rarest": format_column("auprec_at_rarest"),
    "Best in": lambda row: f"{row.n_best}",
    "Best on": lambda row: f"{row.n_best}",
    "Better above it": attrgetter("model_above"),
    "Better below it": attrgetter("model_below"),
    "Between (SD)": format_column("tau"),
    "Breakdown corr.": format_column("breakdown_correlation", 2),
    "By": attrgetter("method"),
    "Change": format_column("sensitivity"),
    "Changes the lead": lambda row: "yes" if row.lead else "no",
    "Check": lambda row: row.check.replace("_", " "),
    "Class": lambda row: str(row.label),
    "Criterion": lambda row: TEXTS["criteria"][row.criterion],
    DIFFER: lambda row: "not tested" if np.isnan(row.p_adjusted) else "yes" if row.reject else "no",
    "Difference": format_column("estimate"),
    "Effect": format_column("effect", 2),
    "Error df": lambda row: _format_df(row.df_error),
    "F": format_column("statistic", 2),
    "Fold": lambda row: str(row.fold) if row.level == "fold" else f"({row.level})",
    # empty for a single test set or an unknown number
    "Folds": lambda row: f"{row.n_folds:g}" if np.isfinite(row.n_folds) and row.design != "test_set" else "",
    "Harder or easier half": lambda row: format_interval(row.half_low, row.half_high),
    "IAUPREC": format_column("iauprec"),
    "Interval": format_limits,
    "Its interval": lambda row: format_interval(row.effect_low, row.effect_high, 2),
    "Label shift p": lambda row: format_p(row.p_value),
    "Loss per tenfold": format_column("loss_per_tenfold"),
    "Margin": format_column("margin"),
    "Max regret": format_column("max_regret"),
    "Mean IAUPREC": format_column("iauprec"),
    "Mean lead": format_column("margin", 4),
    "Mean rank": format_column("mean_rank", 2),
    "Measure": lambda row: name_response(row.response) + (f"({row.prior:g})" if row.prior > 0 else ""),
    "Needed {unit}s": lambda row: _format_needed(row.n_folds),
    "Observed difference": format_column("difference"),
    "P(best)": format_column("p_best", 2),
    "P(equal)": format_column("p_equal", 2),
    "P(first ahead)": format_column("p_a_ahead", 2),
    "P(second ahead)": format_column("p_b_ahead", 2),
    "Pair": lambda row: f"{row.model_a} - {row.model_b}",
    "Partial eta sq.": format_column("partial_eta_sq"),
    "Power now": format_column("power_now", 2),
    "Practically equal": lambda row: "yes" if row.equivalent else "not shown",
    "Prior": lambda row: f"{row.prior:.3g}",
    "Priors": lambda row: f"{row.prior_low:.4g} to {row.prior_high:.4g}",
    "Rank": lambda row: "-".join(map(str, sorted({row.rank_low, row.rank_high}))),
    "Runner-up": lambda row: "" if pd.isna(row.runner_up) else row.runner_up,
    "Share": lambda row: "" if np.isnan(row.share) else f"{100 * row.share:.0f} %",
    "Shifted by 0.1 SD": lambda row: format_interval(row.sensitivity_low, row.sensitivity_high),
    "Standard deviation": format_column("std_dev"),
    "Statistic": format_column("statistic"),
    "Sum of squares": format_column("sum_sq", 4),
    "Test": lambda row: get_test(row.test).name,
    "Times the {units}": lambda row: _format_growth(row.case_factor),
    "Value": format_column("value"),
    "df": lambda row: _format_df(row.df),
    "p": lambda row: format_p(row.p_value),
    "{assurance} assured": lambda row: _format_growth(row.case_factor_assured),
    "{level} interval": format_limits,
    "{title}": format_column("mean"),
}


#: Names in one cell; the rest are counted.
MAX_NAMES = 12


def build_leaders_table(leaders: pd.DataFrame, level: str) -> Table:
    """Return a table of up to MAX_ROWS ranges of priors: the highest model, others that may be the best."""
    rows, is_cut = [], False
    for (low, high), group in leaders.groupby(["prior_low", "prior_high"], sort=False, observed=True):
        leader = group["leader"].iloc[0]
        others = [name for name in group["contender"] if name != leader]
        is_cut |= len(others) > MAX_NAMES
        rest = f" and {len(others) - MAX_NAMES} more" if len(others) > MAX_NAMES else ""
        rows.append((f"{low:.3g} to {high:.3g}", leader, ", ".join(others[:MAX_NAMES]) + rest or "none"))
    return Table(
        "leaders",
        f"Which models may be the best, by simultaneous {level} bands of differences",
        ("Priors", "Highest AUPREC", "May be as good or better"),
        tuple(rows[:MAX_ROWS]),
        note="A model is left out where a band puts another one above it."
        + (f" The first {MAX_ROWS:,} of {len(rows):,} stretches." if len(rows) > MAX_ROWS else "")
        + (" leaders.csv names them all." if is_cut else ""),
    )


def _build_pairwise(source: TestedResult) -> Table:
    """Return the table of the pairs of the primary test, with effect sizes; untrusted, without "Differ"."""
    rows, trusted = select_primary(source.pairs), source.verdict.is_trusted
    heads = ("Test", "Measure", *(() if trusted else (DIFFER.format(alpha=source.alpha),)))
    table = reduce(drop_column, heads, PAIRS.build(rows, alpha=source.alpha))
    table = table if trusted else replace(table, note=f"{NOT_RELIABLE}.")
    sizes = source.tables["effects"].set_index(["model_a", "model_b"])["effect"]
    pairs = zip(rows["model_a"], rows["model_b"], strict=True)
    return replace(
        add_columns(table, {"Effect": [format_number(sizes.get(pair, np.nan), 2) for pair in pairs]}),
        name="pairwise",
        caption=f"Pairwise differences, {name_test(next(iter_rows(rows)))}",
        explanations={"Effect": f"Effect: difference in standard deviations of one {source.unit}."},
    )


# --- every table --------------------------------------------------------------------------------------------


PAIRS, RANKING = FrameTable("pairs", truncated=True), FrameTable("ranking")


PRIOR_TABLE = FrameTable(
    "prior",
    own_cells={"Model": lambda row: row.model or "(all together)", "Prior": format_column("estimate")},
)


#: Tables by name, in the order of the report.
TABLES: Mapping[str, TableSpec | FrameTable] = {
    "performance": TableSpec(make=_build_performance_with_groups, files=("auprec.csv", "iauprec.csv")),
    "ranking": TableSpec(make=build_ranking_table, files=("ranking.csv", "decisions.csv")),
    "choices": FrameTable("choices"),
    "regions": FrameTable("regions", extra_files=("support.csv",)),
    "leaders": TableSpec(
        make=lambda source: build_leaders_table(source.tables["leaders"], format_level(source.alpha)),
        files=("leaders.csv", "differing_priors.csv"),
    ),
    "crossings": FrameTable(
        "crossings", own_cells={"{level} interval": format_prior_interval}, truncated=True, sort_by="lead"
    ),
    "sensitivity": FrameTable("sensitivity", frame="decisions"),
    "tests": FrameTable(
        "tests", own_cells={"Test": lambda row: f"{get_test(row.test).name}, {name_response(row.response)}"}
    ),
    "pairwise": TableSpec(make=_build_pairwise, files=("pairs.csv",)),
    "pairs": PAIRS,
    "prior_pairs": FrameTable(
        "priors",
        own_cells={"Priors": lambda row: f"{row.prior_a:g} - {row.prior_b:g}"},
        frame="prior_pairs",
        truncated=True,
    ),
    "effects": FrameTable("effects", truncated=True),
    "equivalence": FrameTable("equivalence", truncated=True),
    "plans": FrameTable("plans", truncated=True),
    "components": FrameTable("components"),
    "assumptions": FrameTable("assumptions"),
}


#: Ranking by any measure, and how many folds would tell pairs apart.
VALUES_RANKING = FrameTable("values_ranking", frame="ranking")
VALUES_PLANS = FrameTable(
    "values_plans",
    own_cells={"{assurance} assured": lambda row: _format_needed(row.n_folds_assured)},
    frame="plans",
    truncated=True,
)


#: Tables of a comparison of values by name.
VALUES_TABLES: Mapping[str, TableSpec | FrameTable] = {
    "ranking": TableSpec(make=build_values_ranking, files=("ranking.csv", "values.csv")),
    **{name: TABLES[name] for name in ("pairwise", "pairs", "effects", "equivalence")},
    **{name: TABLES[name] for name in ("crossings", "assumptions", "tests")},
    "plans": TableSpec(
        make=lambda source: (TABLES["plans"] if source.design.is_test_set else VALUES_PLANS).make(source),
        files=VALUES_PLANS.files,
    ),
}


#: Ranking across data sets, and meta-analysis of each pair.
ACROSS_TABLE, HIERARCHICAL_TABLE = FrameTable("across"), FrameTable("hierarchical")


#: Rankings, and pairs of models, of all classes.
CLASSES_TABLE, CLASS_PAIRS_TABLE = FrameTable("classes"), FrameTable("class_pairs")


# --- tables of single commands ------------------------------------------------------------------------------


def build_intervals_table(intervals: pd.DataFrame, population: str) -> Table:
    """Return the table of intervals by model and fold, and of pooled folds; its note has `population`."""
    rest = [f" Warning: {note}." for note in shorten_notes(text for text in intervals["warning"] if text)]
    if (intervals["level"] != "fold").any():
        rest = [" Rows in brackets take the models of all folds for one.", *rest]
    level = f"{100 * intervals['confidence_level'].iloc[0]:g} %"
    return FrameTable("intervals").build(intervals, level=level, population=population, rest="".join(rest))
