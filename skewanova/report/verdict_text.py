"""The sentences of a verdict.

"Ahead" is said of tested statements only, "highest mean" of untested ones. If the four lines together are
too long, optional phrases are left out, the least important first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.frames import records
from skewanova.base.text import (
    enough_digits,
    format_factor,
    format_number,
    format_p,
    open_interval,
    short_names,
)
from skewanova.decision.verdict import (
    LINES,
    Change,
    Judgement,
    PairwiseOrder,
    Verdict,
    VerdictNumber,
    abs_estimate,
    contender_ranges,
    larger_first,
)
from skewanova.inference.catalogue import get_test
from skewanova.inference.diagnostics import auc_by_fold
from skewanova.priors.evidence import POSITIVES_FOR_TESTS
from skewanova.scores.design import FoldDesign
from skewanova.scores.pairing import collapsed

#: Words of all four lines together.
MAX_WORDS = 60


#: Phrases that are left out of longer texts, in this order.
OPTIONAL_PHRASES = ("tail", "p_best", "claim", "names", "tied", "detectable")


#: Longer lists of models are cut, and the others counted.
MAX_NAMES = 3


#: Fewer positives than this in a fold let single cases decide its area.
MIN_POSITIVES_PER_FOLD = 10


#: A smaller share of the deployment prior than this out of reach is not worth a line.
SMALL_MASS = 0.05


#: Fewer folds or runs than this show little of how they vary.
MIN_FOLDS = 5


#: More than this many times the data is out of reach, and nothing to advise.
MAX_CASE_FACTOR = 1000.0


class LineWriter:
    """Formats the numbers of one line, and records the frame that each comes from."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.numbers: list[VerdictNumber] = []

    def number(
        self, value: float, quantity: str, table: str, form: Callable[[float], str] = format_number
    ) -> str:
        """Format a number and record it."""
        text = form(value)
        self.numbers.append(VerdictNumber(self.line, quantity, float(value), text, table))
        return text

    def difference(self, row: Any) -> str:
        """Write the size of a difference, its interval and adjusted p; the larger model first."""
        sign = 1 if row.estimate >= 0 else -1
        limits = sorted((sign * row.conf_low, sign * row.conf_high))
        form = partial(format_number, digits=enough_digits(limits))
        text = self.number(abs(row.estimate), "estimate", "pairs", form)
        if not np.isnan(limits).any():
            low, high = (
                self.number(limit, name, "pairs", form)
                for limit, name in zip(limits, ("low", "high"), strict=True)
            )
            text += f" ({low} to {high})"
        if np.isnan(row.p_adjusted):
            return f"{text}, not tested"
        return f"{text}, adjusted p {self.number(row.p_adjusted, 'p_adjusted', 'pairs', format_p)}"


def write_verdict(judged: Judgement) -> Verdict:
    """Write the four lines, leaving out optional phrases until they are short enough."""
    for n_omitted in range(len(OPTIONAL_PHRASES) + 1):
        omit = OPTIONAL_PHRASES[:n_omitted]
        writers = {name: LineWriter(name) for name in LINES}
        lines = {
            "choose": write_choice(judged, writers["choose"]),
            "how_sure": write_certainty(judged, writers["how_sure"], omit),
            "where_it_changes": write_changes(judged, writers["where_it_changes"], omit),
            "weakest_point": write_weakness(judged, writers["weakest_point"]),
        }
        if len(" ".join(lines.values()).split()) <= MAX_WORDS:
            break
    unsupported = judged.is_partial and judged.state != "untrusted"
    return Verdict(
        state="unsupported" if unsupported else judged.state,
        models=judged.models,
        **lines,
        part_state=judged.state if unsupported and judged.supported_mass > 0 else "",
        numbers=all_numbers(writers),
    )


def all_numbers(writers: Mapping[str, LineWriter]) -> tuple[VerdictNumber, ...]:
    """Return the numbers of all lines."""
    return tuple(number for writer in writers.values() for number in writer.numbers)


# --- choose -------------------------------------------------------------------------------------------------


