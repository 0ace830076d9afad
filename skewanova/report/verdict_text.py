"""The sentences of a verdict; "ahead" means that a test found a difference, else "highest mean"."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial, partialmethod
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logit

from skewanova.base.frames import iter_rows
from skewanova.base.text import count_decimals, format_number, format_p, format_prior_interval
from skewanova.decision.verdict import (
    FEW_NEGATIVES,
    FEW_POSITIVES,
    Change,
    Judgement,
    PairwiseOrder,
    Verdict,
    VerdictNumber,
    build_evidence_frame,
    contender_ranges,
    order_by_estimate,
    rank_certainty,
)
from skewanova.inference.catalogue import get_test
from skewanova.inference.diagnostics import pivot_auc
from skewanova.priors.evidence import MIN_POSITIVES_PER_FOLD, VERY_FEW_SCORES, effective_negatives
from skewanova.scores.design import FoldDesign
from skewanova.scores.pairing import find_collapsed

#: Words in all four lines.
MAX_WORDS = 60


#: Phrases that are left out of longer texts, in this order.
OPTIONAL_PHRASES = (
    "tail", "p_best", "test", "claim", "names", "other_end", "tied", "detectable", "equivalent", "outside",
)  # fmt: skip


#: Names in a list; the rest are counted.
MAX_NAMES = 3


#: Level of `MEASURED_RATES`.
MEASURED_LEVEL = 0.05


#: Familywise error rates of the primary pairs with unstable learners, by kind, folds and correlation
#: (studies/records/type_one_error.md; of half splits the worst of learners.md).
MEASURED_RATES = {
    ("repeated_holdout", 20, 0.2): 0.0895,
    ("repeated_holdout", 20, 0.5): 0.05,
    ("repeated_holdout", 20, 0.56): 0.03125,
    ("repeated_kfold", 10, 0.5): 0.0465,
    ("kfold", 10, 0.1): 0.0475,
}


#: A smaller unsupported fraction of the deployment prior is not mentioned.
SMALL_MASS = 0.05


#: With fewer folds or runs, their variance is poorly estimated.
MIN_FOLDS = 5


#: Checks of the scores that could reverse the choice, and the phrase for each in the weakest point.
SUSPICIONS = {
    "perfect_auc": "A label that may leak into the scores",
    "identifiers": "Scores that look like names of cases",
}


class LineWriter:
    """Writes the lines of a verdict without the phrases `omit`, and records the frame of each number."""

    def __init__(self, names: Mapping[str, str], omit: Collection[str] = ()) -> None:
        self.names, self.omit, self.line = names, omit, ""
        self.numbers: list[VerdictNumber] = []

    def begin(self, line: str) -> LineWriter:
        """Set the line of the verdict that numbers are recorded for, and return the writer."""
        self.line = line
        return self

    def add_number(
        self, value: float, quantity: str, table: str, form: Callable[[float], str] = format_number
    ) -> str:
        """Return a number as text, and append it to `numbers` with its line, quantity and frame."""
        text = form(value)
        self.numbers.append(VerdictNumber(self.line, quantity, float(value), text, table))
        return text

    #: For priors and effective numbers, and for counts and settings.
    add_prior = partialmethod(add_number, form="{:.3g}".format)
    add_count = partialmethod(add_number, form="{:g}".format)

    def write_difference(self, row: Any, table: str = "pairs", *, with_p: bool = True) -> str:
        """Return "0.012 (0.003 to 0.021), adjusted p 0.03" made positive; nan: no limits, "not tested"."""
        sign = 1 if row.estimate >= 0 else -1
        limits = sorted((sign * row.conf_low, sign * row.conf_high))
        form = partial(format_number, digits=count_decimals(limits))
        text = self.add_number(abs(row.estimate), "estimate", table, form)
        if not np.isnan(limits).any():
            low, high = map(self.add_number, limits, ("low", "high"), (table, table), (form, form))
            text += f" ({low} to {high})"
        if not with_p:
            return text
        if np.isnan(row.p_adjusted):
            return f"{text}, not tested"
        return f"{text}, adjusted p {self.add_number(row.p_adjusted, 'p_adjusted', table, format_p)}"

    def write_lead(self, row: Any, table: str = "pairs", *, with_p: bool = True) -> str:
        """Return "A over B by 0.012 ...", where A has the larger estimate; see `write_difference`."""
        first, second = (self.names[model] for model in order_by_estimate(row))
        return f"{first} over {second} by {self.write_difference(row, table, with_p=with_p)}"

    def write_interval(self, crossing: Any) -> str:
        """Return the interval of a crossing, " (interval 0.1 to 0.2)"; its limits are recorded."""
        for limit in ("conf_low", "conf_high"):
            self.add_prior(getattr(crossing, limit), limit, "crossings")
        return f" (interval {format_prior_interval(crossing)})"

    def join_names(self, models: Iterable[str], word: str = "and") -> str:
        """Return "A, B and C" with `word` for "and", or of six or more "A, B, C and N more"."""
        texts = [self.names[model] for model in models]
        if len(texts) > MAX_NAMES + 2:  # or they are as short as the count
            texts = [*texts[:MAX_NAMES], f"{len(texts) - MAX_NAMES} more"]
        return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {word} {texts[-1]}"

    def write_worse(self, models: Sequence[str], than: str = "") -> str:
        """Return "A and B are worse than C" (`than`, if not ""); four models or more are "4 others"."""
        subject = self.join_names(models) if len(models) <= MAX_NAMES else f"{len(models)} others"
        return f"{subject} {'is' if len(models) == 1 else 'are'} worse{than and f' than {than}'}"

    def write_undecided(self, data: str) -> str:
        """Return the sentence "The DATA do not separate A, B and C.", with all models by `join_names`."""
        return f"The {data} do not separate {self.join_names(self.names)}."


def format_percent(value: float) -> str:
    """Return a percentage without decimals or "%" as text, "<1" below 1, ">99" between 99 and 100."""
    return "<1" if value < 1 else ">99" if 99 < value < 100 else f"{value:.0f}"


def write_verdict(facts: Judgement) -> Verdict:
    """Return the verdict, phrases cut to MAX_WORDS; `unsupported` of partial support, unless untrusted."""
    for n_omitted in range(len(OPTIONAL_PHRASES) + 1):
        writer = LineWriter(facts.names, OPTIONAL_PHRASES[:n_omitted])
        lines = {
            "choose": write_choice(facts, writer.begin("choose")),
            "how_sure": write_certainty(facts, writer.begin("how_sure")),
            "where_it_changes": write_changes(facts, writer.begin("where_it_changes")),
            "weakest_point": write_weakness(facts, writer.begin("weakest_point")),
        }
        if len(" ".join(lines.values()).split()) <= MAX_WORDS:
            break
    unsupported = facts.is_partial and facts.state != "untrusted"
    low = facts.order.low if facts.is_partial else facts.evaluation.deployment_prior.low
    return Verdict(
        state="unsupported" if unsupported else facts.state,
        models=facts.models,
        **lines,
        warnings=facts.warnings,
        evidence=build_evidence_frame(facts.evidence, low, facts.order.high),
        part_state=facts.state if unsupported and facts.supported_mass > 0 else "",
        numbers=tuple(writer.numbers),
    )


# --- choose -------------------------------------------------------------------------------------------------


def write_choice(facts: Judgement, writer: LineWriter) -> str:
    """Return the line Choose: the models to use, or why none, and the supported priors if not all."""
    if facts.state == "untrusted":
        first = facts.frames["decisions"].head(MAX_NAMES)
        values = (writer.add_number(v, "expected_auprec", "decisions") for v in first["expected_auprec"])
        means = [f"{writer.names[str(m)]} {mean}" for m, mean in zip(first["model"], values, strict=True)]
        side = {FEW_POSITIVES: "positive", FEW_NEGATIVES: "negative"}.get(facts.distrust)
        reason = facts.distrust if side is None else _write_size(facts, writer, side)
        return f"No choice: the tests are not reliable here ({reason}). Mean IAUPREC: {', '.join(means)}."
    if facts.supported_mass == 0:
        count = _write_negatives(facts, writer, facts.evaluation.deployment_prior.high)
        needed = _write_needed(facts, writer)
        return f"No choice: the data are too few at every deployment prior ({count}, and {needed})."
    text = CHOICES[facts.state](facts, writer)
    if facts.supported_mass > 1 - SMALL_MASS:
        return text
    rarest = writer.add_prior(facts.rarest, "prior", "support")
    if not facts.is_partial:
        return f"{text.removesuffix('.')} (supported above prior {rarest})."
    percent = writer.add_number(100 * (1 - facts.supported_mass), "share", "support", format_percent)
    part = f"Priors below {rarest} ({percent} % of the deployment prior)"
    above = f"use {text.removeprefix('Use ')}" if text.startswith("Use ") else text
    high = writer.add_prior(facts.order.high, "prior_high", "leaders")
    return f"{part} cannot be judged. From there to {high}: {above}"


def _write_size(facts: Judgement, writer: LineWriter, side: str) -> str:
    """Return "57 positives" or "12 clusters with positives"; `side` is "positive" or "negative"."""
    count = writer.add_prior(getattr(facts.support, f"n_{side}"), f"n_{side}", "iauprec")
    return f"{count} {_name_units(facts, f'{side}s')}"


def _write_negatives(facts: Judgement, writer: LineWriter, prior: float) -> str:
    """Return "25 effective negatives at prior 0.1", or "9 effective clusters with negatives at prior 0.1"."""
    effective = float(effective_negatives(facts.support.n_negative, prior))
    count = writer.add_prior(effective, "effective_negatives", "support")
    units = _name_units(facts, "negatives")
    return f"{count} effective {units} at prior {writer.add_prior(prior, 'prior', 'support')}"


def _name_units(facts: Judgement, side: str) -> str:
    """Return `side` ("positives"), or "clusters with positives" if the cases have clusters."""
    return f"clusters with {side}" if facts.evaluation.design.n_clusters else side


def _write_needed(facts: Judgement, writer: LineWriter) -> str:
    """Return "30 are needed", with the number of positives or negatives that supports a prior."""
    return f"{writer.add_count(facts.support.needed, 'needed', 'support')} are needed"


def _choose_winner(facts: Judgement, writer: LineWriter) -> str:
    """Return "Use A.", "Use A on average.", or "Use A; its lead is within 0.01." if a rival is equal."""
    best = facts.order.candidates[0]
    nearest = min(facts.order.wins_of(best), key=lambda row: abs(row.estimate))
    if facts.are_equivalent(order_by_estimate(nearest)):
        margin = writer.add_count(facts.rope, "rope", "equivalence")
        return f"Use {writer.names[best]}; its lead is within {margin}."
    return f"Use {writer.names[best]}{' on average' if facts.lead_changes else ''}."


def write_equal(models: Sequence[str], writer: LineWriter, rope: float, behind: str) -> str:
    """Return "A and B are practically equal (within 0.01): use the cheaper one", `behind` and a full stop."""
    names, margin = writer.join_names(models), writer.add_count(rope, "rope", "equivalence")
    word = "cheaper one" if len(models) == 2 else "cheapest"
    return f"{names} are practically equal (within {margin}): use the {word}{behind}."


def _choose_candidates(facts: Judgement, writer: LineWriter) -> str:
    """Return "Use A or B; C is worse.", or of one candidate what it is not shown to lead on average."""
    order, candidates = facts.order, facts.order.candidates
    if len(candidates) > 1:
        return f"Use {writer.join_names(candidates, 'or')}{_write_others_behind(facts, writer)}."
    beaten = {order_by_estimate(row)[1] for row in order.wins_of(*candidates)}
    rest = writer.join_names([model for model in order.models if model not in {*beaten, *candidates}])
    return f"Use {writer.names[candidates[0]]}; a lead over {rest} on average is not shown."


def _write_others_behind(facts: Judgement, writer: LineWriter) -> str:
    """Return "; C and D are worse than A" (or "both" or the like), without inverted models, or ""."""
    order, candidates = facts.order, facts.order.candidates
    others = [model for model in order.others if model not in facts.inverted]
    if not others:
        return ""
    above_all = order.candidates_above_all
    whom = writer.names[above_all[0]] if above_all else "another model at some priors"
    if len(above_all) == len(candidates) > 1:
        whom = "both" if len(candidates) == 2 else "all of these"
    return f"; {writer.write_worse(others, whom)}"


def _choose_by_prior(facts: Judgement, writer: LineWriter) -> str:
    """Return "Use A below prior 0.1 and B above 0.2", or one range if the ends agree, and an average lead."""
    order, names = facts.order, writer.names
    ranges = contender_ranges(facts.frames["leaders"], order.low, order.high)
    (first, _, end), (last, start, _) = ranges[0], ranges[-1]
    limits = [writer.add_prior(v, "prior_high", "leaders") for v in dict.fromkeys((end, start))]
    below, above = writer.join_names(first, "or"), writer.join_names(last, "or")
    text = f"{below} below prior {limits[0]} and {above} above {limits[-1]}"
    if len(ranges) == 1 or set(first) == set(last):  # the same models may be the best at both ends
        best, *ends = min(ranges, key=lambda part: len(part[0]))
        low, high = (writer.add_prior(end, "prior_low", "leaders") for end in ends)
        text = f"{writer.join_names(best, 'or')} from prior {low} to {high}; elsewhere the data do not decide"
    elif len(limits) > 1:
        losers = {worse for _, worse, _ in order.wins} - {*first, *last}
        left = dict.fromkeys(m for models, *_ in ranges[1:-1] for m in models if m not in losers)
        open_models = writer.join_names(left, "or") if len(left) == 2 else "the data do not decide"
        text += f"; in between, {open_models}"
    wins = (f"{names[a]} is better than {names[b]}" for a, b, _ in order.wins if {a, b} <= {*first, *last})
    average = next(wins, "")
    return f"Use {text}{average and f'; on average {average}'}."


CHOICES: dict[str, Callable[[Judgement, LineWriter], str]] = {
    "choose": _choose_winner,
    "equal": lambda facts, writer: write_equal(
        facts.order.candidates, writer, facts.rope, _write_others_behind(facts, writer)
    ),
    "tie": _choose_candidates,
    "by_prior": _choose_by_prior,
    "control": lambda facts, writer: write_choice_with_control(facts.order, writer, str(facts.control)),
    "undecided": lambda _, writer: writer.write_undecided("data"),
}


def write_choice_with_control(order: PairwiseOrder, writer: LineWriter, control: str) -> str:
    """Return which models are better than the control, else to keep it, or that none differs."""
    above, name = order.models_above(control), f"{writer.names[control]}, the control"
    below = [worse for better, worse, _ in order.wins if better == control]
    rest = f"; {writer.write_worse(below, 'it')}" if below else ""
    if above:
        verb = "is" if len(above) == 1 else "are"
        return f"{writer.join_names(above)} {verb} better than {name}{rest}."
    if below:
        return f"Keep {name}: no model is shown to be better{rest}."
    return f"No difference from {name}, was found."


# --- how sure -----------------------------------------------------------------------------------------------


def write_certainty(facts: Judgement, writer: LineWriter) -> str:
    """Return text: weakest lead, TOST p, open or detectable gap, P(best), population; or no reliable test."""
    if facts.state == "untrusted" or facts.supported_mass == 0:
        return "No test is reliable here."
    rows, units = facts.evidence, facts.evaluation.design.units
    is_split = facts.state == "by_prior" and len(rows) > 1
    phrases = [_write_ends(rows, writer) if is_split else write_evidence(rows, writer, units)]
    optional = {
        "equivalent": _write_equal_p,
        "detectable": _write_detectable,
        "tied": _write_open_rival,
        "p_best": _write_first_p_best,
    }
    phrases += [write(facts, writer) for name, write in optional.items() if name not in writer.omit]
    text = f"{'; '.join(filter(None, phrases))}."
    return text if "claim" in writer.omit else f"{text} For {facts.evaluation.design.population}."


def write_evidence(rows: Sequence[Any], writer: LineWriter, units: str = "cases") -> str:
    """Return the first row's "Least certain lead: A over B ..." or difference; "Separated ..." of no rows."""
    if not rows:
        return "Separated at some priors only, by simultaneous bands"
    row, *others = rows
    several, single = ("Least certain lead: ", "") if row.reject else ("Largest difference: ", "Difference: ")
    title = several if others else single
    if not hasattr(row, "test"):  # a band
        prior = writer.add_prior(row.prior, "prior", "difference_curves")
        return f"{title}{writer.write_lead(row, 'difference_curves')} at prior {prior}"
    test = get_test(str(row.test)).name.replace("over cases", f"over {units}")
    return f"{title}{writer.write_lead(row)}{'' if 'test' in writer.omit else f' ({test})'}"


