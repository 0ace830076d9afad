"""State of a verdict and the facts it rests on; `skewanova.report` writes its lines.

The primary family of pairs separates models on average, and the simultaneous bands do so by prior. The
omnibus test is not used.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from html import escape
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.frames import FrameResult, iter_rows
from skewanova.base.rounding import TIE
from skewanova.base.text import shorten_names
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.diagnostics import pivot_auc
from skewanova.priors.evidence import MIN_DISTINCT_SCORES, MIN_POSITIVES, effective_negatives, scarce_class
from skewanova.priors.weightings import DeploymentPrior, mass_above, truncate_below, typical_prior
from skewanova.scores.design import SAME_CASES
from skewanova.scores.pairing import find_fewest_distinct

#: Titles of the lines of a verdict, by the names of their fields.
LINE_TITLES = {
    "choose": "Choose",
    "how_sure": "How sure",
    "where_it_changes": "Where it changes",
    "weakest_point": "Weakest point",
}


#: Columns of the numbers of a verdict.
VERDICT_COLUMNS = ("line", "quantity", "value", "text", "table")


#: Columns that the rows of pairs and of bands share, and all columns of the evidence of a verdict.
DIFFERENCE_COLUMNS = ("model_a", "model_b", "estimate", "conf_low", "conf_high", "p_adjusted")
EVIDENCE_COLUMNS = (*DIFFERENCE_COLUMNS, "test", "prior_low", "prior_high", "decisive")


#: Checks of the scores that could reverse the choice if they fail.
REVERSING_CHECKS = ("smallest_auc", "perfect_auc", "identifiers", "different_scores", "share_of_cases")


#: Reasons for distrust with fewer cases (or clusters) of a class than `MIN_POSITIVES`.
FEW_POSITIVES, FEW_NEGATIVES = "few positives", "few negatives"


#: If the data support less of the deployment prior, the verdict is ``unsupported``.
MIN_SUPPORTED_MASS = 0.5


#: A range of priors on which a band puts one model above another: (better, worse, low, high).
BandRange = tuple[str, str, float, float]


#: Rows of the regions below and above a change of the best model.
Change = tuple[Any, Any]


@dataclass(frozen=True)
class VerdictNumber:
    """A number of a verdict: its line, column, value, printed text and source frame."""

    line: str
    quantity: str
    value: float
    text: str
    table: str


@dataclass(frozen=True)
class Verdict(FrameResult):
    """Verdict of a comparison in four lines: choice, certainty, changes with the prior, weakest point.

    Attributes
    ----------
    state : str
        ``choose`` (one model is better than every other), ``tie`` (some models are worse), ``equal`` (the
        candidates are practically equal), ``undecided``, ``control`` (all are compared with one),
        ``by_prior``, ``unsupported`` (the data do not support most of the deployment prior), or ``untrusted``
        (no test is reliable).
    models : tuple of str
        The candidates, which no test or band puts behind another model.
    choose, how_sure, where_it_changes, weakest_point : str
        The four lines, with shortened model names.
    warnings : tuple of str
        Reasons that could reverse the choice, such as inverted scores.
    evidence : DataFrame
        One row for each comparison that the choice rests on, with its adjusted p-value, or with its
        simultaneous band at one prior. One row is `decisive`, the least certain one.
    part_state : str
        State over the supported priors, if `state` is ``unsupported``.
    numbers : tuple of VerdictNumber
        All numbers in the lines, with their source frames.

    Examples
    --------
    >>> from skewanova import compare, load_satellite_scores
    >>> verdict = compare(load_satellite_scores(), at_priors=(0.5, 0.2)).verdict
    >>> verdict.state, verdict.models
    ('undecided', ('A', 'C', 'B'))
    >>> verdict.choose
    'The data do not separate A, C and B.'
    """

    state: str
    models: tuple[str, ...]
    choose: str
    how_sure: str
    where_it_changes: str
    weakest_point: str
    warnings: tuple[str, ...] = ()
    evidence: pd.DataFrame = field(
        default_factory=lambda: build_evidence_frame([]), repr=False, compare=False
    )
    part_state: str = ""
    numbers: tuple[VerdictNumber, ...] = field(default=(), repr=False)

    @property
    def is_trusted(self) -> bool:
        """True unless the state is ``untrusted``, or ``unsupported`` without a `part_state`."""
        return self.state != "untrusted" and (self.state != "unsupported" or self.part_state != "")

    def __str__(self) -> str:
        """Return the warnings and the four lines, each on a line of its own as "Title: text"."""
        return "\n".join(f"{title}: {text}" for title, text in self._paragraphs())

    def _paragraphs(self) -> list[tuple[str, str]]:
        """Return (title, text) of each warning and then of each of the four lines."""
        lines = [(title, text) for title, text, _ in self.lines()]
        return [*(("Warning", text) for text in self.warnings), *lines]

    def _repr_html_(self) -> str:
        """Return the warnings and the four lines as an HTML list <dl> for a notebook."""
        lines = (f"<dt>{title}</dt><dd>{escape(text)}</dd>" for title, text in self._paragraphs())
        return f"<dl>{''.join(lines)}</dl>"

    def lines(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return (title, text, names of the source frames) of each of the four lines."""
        tables: dict[str, dict[str, None]] = {name: {} for name in LINE_TITLES}
        for number in self.numbers:
            tables[number.line][number.table] = None
        return [(title, getattr(self, name), tuple(tables[name])) for name, title in LINE_TITLES.items()]

    def to_text(self, width: int = 80) -> str:
        """Return the warnings and the four lines as text: indented paragraphs of at most `width` columns."""
        margin = max(map(len, LINE_TITLES.values())) + 2
        options: dict[str, Any] = {"subsequent_indent": " " * margin, "break_on_hyphens": False}
        return "\n".join(
            textwrap.fill(text, width, initial_indent=f"{title:<{margin}}", **options)
            for title, text in self._paragraphs()
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each number: line, quantity, value, text and table, its source frame."""
        return pd.DataFrame([astuple(number) for number in self.numbers], columns=list(VERDICT_COLUMNS))


@dataclass(frozen=True)
class PairwiseOrder:
    """Order of the models by pairwise tests and bands, over a range of priors.

    `models` are in ranking order. `pairs` are the rows of the primary family. `bands` are the ranges of
    priors on which a band puts one model above another.
    """

    models: tuple[str, ...]
    pairs: list[Any]
    bands: list[BandRange] = field(default_factory=list)
    low: float = 0.0
    high: float = 1.0

    @property
    def wins(self) -> list[tuple[str, str, Any]]:
        """Tuples (better model, worse model, row) of the pairs whose test rejects equality."""
        return [(*order_by_estimate(row), row) for row in self.pairs if row.reject]

    @property
    def candidates(self) -> tuple[str, ...]:
        """Models that no test or band puts behind another, in ranking order."""
        behind = {worse for _, worse, _ in self.wins} | {worse for _, worse, _, _ in self.bands}
        return tuple(model for model in self.models if model not in behind)

    @property
    def state(self) -> str:
        """``undecided`` if all or none are candidates, ``choose`` if one wins all tests, else ``tie``."""
        if not self.candidates or not self.others:
            return "undecided"
        return "choose" if len(self.wins_of(self.candidates[0])) == len(self.models) - 1 else "tie"

    @property
    def reverses(self) -> bool:
        """True if bands put each of two models above the other, neither losing a test."""
        behind = {worse for _, worse, _ in self.wins}
        above = {(better, worse) for better, worse, _, _ in self.bands if not behind & {better, worse}}
        return any((worse, better) in above for better, worse in above)

    def models_above(self, control: str) -> tuple[str, ...]:
        """Return the models whose test against the control they win, in ranking order."""
        above = {better for better, worse, _ in self.wins if worse == control}
        return tuple(model for model in self.models if model in above)

    def rank_evidence(self, state: str) -> list[Any]:
        """Return the rows of tested pairs that the choice of a state rests on.

        These are the leads that the choice states, the least certain one first. Without leads (except in a
        tie or ``by_prior``) they are the pairs of candidates, or else all pairs, largest difference first.
        """
        leads = [row for *_, row in self.wins] if state == "control" else []
        if state in {"choose", "tie"}:
            leads = self._leads_over_others()
        if leads or state in {"by_prior", "tie"}:
            return sorted(leads, key=rank_certainty, reverse=True)
        pairs = [] if state == "control" else self.pairs_among(self.candidates)
        return sorted(pairs or self.pairs, key=lambda row: abs(row.estimate), reverse=True)

    def _leads_over_others(self) -> list[Any]:
        """Return the rows of the tests that put the other models behind the candidates.

        These are the wins over them of all candidates or the first, if these beat them all; else, for each of
        the others, the surest test that it loses.
        """
        above_all, others = self.candidates_above_all, self.others
        if above_all:
            stated = self.candidates if len(above_all) == len(self.candidates) else above_all[:1]
            return [row for row in self.wins_of(*stated) if order_by_estimate(row)[1] in others]
        leads = [[row for _, worse, row in self.wins if worse == model] for model in others]
        return [min(rows, key=rank_certainty) for rows in leads if rows]

    @property
    def others(self) -> list[str]:
        """Models that a test or band puts behind another, in ranking order."""
        return [model for model in self.models if model not in self.candidates]

    @property
    def candidates_above_all(self) -> tuple[str, ...]:
        """Candidates that a test puts above every model that is no candidate."""
        others, wins = set(self.others), {(better, worse) for better, worse, _ in self.wins}
        return tuple(model for model in self.candidates if all((model, other) in wins for other in others))

    def wins_of(self, *models: str) -> list[Any]:
        """Return the rows of the pairs whose test these models win, model by model."""
        return [row for model in models for better, _, row in self.wins if better == model]

    def pairs_among(self, models: Collection[str]) -> list[Any]:
        """Return the rows of the pairs of which both models are in the set."""
        return [row for row in self.pairs if {row.model_a, row.model_b} <= set(models)]


def order_by_estimate(row: Any) -> tuple[str, str]:
    """Return the names of a pair's models, the one with the larger value first, if equal `model_a`."""
    a, b = str(row.model_a), str(row.model_b)
    return (a, b) if row.estimate >= 0 else (b, a)


def rank_certainty(row: Any) -> tuple[float, float]:
    """Return (adjusted p or 1, -|t| or -inf without error), which sorts rows from certain to uncertain."""
    error = row.std_error
    return (np.nan_to_num(row.p_adjusted, nan=1.0), -abs(row.estimate) / error if error > 0 else -np.inf)


class Judgement:
    """State of a comparison and the facts it rests on.

    `state` is that of :class:`Verdict` over the supported priors, so it is never ``unsupported``. `distrust`
    is the reason why no test is reliable, or empty. `rarest` is the smallest supported prior, and
    `supported_mass` the mass of the deployment prior above it. `is_partial` is True if that is less than
    half. `order` is over the supported part of the deployment prior.
    """

    def __init__(
        self, frames: Mapping[str, pd.DataFrame], evaluation: Evaluation, *, rope: float, control: str | None
    ) -> None:
        self.frames, self.evaluation, self.rope, self.control = frames, evaluation, rope, control
        self.names = shorten_names(str(model) for model in frames["decisions"]["model"])
        self.rarest = evaluation.support.smallest_prior
        self.supported_mass = mass_above(evaluation.deployment_prior, self.rarest)
        self.is_partial = self.supported_mass < MIN_SUPPORTED_MASS
        self.support = evaluation.support
        self.order = self._pairwise_order()
        self.distrust = self._reason_for_distrust()
        self.state = self._decide_state()

    @property
    def models(self) -> tuple[str, ...]:
        """Models chosen or left undecided; with a control, those above it or else it alone; or none."""
        if self.state == "untrusted" or self.supported_mass == 0:
            return ()
        if self.state == "control" and self.control is not None and self.order.candidates:
            return self.order.models_above(self.control) or (self.control,)
        return self.order.candidates

    def _pairwise_order(self) -> PairwiseOrder:
        """Return the order by primary tests (if `is_partial`, of the supported part) and supported bands."""
        prior, posthoc = self.evaluation.deployment_prior, self.frames["pairs"]
        low, high = max(prior.low, min(self.rarest, prior.high)), prior.high
        column, value = ("response", "iauprec_supported") if self.is_partial else ("role", "primary")
        rows = posthoc[posthoc[column] == value]
        bands = clip_bands(self.frames["differing_priors"], low, high)
        return PairwiseOrder(tuple(self.names), list(iter_rows(rows)), bands, low, high)

    def _reason_for_distrust(self) -> str:
        """Return the reason why no test is reliable, as a clause; '' if there is none."""
        pairs = self.frames["pairs"].query("role == 'primary'")
        flat = (pairs["std_error"] == 0) | pairs["p_adjusted"].isna()
        if (pairs["estimate"].abs() > TIE).any() and flat.all():
            return explain_missing_test(list(iter_rows(pairs)))
        if self.support.n_positive < MIN_POSITIVES:
            return FEW_POSITIVES
        if self.support.n_negative < MIN_POSITIVES:
            return FEW_NEGATIVES
        design = self.evaluation.design
        if SAME_CASES in design.warnings:
            return "all folds test the same cases"
        if design.is_over_folds or self.tied_scores_check is None:
            return ""
        prior, support = self.evaluation.deployment_prior, self.support
        effective = float(effective_negatives(support.n_negative, typical_prior(prior)))
        sizes = self.tied_scores_check.statistic, support.n_positive, effective
        lacking = scarce_class(*sizes, prior.low, n_models=len(self.names))
        return lacking and f"{self.most_tied_model} has few distinct scores, and {lacking} are few"

    def _decide_state(self) -> str:
        """Return the state: untrusted, control, by_prior, equal, or else that of the order."""
        order, candidates = self.order, self.order.candidates
        if self.distrust:
            return "untrusted"
        if self.control is not None:
            return "control"
        if not candidates or order.reverses:
            return "by_prior"
        if len(candidates) > 1 and self.are_equivalent(candidates):
            return "equal"
        return order.state

    @cached_property
    def evidence(self) -> list[Any]:
        """Rows of pairs and bands that the choice rests on, decisive first; [] if untrusted or no support."""
        if self.state == "untrusted" or self.supported_mass == 0:
            return []
        rows = self.order.rank_evidence(self.state)
        if self.state not in {"by_prior", "tie"}:
            return rows
        return sorted([*rows, *self._band_evidence()], key=rank_certainty, reverse=True)

    def _band_evidence(self) -> list[Any]:
        """Return surest rows of bands at both ends or, in a tie, of each model that only bands put lower."""
        bands = self.order.bands
        if self.state == "by_prior":
            ends = min(bands, key=lambda band: band[2]), max(bands, key=lambda band: band[3])
            groups = [[band] for band in dict.fromkeys(ends)]
        else:
            tested = {worse for _, worse, _ in self.order.wins}
            groups = [[band for band in bands if band[1] == m] for m in self.order.others if m not in tested]
        rows = [[row for band in group for row in self._separated_priors(band)] for group in groups]
        return [min(group, key=rank_certainty) for group in rows if group]

    def _separated_priors(self, band: BandRange) -> Iterator[Any]:
        """Yield the rows of the band of a pair, within its range, at priors where it excludes 0."""
        better, worse, low, high = band
        frame = self.frames["difference_curves"]
        pair = frame["model_a"].isin([better, worse]) & frame["model_b"].isin([better, worse])
        return iter_rows(frame[pair & frame["reject"] & frame["prior"].between(low, high)])

    @property
    def warnings(self) -> tuple[str, ...]:
        """Advice of the checks that could reverse the choice, and the warnings of the design."""
        checks = self.frames["assumptions"]
        return (*list_advice(checks, REVERSING_CHECKS), *self.evaluation.design.warnings)

    @cached_property
    def inverted(self) -> list[str]:
        """Names of the models with a mean area under the ROC curve below .5."""
        means = pivot_auc(self.evaluation).mean()
        return [str(model) for model in means.index[means < 0.5]]

    def are_equivalent(self, models: Collection[str]) -> bool:
        """Return True if TOST shows all pairs of these models equivalent; False if `is_partial`."""
        frame = self.frames["equivalence"]
        rows = frame[frame["model_a"].isin(models) & frame["model_b"].isin(models)]
        return not self.is_partial and bool(rows["equivalent"].all())

    def find_check(self, name: str) -> Any:
        """Return the row of a check of the scores; None if it was not run."""
        frame = self.frames["assumptions"]
        return next(iter_rows(frame[frame["check"] == name]), None)

    @cached_property
    def tied_scores_check(self) -> Any:
        """Row of the check of distinct scores if they are too few, else None."""
        row = self.find_check("different_scores")
        total = sum(self.evaluation.iauprec[["n_positive", "n_negative"]].iloc[0])
        return row if row is not None and row.statistic < min(MIN_DISTINCT_SCORES, total) else None

    @property
    def most_tied_model(self) -> str:
        """Short name of the model with the fewest distinct scores; 'a model' without scores."""
        scores = self.evaluation.scores
        return "a model" if scores is None else self.names[find_fewest_distinct(list(scores.ties())).model]

    @cached_property
    def lead_changes(self) -> list[Change]:
        """Rows (region below, region above) of each change of the best model in the range of `order`."""
        changes = pairwise(iter_rows(self.frames["regions"]))
        return [change for change in changes if self.order.low <= change[0].prior_high <= self.order.high]


def build_evidence_frame(rows: Sequence[Any], low: float = np.nan, high: float = np.nan) -> pd.DataFrame:
    """Return a row for each comparison: a pair tested from `low` to `high`, or its band at one prior.

    Columns model_a, model_b, estimate, conf_low, conf_high, p_adjusted, test, prior_low, prior_high and
    decisive (True in the first row).
    """
    records = []
    for i, row in enumerate(rows):
        difference = [getattr(row, name) for name in DIFFERENCE_COLUMNS]
        limits = (low, high) if hasattr(row, "test") else (row.prior, row.prior)
        records.append((*difference, getattr(row, "test", "simultaneous_bands"), *limits, i == 0))
    return pd.DataFrame(records, columns=list(EVIDENCE_COLUMNS))


def list_advice(assumptions: pd.DataFrame, names: Collection[str]) -> list[str]:
    """Return the advice of those of the checks with these names that failed."""
    failed = assumptions["check"].isin(names) & (assumptions["advice"] != "")
    return assumptions.loc[failed, "advice"].tolist()


def select_supported_part(evaluation: Evaluation) -> DeploymentPrior | None:
    """Return the supported part of the deployment prior if its mass is in (0, 0.5), else None."""
    rarest = evaluation.support.smallest_prior
    mass = mass_above(evaluation.deployment_prior, rarest)
    return truncate_below(evaluation.deployment_prior, rarest) if 0 < mass < MIN_SUPPORTED_MASS else None


def clip_bands(differing: pd.DataFrame, low: float, high: float) -> list[BandRange]:
    """Return (better, worse, low, high) of the ranges where bands separate two models, within [low, high]."""
    clipped = [
        (row.better, row.worse, max(row.prior_low, low), min(row.prior_high, high))
        for row in iter_rows(differing)
    ]
    return [band for band in clipped if band[2] < band[3] or band[2] == band[3] == low == high]


def list_contenders(leaders: pd.DataFrame) -> list[tuple[tuple[str, ...], float, float]]:
    """Return (models that may be the best, lowest, highest prior) of each range, in ascending order."""
    groups: Any = leaders.groupby(["prior_low", "prior_high"], sort=True)["contender"]
    return [(tuple(map(str, models)), *limits) for limits, models in groups]


def contender_ranges(
    leaders: pd.DataFrame, low: float, high: float
) -> list[tuple[tuple[str, ...], float, float]]:
    """Return (contenders, low, high) of ranges within [low, high], neighbours of equal contenders joined."""
    parts = [(models, max(start, low), min(end, high)) for models, start, end in list_contenders(leaders)]
    inside = (part for part in parts if part[1] < part[2] or part[1] == part[2] == low == high)
    groups = [list(group) for _, group in groupby(inside, key=lambda part: set(part[0]))]
    return [(group[0][0], group[0][1], group[-1][2]) for group in groups]


def explain_missing_test(rows: Iterable[Any]) -> str:
    """Return the reason why these pairs have no p-value, as a clause (equal, no variance or unknown)."""
    rows = list(rows)
    if all(abs(row.estimate) <= TIE for row in rows):
        return "their values are the same"
    if all(row.std_error == 0 for row in rows):
        return "their difference does not vary"
    return "how their difference varies is not known"