def write_choice(judged: Judgement, line: LineWriter) -> str:
    """Write which model to choose, and over which priors that was judged."""
    if judged.state == "untrusted":
        means = []
        for row in islice(records(judged.frames["decisions"]), MAX_NAMES):
            mean = line.number(row.expected_auprec, "expected_auprec", "decisions")
            means.append(f"{judged.names[str(row.model)]} {mean}")
        return f"No test can be trusted here: {judged.distrust}. Highest means: {', '.join(means)}."
    if judged.supported_mass == 0:
        rarest = line.number(judged.rarest, "prior", "support", prior_text)
        return f"These data can judge no prior of the deployment: below prior {rarest} negatives are too few."
    text = CHOICES[judged.state](judged, line)
    if judged.supported_mass > 1 - SMALL_MASS:
        return text
    rarest = line.number(judged.rarest, "prior", "support", prior_text)
    if not judged.is_partial:
        return f"{text.removesuffix('.')} (judged above prior {rarest})."
    percent = line.number(100 * judged.supported_mass, "share", "support", percent_text)
    part = f"priors above {rarest} only ({percent} % of the deployment prior)"
    return f"These data can judge {part}. There: {text}"


def _choose_winner(judged: Judgement, line: LineWriter) -> str:
    best = judged.order.candidates[0]
    nearest = min(judged.order.wins_of(best), key=abs_estimate)
    if judged.are_equivalent(larger_first(nearest)):
        margin = line.number(judged.rope, "rope", "equivalence", plain)
        return f"Choose {judged.names[best]}; its lead is within {margin}."
    return f"Choose {judged.names[best]}{' on average' if judged.changes_inside else ''}."


def _choose_cheaper(judged: Judgement, line: LineWriter) -> str:
    names = join_names(judged.order.candidates, judged.names)
    margin = line.number(judged.rope, "rope", "equivalence", plain)
    return f"{names} are practically equal (within {margin}): take the cheaper{_others_behind(judged)}."


def _choose_candidates(judged: Judgement, _: LineWriter) -> str:
    order, names, candidates = judged.order, judged.names, judged.order.candidates
    if len(candidates) > 1:
        return f"Choose {join_names(candidates, names, 'or')}{_others_behind(judged)}."
    beaten = {larger_first(row)[1] for row in order.wins_of(*candidates)}
    rest = join_names([model for model in order.models if model not in {*beaten, *candidates}], names)
    return f"{names[candidates[0]]} is behind no other, yet not told from {rest} on average."


def _others_behind(judged: Judgement) -> str:
    """Write which models are behind the candidates, and behind which of them."""
    order, candidates = judged.order, judged.order.candidates
    others = [model for model in order.models if model not in candidates]
    if not others:
        return ""
    beaten = {model: {larger_first(row)[1] for row in order.wins_of(model)} for model in candidates}
    above_all = [model for model in candidates if beaten[model].issuperset(others)]
    whom = judged.names[above_all[0]] if above_all else "another model at some prior"
    if len(above_all) == len(candidates) > 1:
        whom = "both" if len(candidates) == 2 else "all of these"
    return f"; {are_behind(others, judged.names)} {whom}"


def _choose_by_prior(judged: Judgement, line: LineWriter) -> str:
    order, names = judged.order, judged.names
    ranges = contender_ranges(judged.frames["leaders"], order.low, order.high)
    (first, _, end), (last, start, _) = ranges[0], ranges[-1]
    limits = [line.number(v, "prior_high", "leaders", prior_text) for v in dict.fromkeys((end, start))]
    below, above = join_names(first, names, "or"), join_names(last, names, "or")
    text = f"{below} below {limits[0]}, {above} above {limits[-1]}"
    if len(ranges) == 1 or set(first) == set(last):  # the same models may be the best at both ends
        best, *ends = min(ranges, key=lambda part: len(part[0]))
        low, high = (line.number(end, "prior_low", "leaders", prior_text) for end in ends)
        text = f"{join_names(best, names, 'or')} from {low} to {high}, elsewhere open"
    elif len(limits) > 1:
        both = len(ranges) == 3 and len(ranges[1][0]) == 2
        text += "; between, " + ("either" if both else "open")
    for better, worse, _ in order.wins:
        if {better, worse} <= {*first, *last}:
            text += f"; on average {names[better]} is ahead of {names[worse]}"
            break
    return f"It depends on the prior: {text}."


CHOICES: dict[str, Callable[[Judgement, LineWriter], str]] = {
    "choose": _choose_winner,
    "equal": _choose_cheaper,
    "tie": _choose_candidates,
    "by_prior": _choose_by_prior,
    "control": lambda judged, _: choice_beside_control(judged.order, judged.names, str(judged.control)),
    "undecided": lambda judged, _: cannot_tell(judged.names, "data"),
}