def _write_ends(rows: Sequence[Any], writer: LineWriter) -> str:
    """Return "At prior 0.05: A over B by ...; at 0.2: ..." with the bands, the less certain end first."""
    table, (row, other) = "difference_curves", rows
    text = f"At prior {writer.add_prior(row.prior, 'prior', table)}: {writer.write_lead(row, table)}"
    if "other_end" not in writer.omit:
        prior = writer.add_prior(other.prior, "prior", table)
        text += f"; at {prior}: {writer.write_lead(other, table, with_p=False)}"
    return text if "test" in writer.omit else f"{text} (simultaneous bands)"


def _find_open_rival(facts: Judgement) -> Any:
    """Return the row of the pair of candidates with the smallest adjusted p-value; raise if no pair."""
    return min(facts.order.pairs_among(facts.order.candidates), key=rank_certainty)


def _write_open_rival(facts: Judgement, writer: LineWriter) -> str:
    """Return "open: A over B by ..." ("closest open: ..." of three or more), or "" unless candidates tie."""
    if facts.state != "tie" or len(facts.order.candidates) < 2:
        return ""
    word = "open" if len(facts.order.candidates) == 2 else "closest open"
    return f"{word}: {writer.write_lead(_find_open_rival(facts), with_p=False)}"


def _write_equal_p(facts: Judgement, writer: LineWriter) -> str:
    """Return `write_equivalence` of the largest p-value between candidates, or "" unless equal."""
    p = _select_candidates(facts, "equivalence")["p_adjusted"].max()
    return write_equivalence(p, writer) if facts.state == "equal" else ""


