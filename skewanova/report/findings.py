"""What was found in one paragraph for a paper, every number from a frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from skewanova.base.frames import records
from skewanova.base.text import format_number, p_words, visible
from skewanova.decision.verdict import untested_because
from skewanova.inference.catalogue import get_test
from skewanova.report.sentences import omnibus_sentence
from skewanova.report.source import ReportSource, primary_rows, spread_of

#: Pairs beyond these are left to a table.
MOST_PAIRS = 10


#: Models whose means are written out.
MOST_MEANS = 5


def results_paragraph(source: ReportSource) -> str:
    """Means, the primary test, the pairs with difference, interval, df, p and effect, and the choice."""
    pairs = primary_rows(source.pairs)
    return " ".join(
        [
            _means(source),
            omnibus_sentence(source.tests, source.alpha, source.pairs[source.pairs["role"] == "primary"]),
            *_pairs(source, list(records(pairs))),
            f"These statements are about {source.design.population}.",
            source.verdict.choose,
        ]
    )


def _means(source: ReportSource) -> str:
    """IAUPREC of the first models, with intervals."""
    rows = list(records(source.ranking))
    known_limits = bool(source.ranking["conf_low"].notna().all())
    told = [
        f"{visible(row.model)} {format_number(row.iauprec)}{f' ({_between(row)})' if known_limits else ''}"
        for row in rows[:MOST_MEANS]
    ]
    level = f"; {100 * (1 - source.alpha):g} % intervals in brackets" if known_limits else ""
    more = f"; {len(rows) - MOST_MEANS} more in the table" if len(rows) > MOST_MEANS else ""
    n_folds = source.design.n_folds
    mean = "IAUPREC" if source.design.is_test_set else f"Mean IAUPREC over {n_folds} folds"
    prior = source.settings.get("deployment_prior", "")
    return f"{mean} ({prior}{level}): {', '.join(told)}{more}."


def _between(row: Any) -> str:
    return f"{format_number(row.conf_low)} to {format_number(row.conf_high)}"


def _pairs(source: ReportSource, rows: list[Any]) -> list[str]:
    """Every pair of the primary family: difference, interval, statistic, p and effect size."""
    if not rows:
        return []
    sizes = source.tables["effects"].set_index(["model_a", "model_b"])["effect"]
    told = [_pair(row, float(sizes.get((row.model_a, row.model_b), np.nan))) for row in rows[:MOST_PAIRS]]
    more = f"; {len(rows) - MOST_PAIRS} more in the table" if len(rows) > MOST_PAIRS else ""
    test = get_test(rows[0].test)
    level = "; intervals at the level of the step that decided the pair" if test.adjusted else ""
    effect = f"d: difference in standard deviations of one {spread_of(source)}"
    return [f"Differences ({test.name}{level}; {effect}): {'; '.join(told)}{more}."]


def _pair(row: Any, effect: float) -> str:
    """One pair, the better-ranked model first."""
    names = f"{visible(row.model_a)} minus {visible(row.model_b)} {format_number(row.estimate)}"
    if np.isnan(row.p_adjusted):
        return f"{names}, not tested, because {untested_because([row])}"
    limits = "" if np.isnan(row.conf_low) else f" ({_between(row)})"
    return f"{names}{limits}{_statistic(row)}, adjusted {p_words(row.p_adjusted)}{_effect(effect)}"


def _statistic(row: Any) -> str:
    if not np.isfinite(row.statistic):
        return ""
    df = f"({row.df:.4g})" if np.isfinite(row.df) else ""
    return f", {get_test(row.test).statistic}{df} = {row.statistic:.2f}"


def _effect(effect: float) -> str:
    return f", d = {format_number(effect, 2)}" if np.isfinite(effect) else ""