# --- how sure -----------------------------------------------------------------------------------------------


def write_certainty(judged: Judgement, line: LineWriter, omit: Collection[str]) -> str:
    """Write the one number that carries the state, then optional phrases."""
    if judged.state == "untrusted" or judged.supported_mass == 0:
        return "No test is trusted."
    phrases = [CERTAINTIES[judged.state](judged, line)]
    optional = {"detectable": _write_detectable, "tied": _write_tied, "p_best": _write_p_best}
    phrases += [write(judged, line) for name, write in optional.items() if name not in omit]
    text = f"{'; '.join(filter(None, phrases))}."
    return text if "claim" in omit else f"{text} For {judged.evaluation.design.population}."


def _lead_of_winner(judged: Judgement, line: LineWriter) -> str:
    nearest = min(judged.order.wins_of(judged.order.candidates[0]), key=abs_estimate)
    return f"Ahead of {judged.names[larger_first(nearest)[1]]} by {line.difference(nearest)}"


def _smallest_lead(judged: Judgement, line: LineWriter) -> str:
    wins = judged.order.wins_of(*judged.order.candidates)
    if not wins:
        return "Told apart at some priors only, by simultaneous bands"
    return f"Smallest lead: {write_difference(min(wins, key=abs_estimate), judged.names, line)}"


def _certainty_by_prior(judged: Judgement, line: LineWriter) -> str:
    ends = {model for better, worse, _, _ in judged.order.bands for model in (better, worse)}
    largest = max(judged.order.pairs_among(ends), key=abs_estimate)
    return f"By simultaneous bands; on average {write_difference(largest, judged.names, line)}"


def _largest_among_candidates(judged: Judgement, line: LineWriter) -> str:
    return largest_difference(judged.order.pairs_among(judged.order.candidates), judged.names, line)


CERTAINTIES: dict[str, Callable[[Judgement, LineWriter], str]] = {
    "choose": _lead_of_winner,
    "control": lambda judged, line: certainty_beside_control(judged.order, judged.names, line),
    "tie": _smallest_lead,
    "undecided": _largest_among_candidates,
    "equal": _largest_among_candidates,
    "by_prior": _certainty_by_prior,
}


def _write_tied(judged: Judgement, line: LineWriter) -> str:
    """Write the largest difference between candidates of a tie."""
    pairs = judged.order.pairs_among(judged.order.candidates)
    if judged.state != "tie" or not pairs:
        return ""
    return f"not told apart: {write_difference(max(pairs, key=abs_estimate), judged.names, line)}"


def _write_detectable(judged: Judgement, line: LineWriter) -> str:
    """Write the smallest difference that these data would have shown, of the candidates' widest pair."""
    plans, models = judged.frames["plans"], judged.order.candidates
    rows = plans[plans["model_a"].isin(models) & plans["model_b"].isin(models)]
    detectable = rows["detectable"].max()
    if judged.state not in {"undecided", "equal"} or judged.is_partial or np.isnan(detectable):
        return ""
    power = line.number(float(rows["power"].iloc[0]), "power", "plans", plain)
    return f"detectable difference {line.number(detectable, 'detectable', 'plans')} (power {power})"


def _write_p_best(judged: Judgement, line: LineWriter) -> str:
    row = next(records(judged.frames["decisions"]))
    if judged.state == "equal" or judged.is_partial or np.isnan(row.p_best):
        return ""
    p_best = line.number(row.p_best, "p_best", "decisions", partial(format_number, digits=2))
    return f"model-based P({judged.names[str(row.model)]} is best) {p_best}"


# --- where it changes ---------------------------------------------------------------------------------------