def write_equivalence(p: float, writer: LineWriter) -> str:
    """Return "p of equivalence 0.03 (TOST)"."""
    return f"p of equivalence {writer.add_number(p, 'p_adjusted', 'equivalence', format_p)} (TOST)"


def _select_candidates(facts: Judgement, name: str) -> pd.DataFrame:
    """Return the rows of the frame `name` whose two models are both candidates."""
    frame = facts.frames[name]
    return frame[frame[["model_a", "model_b"]].isin(facts.order.candidates).all(axis=1)]


def _write_detectable(facts: Judgement, writer: LineWriter) -> str:
    """Return "detectable difference 0.01 (power 0.8)", the largest, if undecided or equal and not partial."""
    rows = _select_candidates(facts, "plans")
    detectable = rows["detectable"].max()
    if facts.state not in {"undecided", "equal"} or facts.is_partial or not detectable < 1:
        return ""
    power = writer.add_count(float(rows["power"].iloc[0]), "power", "plans")
    return f"detectable difference {writer.add_number(detectable, 'detectable', 'plans')} (power {power})"


def _write_first_p_best(facts: Judgement, writer: LineWriter) -> str:
    """Return `write_p_best` of the first model, or "" if models are equal or support is partial."""
    is_open = facts.state != "equal" and not facts.is_partial
    return write_p_best(facts.frames["decisions"], writer, "decisions") if is_open else ""