def write_changes(judged: Judgement, line: LineWriter, omit: Collection[str]) -> str:
    """Write where the highest mean changes: inside of the deployment prior, or else the nearest outside."""
    order = judged.order
    if judged.supported_mass == 0 or judged.state == "untrusted":
        return f"Not judged: {judged.names[order.models[0]]} has the highest mean seen."
    regions = list(records(judged.frames["regions"]))
    regions = [region for region in regions if region.prior_high > judged.rarest] or regions[-1:]
    low, high = max(regions[0].prior_low, min(judged.rarest, regions[0].prior_high)), regions[-1].prior_high
    if low == high:
        return f"Only prior {line.number(low, 'prior_low', 'regions', prior_text)} was looked at."
    if inside := judged.changes_inside:
        largest = max(inside, key=lambda change: change[0].margin + change[1].margin)
        others = f", and at {len(inside) - 1} more" if len(inside) > 1 else ""
        return f"{_write_change(judged, largest, line, omit)}{others}."
    changes = list(pairwise(regions))
    if not changes:
        first, last = (line.number(v, "prior_low", "regions", prior_text) for v in (low, high))
        span = f"{first}{' (lowest judged)' if low == judged.rarest else ''} to {last}"
        if judged.state in {"undecided", "equal"}:
            return f"No change seen from prior {span}."
        leader = judged.names[str(regions[0].model)]
        return f"Nowhere from prior {span}{'' if 'tail' in omit else f': {leader} has the highest mean'}."
    ends = dict.fromkeys((order.low, order.high))
    limits = " to ".join(line.number(v, "prior_low", "leaders", prior_text) for v in ends)
    nearest = min(changes, key=lambda change: _log_odds_outside(change[0].prior_high, order))
    text = _write_change(judged, nearest, line, omit)
    return f"Not {'at' if len(ends) == 1 else 'from'} prior {limits}; outside, {text[0].lower()}{text[1:]}."


def _write_change(judged: Judgement, change: Change, line: LineWriter, omit: Collection[str]) -> str:
    """Write one change of the highest mean, with the interval of its crossing."""
    below, above = change
    crossings = judged.frames["crossings"]
    same = np.isclose(crossings["prior"], below.prior_high, rtol=1e-6, atol=0)
    crossing = next(records(crossings[crossings["lead"] & same & crossings["conf_low"].notna()]), None)
    if crossing is not None and crossing.open_low and crossing.open_high:
        return "It may change at a prior that these data cannot locate"
    prior = line.number(below.prior_high, "prior_high", "regions", prior_text)
    interval = ""
    if crossing is not None:
        line.number(crossing.conf_low, "conf_low", "crossings", prior_text)
        line.number(crossing.conf_high, "conf_high", "crossings", prior_text)
        interval = f" (interval {open_interval(crossing)})"
    models = f" from {judged.names[str(below.model)]} to {judged.names[str(above.model)]}"
    return f"The highest mean passes{'' if 'names' in omit else models} at prior {prior}{interval}"


def _log_odds_outside(prior: float, order: PairwiseOrder) -> float:
    """Return how far a prior lies outside of the range considered, in log-odds."""
    x, low, high = (np.log(p) - np.log1p(-p) for p in (prior, order.low, order.high))
    return float(max(low - x, x - high))


# --- weakest point ------------------------------------------------------------------------------------------


def write_weakness(judged: Judgement, line: LineWriter) -> str:
    """Write the worst weakness, and what would mend it."""
    for write in (_few_negatives, _few_positives, _doubtful_design, _ties, _collapse, _more_data):
        if text := write(judged, line):
            return text
    return sampling_weakness(judged.evaluation.design, line)


def _few_negatives(judged: Judgement, line: LineWriter) -> str:
    if 1 - judged.supported_mass < SMALL_MASS:
        return ""
    if judged.is_partial:
        part = "all" if judged.supported_mass == 0 else "most"
        return f"Negatives are too few for {part} of the deployment prior: collect more."
    rarest = line.number(judged.rarest, "prior", "support", prior_text)
    percent = line.number(100 * (1 - judged.supported_mass), "share", "support", percent_text)
    return f"Below prior {rarest} ({percent} % of the deployment prior) negatives are too few: collect more."


def _few_positives(judged: Judgement, line: LineWriter) -> str:
    if judged.n_positive < POSITIVES_FOR_TESTS:
        count = line.number(judged.n_positive, "n_positive", "iauprec", plain)
        return f"Only {count} positives: collect more."
    fewest = float(judged.evaluation.iauprec["n_positive"].min())
    if fewest < MIN_POSITIVES_PER_FOLD:
        text = line.number(fewest, "n_positive", "iauprec", plain)
        return f"A fold has only {text} positives: use larger folds."
    return ""


def _doubtful_design(judged: Judgement, _: LineWriter) -> str:
    design = judged.evaluation.design
    if design.reason == "assumed":
        return "How the folds were made is assumed: add a case column."
    if not design.is_test_set and design.warnings:
        return "What was stated about the folds is in doubt: see the warnings."
    return ""