def write_p_best(ranking: pd.DataFrame, writer: LineWriter, table: str = "ranking") -> str:
    """Return "model-based P(A is best) 0.97" (or ">0.99") of the first model, or "" if it is nan."""
    row = next(iter_rows(ranking))
    if np.isnan(row.p_best):
        return ""
    form = partial(format_number, digits=2) if row.p_best <= 0.995 else lambda _: ">0.99"
    number = writer.add_number(row.p_best, "p_best", table, form)
    return f"model-based P({writer.names[str(row.model)]} is best) {number}"


# --- where it changes ---------------------------------------------------------------------------------------


def write_changes(facts: Judgement, writer: LineWriter) -> str:
    """Return the line Where it changes: largest change at deployment priors, nearest outside, or why none."""
    order = facts.order
    if facts.supported_mass == 0 or facts.state == "untrusted":
        return f"Not judged: {writer.names[order.models[0]]} has the highest observed mean."
    regions = list(iter_rows(facts.frames["regions"]))
    regions = [region for region in regions if region.prior_high > facts.rarest] or regions[-1:]
    low, high = max(regions[0].prior_low, min(facts.rarest, regions[0].prior_high)), regions[-1].prior_high
    if low == high:
        return f"Only prior {writer.add_prior(low, 'prior_low', 'regions')} was evaluated."
    if leads := facts.lead_changes:
        largest = max(leads, key=lambda change: change[0].margin + change[1].margin)
        return f"{_write_change(facts, largest, writer)}{count_others(leads)}."
    changes = list(pairwise(regions))
    if not changes:
        return _write_no_change(facts, str(regions[0].model), (low, high), writer)
    ends = dict.fromkeys((order.low, order.high))
    limits = " to ".join(writer.add_prior(v, "prior_low", "leaders") for v in ends)
    inside = f"Not {'at' if len(ends) == 1 else 'from'} prior {limits}"
    if "outside" in writer.omit:
        return f"{inside}."
    crossings = logit([below.prior_high for below, _ in changes])
    distances = np.maximum(logit(order.low) - crossings, crossings - logit(order.high))
    nearest = changes[int(distances.argmin())]
    text = _write_change(facts, nearest, writer)
    if "names" in writer.omit:
        text = text.removeprefix("The highest mean changes ")
    return f"{inside}; outside, {'not known' if text.startswith('It may') else text[0].lower() + text[1:]}."


def _write_no_change(facts: Judgement, leader: str, limits: tuple[float, float], writer: LineWriter) -> str:
    """Return "Nowhere from prior 0.05 to 0.2: ...", or "No change seen ..." or "Same ..." by state."""
    first, last = (writer.add_prior(v, "prior_low", "regions") for v in limits)
    is_cut = limits[0] == facts.rarest and not facts.is_partial
    span = f"{first}{' (lower ones lack support)' if is_cut else ''} to {last}"
    if facts.state in {"undecided", "equal"}:
        return f"No change seen from prior {span}."
    if facts.state == "tie":
        return f"Same highest mean from prior {span}."
    tail = "" if "tail" in writer.omit else f": {writer.names[leader]} has the highest mean"
    return f"Nowhere from prior {span}{tail}."


def _write_change(facts: Judgement, change: Change, writer: LineWriter) -> str:
    """Return "The highest mean changes from A to B at 0.1 (...)", or "Means cross ..." or "It may ..."."""
    below, above = change
    crossings = facts.frames["crossings"]
    same = np.isclose(crossings["prior"], below.prior_high, rtol=1e-6, atol=0)
    crossing = next(iter_rows(crossings[crossings["lead"] & same & crossings["conf_low"].notna()]), None)
    if crossing is not None and crossing.open_low and crossing.open_high:
        return "It may change at a prior that these data cannot locate"
    prior = writer.add_prior(below.prior_high, "prior_high", "regions")
    interval = "" if crossing is None else writer.write_interval(crossing)
    models = f" from {writer.names[str(below.model)]} to {writer.names[str(above.model)]}"
    if facts.state == "by_prior":  # the choice names them
        return f"Means cross at {prior}{interval}"
    return f"The highest mean changes{'' if 'names' in writer.omit else models} at prior {prior}{interval}"