def _ties(judged: Judgement, line: LineWriter) -> str:
    """Write that a model has few distinct scores, or many cases at its best one, by the checks."""
    few, top = judged.few_scores, judged.check("share_at_best_score")
    if few is not None:
        count = line.number(few.statistic, "statistic", "assumptions", plain)
        scores = "distinct score" if few.statistic == 1 else "distinct scores"
        return f"{judged.most_tied} has only {count} {scores}: give finer ones."
    if top is not None and top.advice:
        percent = line.number(100 * top.statistic, "statistic", "assumptions", percent_text)
        return f"Of a fold, {percent} % share a model's best score: give finer ones."
    return ""


def _collapse(judged: Judgement, line: LineWriter) -> str:
    auc = auc_by_fold(judged.evaluation)
    cells = np.argwhere(collapsed(auc)).tolist()
    if not cells:
        return ""
    low = line.number(float(auc.to_numpy(dtype=np.float64)[tuple(cells[0])]), "auc", "iauprec")
    model = judged.names[str(auc.columns[cells[0][1]])]
    return f"{model} ranks near chance in a fold (AUC {low}): look there."


def _more_data(judged: Judgement, line: LineWriter) -> str:
    if judged.state not in {"undecided", "tie"}:
        return ""
    best, *others = judged.order.candidates
    plans = judged.frames["plans"]
    row = next(records(plans[(plans["model_a"] == best) & plans["model_b"].isin(others)]), None)
    if row is None or not row.case_factor > 1:
        return ""
    units = judged.evaluation.design.units
    pair = f"{judged.names[best]} from {judged.names[str(row.model_b)]}"
    if row.case_factor >= MAX_CASE_FACTOR:
        return f"No feasible number of {units} would tell {pair}."
    factor = line.number(row.case_factor, "case_factor", "plans", format_factor)
    return f"Too few data: telling {pair} takes about {factor} times the {units}."


def sampling_weakness(design: FoldDesign, line: LineWriter) -> str:
    """Write what a design leaves unknown."""
    if design.is_test_set:
        return "Each model was trained once: nothing is known about training anew."
    if design.n_folds < MIN_FOLDS:
        folds = "runs" if design.has_runs else "folds"
        return f"Only {line.number(design.n_folds, 'n_folds', 'design', plain)} {folds}: add some."
    if design.overlapping and not design.n_halvings:
        return (
            "Folds share training data; the correction may not hold for unstable learners: "
            "splits into halves would tell."
        )
    return "None found for the deployment."


# --- several data sets, several classes ---------------------------------------------------------------------


def datasets_verdict(
    ranking: pd.DataFrame,
    pairs: pd.DataFrame,
    iauprec: pd.DataFrame,
    *,
    control: str | None = None,
) -> Verdict:
    """Return the verdict across data sets, by the primary test's pairs."""
    names, n_datasets = short_names(map(str, ranking["model"])), iauprec["dataset"].nunique()
    order, writers = (
        PairwiseOrder(tuple(names), list(records(pairs))),
        {name: LineWriter(name) for name in LINES},
    )
    state, choice = _choice_by_pairs(order, names, "data sets", control)
    models = order.candidates if control is None else order.models_above(control) or (control,)
    return Verdict(
        state,
        models,
        choose=choice,
        how_sure=_certainty_across(order, names, writers["how_sure"]),
        where_it_changes=_winners_across(ranking, names, n_datasets, writers["where_it_changes"]),
        weakest_point=_weakness_across(n_datasets, writers["weakest_point"]),
        numbers=all_numbers(writers),
    )


def class_choice(
    models: Sequence[str], pairs: Iterable[Any], verdict: Verdict, *, control: str | None = None
) -> str:
    """Return what to deploy for one class of several, by its pairs of the family of all classes."""
    if verdict.state == "untrusted":
        return verdict.choose
    if verdict.state == "unsupported":
        return "These data can judge little of its deployment prior, or none of it: see its report."
    return _choice_by_pairs(PairwiseOrder(tuple(models), list(pairs)), short_names(models), "data", control)[
        1
    ]


def _choice_by_pairs(
    order: PairwiseOrder, names: Mapping[str, str], data: str, control: str | None
) -> tuple[str, str]:
    """Return state and choice by the pairs alone."""
    candidates = order.candidates
    if control is not None:
        return "control", choice_beside_control(order, names, control)
    others = [model for model in order.models if model not in candidates]
    if not others or not candidates:
        return "undecided", cannot_tell(names, data)
    if len(order.wins_of(candidates[0])) == len(names) - 1:
        return "choose", f"Choose {names[candidates[0]]}."
    return "tie", f"Choose {join_names(candidates, names, 'or')}; {are_behind(others, names)}."