def count_others(changes: Sequence[Any]) -> str:
    """Return ", and at 2 more" for the changes after the first, or "" if there are none."""
    return f", and at {len(changes) - 1} more" if len(changes) > 1 else ""


# --- weakest point ------------------------------------------------------------------------------------------


def write_weakness(facts: Judgement, writer: LineWriter) -> str:
    """Return the line Weakest point: the worst weakness, any remedy for it, or that none was found."""
    parts = (_write_suspicions, _write_scarcity, _write_flaws, _write_hidden_difference)
    design = facts.evaluation.design
    if text := next(chain.from_iterable(write(facts, writer) for write in parts), ""):
        return text
    if design.has_runs and design.n_folds >= MIN_FOLDS:
        return f"All runs share one test set: {_write_size(facts, writer, 'positive')}."
    return write_sampling_weakness(design, writer)


def _write_suspicions(facts: Judgement, writer: LineWriter) -> Iterator[str]:
    """Yield a sentence for each finding in the scores that could reverse the choice; nothing without one."""
    if facts.inverted:
        yield f"The scores of {writer.join_names(facts.inverted)} may be inverted: see the warning."
    for name, phrase in SUSPICIONS.items():
        check = facts.find_check(name)
        if check is not None and check.advice:
            yield f"{phrase}: see the warning."


def _write_scarcity(facts: Judgement, writer: LineWriter) -> Iterator[str]:
    """Yield a sentence for each lack of cases or clusters: negatives, positives, positives of a fold."""
    if 1 - facts.supported_mass >= SMALL_MASS:
        count = _write_negatives(facts, writer, facts.evaluation.deployment_prior.low)
        yield f"Only {count}; {_write_needed(facts, writer)}."
    if not facts.support.has_enough_positives:
        yield f"Only {_write_size(facts, writer, 'positive')}; {_write_needed(facts, writer)}."
    fewest = float(facts.evaluation.iauprec["n_positive"].min())
    if fewest < MIN_POSITIVES_PER_FOLD:
        count = writer.add_count(fewest, "n_positive", "iauprec")
        yield f"A fold has only {count} positives: use folds of {MIN_POSITIVES_PER_FOLD} or more."


def _write_flaws(facts: Judgement, writer: LineWriter) -> Iterator[str]:
    """Yield flaws, worst first: folds assumed or misstated, tied scores, a model near chance, small areas."""
    design, few = facts.evaluation.design, facts.tied_scores_check
    top = facts.find_check("share_at_best_score")
    if design.reason == "assumed":
        yield "How the folds were made is assumed: add a case column."
    elif design.warnings and "stated" in design.reason:
        yield "The stated design does not fit the cases: see the warnings."
    if few is not None:
        count = writer.add_count(few.statistic, "statistic", "assumptions")
        scores = "distinct score" if few.statistic == 1 else "distinct scores"
        levels = " or ratings of 7 or more levels" if few.statistic < VERY_FEW_SCORES else ""
        yield f"{facts.most_tied_model} has only {count} {scores}: provide unrounded scores{levels}."
    elif top is not None and top.advice:
        percent = writer.add_number(100 * top.statistic, "statistic", "assumptions", format_percent)
        yield f"In one fold {percent} % of cases tie at the top score: provide unrounded scores."
    auc = pivot_auc(facts.evaluation)
    for row, column in np.argwhere(find_collapsed(auc))[:1].tolist():
        low, model = float(auc.iloc[row, column]), writer.names[str(auc.columns[column])]
        text = writer.add_number(low, "auc", "iauprec")
        yield f"{model} ranks near chance in a fold (AUC {text}): find out why."
    small = facts.find_check("positives_times_area")
    if small is not None and small.advice:
        yield f"{small.advice[0].upper()}{small.advice[1:]}."