def _certainty_across(order: PairwiseOrder, names: Mapping[str, str], line: LineWriter) -> str:
    """Write the smallest lead of a candidate, or else the largest difference."""
    wins = order.wins_of(*order.candidates)
    row = min(wins, key=abs_estimate) if wins else max(order.pairs, key=abs_estimate)
    text = certainty_beside_control(PairwiseOrder(order.models, wins or order.pairs), names, line)
    return f"{text} ({get_test(str(row.test)).name}). For further data sets like these."


def _winners_across(
    ranking: pd.DataFrame, names: Mapping[str, str], n_datasets: int, line: LineWriter
) -> str:
    """Write on how many data sets which model has the highest mean."""
    best = sorted((row for row in records(ranking) if row.n_best), key=lambda row: -row.n_best)
    counts = [
        f"{names[str(row.model)]} on {line.number(row.n_best, 'n_best', 'ranking', plain)}"
        for row in best[:MAX_NAMES]
    ]
    total = line.number(n_datasets, "dataset", "iauprec", plain)
    return f"Highest mean of {total} data sets: {', '.join(counts)}."


def _weakness_across(n_datasets: int, line: LineWriter) -> str:
    if n_datasets > MIN_FOLDS:
        return "The data sets count as a sample of those to come."
    return f"Only {line.number(n_datasets, 'dataset', 'iauprec', plain)} data sets: add some."


# --- phrases ------------------------------------------------------------------------------------------------


def choice_beside_control(order: PairwiseOrder, names: Mapping[str, str], control: str) -> str:
    """Write which models are ahead of the control, and which behind; they are not tested among themselves."""
    above = order.models_above(control)
    below = [worse for better, worse, _ in order.wins if better == control]
    rest = f"; {are_behind(below, names)} it" if below else ""
    if above:
        verb = "is" if len(above) == 1 else "are"
        return f"{join_names(above, names)} {verb} ahead of {names[control]}, the control{rest}."
    if below:
        return f"Keep {names[control]}, the control: none is ahead of it{rest}."
    return f"No model was found to differ from {names[control]}, the control."


def certainty_beside_control(order: PairwiseOrder, names: Mapping[str, str], line: LineWriter) -> str:
    """Write the smallest lead, or else the largest difference."""
    wins = [row for *_, row in order.wins]
    if not wins:
        return largest_difference(order.pairs, names, line)
    row = min(wins, key=abs_estimate)
    if len(wins) > 1:
        return f"Smallest lead: {write_difference(row, names, line)}"
    first, second = (names[model] for model in larger_first(row))
    return f"{first} is ahead of {second} by {line.difference(row)}"


def largest_difference(rows: Collection[Any], names: Mapping[str, str], line: LineWriter) -> str:
    """Write the largest of several differences, or the only one."""
    title = "Largest difference" if len(rows) > 1 else "Difference"
    return f"{title}: {write_difference(max(rows, key=abs_estimate), names, line)}"


def write_difference(row: Any, names: Mapping[str, str], line: LineWriter) -> str:
    """Write which model of a pair is above the other, and by how much."""
    first, second = (names[model] for model in larger_first(row))
    return f"{first} over {second} by {line.difference(row)}"


def cannot_tell(names: Mapping[str, str], data: str) -> str:
    """Write that no model is known to be the best."""
    return f"The {data} cannot tell which of {join_names(names, names)} is best."


def are_behind(models: Sequence[str], names: Mapping[str, str]) -> str:
    """Write that these models are behind."""
    return f"{join_names(models, names)} {'is' if len(models) == 1 else 'are'} behind"


def join_names(models: Iterable[str], names: Mapping[str, str], word: str = "and") -> str:
    """Join names into a phrase; of many, the first and how many more."""
    texts = [names[model] for model in models]
    if len(texts) > MAX_NAMES:
        texts = [*texts[:MAX_NAMES], f"{len(texts) - MAX_NAMES} more"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {word} {texts[-1]}"


def prior_text(value: float) -> str:
    """Format a prior."""
    return f"{value:.3g}"


def percent_text(value: float) -> str:
    """Format percent without decimals; never 100 where something is left, nor 0 where something is."""
    return "<1" if value < 1 else ">99" if 99 < value < 100 else f"{value:.0f}"


def plain(value: float) -> str:
    """Format a count or a setting."""
    return f"{value:g}"