def _write_hidden_difference(facts: Judgement, writer: LineWriter) -> Iterator[str]:
    """Yield a sentence if no model wins: largest difference not excluded of the best two, unless quoted."""
    # A factor of cases would be planned on the observed difference, which may be noise (docs/planning.md).
    if facts.state not in {"undecided", "tie"}:
        return
    best, *others = facts.order.candidates
    plans = facts.frames["plans"]
    rows = plans[(plans["model_a"] == best) & plans["model_b"].isin(others)].head(1)
    if not (rows["case_factor"] > 1).any():
        return
    pair = {best, str(rows["model_b"].item())}
    quoted = facts.evidence[:1]
    if facts.state == "tie":
        quoted = [] if "tied" in writer.omit else [_find_open_rival(facts)]
    if any({row.model_a, row.model_b} == pair for row in quoted):
        return
    (row,) = facts.order.pairs_among(pair)
    largest = float(np.nanmax(np.abs([row.conf_low, row.conf_high, row.estimate])))
    names = " and ".join(writer.names[model] for model in facts.order.candidates if model in pair)
    limit = writer.add_number(largest, "limit", "pairs")
    yield f"The data do not exclude a difference of {limit} between {names}."


def write_sampling_weakness(design: FoldDesign, writer: LineWriter, rates: Any = MEASURED_RATES) -> str:
    """Return a sentence on the first weakness of a design, or "None found for the deployment."."""
    if design.is_test_set:
        return "Each model was trained once, so retraining is not covered."
    if design.n_folds < MIN_FOLDS:
        count = writer.add_count(design.n_folds, "n_folds", "design")
        return f"Only {count} {'runs' if design.has_runs else 'folds'}: use {MIN_FOLDS} or more."
    if design.overlapping and not design.n_halvings:
        return _write_shared_training(design, writer, rates)
    if design.kind == "independent" and design.reason == "as stated":
        return "Fold independence is stated, not checked."
    return "None found for the deployment."


def _write_shared_training(design: FoldDesign, writer: LineWriter, rates: Any) -> str:
    """Return a sentence on shared training data, with the simulated type I error if it was measured."""
    correlation = design.ratio / (1 + design.ratio)
    rate = rates.get((design.kind, design.n_folds, round(correlation, 2)))
    if rate is None:
        text = (
            "Folds share training data; error rates with unstable learners were not measured for this design"
        )
        return f"{text}: halvings of the data would settle this." if rates is MEASURED_RATES else f"{text}."
    level = writer.add_count(MEASURED_LEVEL, "level", "design")
    is_half = round(design.test_fraction or 0.0, 2) == 0.5
    remedy = "" if rate <= MEASURED_LEVEL or is_half else "; half splits lower it"
    return (
        "Folds share training data, so p and intervals are approximate: simulated type I error "
        f"{writer.add_number(rate, 'rate', 'design')} with unstable learners, nominal {level}{remedy}."
    )
