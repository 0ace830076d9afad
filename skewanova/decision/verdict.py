"""The verdict: which model, how sure, where it changes, what is weakest.

It is made once, from the frames of a comparison, and every output shows it. Models are told apart on average
by the headline family of pairs, and along the prior by the simultaneous bands; the test of all models decides
nothing here. "Ahead" is said of tested statements only, "highest mean" of untested ones.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.frames import Framed, records
from skewanova.base.rounding import TIE
from skewanova.base.text import (
    enough_digits,
    format_factor,
    format_number,
    format_p,
    open_interval,
    short_names,
)
from skewanova.evaluation.along_prior import distinct_cases, rarest_supported
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.catalogue import known
from skewanova.inference.diagnostics import auc_by_fold
from skewanova.priors.evidence import FEW_SCORES, POSITIVES_FOR_TESTS, too_tied
from skewanova.priors.weightings import DeploymentPrior, cut_below, share_above
from skewanova.scores.design import SAME_CASES, Resampling
from skewanova.scores.soundness import collapsed, fewest_different

#: The lines of a verdict by the names of their fields.
LINES = {
    "choose": "Choose",
    "how_sure": "How sure",
    "where_it_changes": "Where it changes",
    "weakest_point": "Weakest point",
}


#: Frames that a verdict is made from.
VERDICT_FRAMES = (
    "posthoc",
    "differing_priors",
    "leaders",
    "regions",
    "crossings",
    "decisions",
    "support",
    "equivalence",
    "plans",
    "assumptions",
)


#: Columns of the numbers of a verdict.
VERDICT_COLUMNS = ("line", "quantity", "value", "shown", "table")


#: Words of all four lines together.
MOST_WORDS = 60


#: What goes first where there would be more, in this order.
SPARED = ("tail", "p_best", "claim", "names", "tied", "detectable")


#: Longer lists of models are cut, and the others counted.
MOST_NAMED = 3


#: Fewer positives than this in all leave nothing to test.
HARDLY_ANY_POSITIVES = 10


#: Fewer positives than this in a fold let single cases decide its area.
POSITIVES_IN_A_FOLD = 10


#: Less of the deployment prior than this that the data can judge makes that the first thing to say.
ENOUGH_OF_THE_PRIOR = 0.5


#: Less of the deployment prior than this out of reach is not worth a line.
LITTLE_OF_THE_PRIOR = 0.05


#: Fewer folds or runs than this show little of how they vary.
FEW_FOLDS = 5


#: More than this many times the data is out of reach, and nothing to advise.
MOST_DATA = 1000.0


@dataclass(frozen=True)
class VerdictNumber:
    """One number of a verdict.

    Attributes
    ----------
    line : str
        Field of the verdict that says it.
    quantity : str
        Column that has it, or what it is.
    value : float
        In full precision.
    shown : str
        As the line says it.
    table : str
        Frame of the comparison that has it.
    """

    line: str
    quantity: str
    value: float
    shown: str
    table: str


@dataclass(frozen=True)
class Verdict(Framed):
    """Which model to deploy, how sure that is, where it would change, and what is weakest about it.

    Attributes
    ----------
    state : str
        ``choose`` (one model is ahead of every other), ``tie`` (some are behind), ``equal`` (the candidates
        are practically equal), ``undecided``, ``control`` (all are compared with one), ``by_prior``,
        ``unsupported`` (most of the deployment prior is out of reach), ``untrusted`` (no test holds here), or
        ``single`` (one model).
    models : tuple of str
        The candidates: models that nothing tested puts behind another.
    choose, how_sure, where_it_changes, weakest_point : str
        The four lines, with names cut as everywhere in text.
    part_state : str
        Of ``unsupported``, the state over the priors that the data can judge.
    numbers : tuple of VerdictNumber
        Every number said, with the frame that has it.

    Examples
    --------
    >>> from skewanova import compare, load_satellite_scores
    >>> verdict = compare(load_satellite_scores(), priors=(0.5, 0.2)).verdict
    >>> verdict.state, verdict.models
    ('undecided', ('A', 'C', 'B'))
    >>> verdict.choose
    'The data cannot tell which of A, C and B is best.'
    """

    state: str
    models: tuple[str, ...]
    choose: str
    how_sure: str
    where_it_changes: str
    weakest_point: str
    part_state: str = ""
    numbers: tuple[VerdictNumber, ...] = field(default=(), repr=False)

    @property
    def trusted(self) -> bool:
        """Whether any test of it is."""
        return self.state != "untrusted" and (self.state != "unsupported" or self.part_state != "")

    def __str__(self) -> str:
        """Return the four lines."""
        return "\n".join(f"{title}: {text}" for title, text, _ in self.lines())

    def _repr_html_(self) -> str:
        """Return the four lines for a notebook."""
        lines = (f"<dt>{title}</dt><dd>{escape(text)}</dd>" for title, text, _ in self.lines())
        return f"<dl>{''.join(lines)}</dl>"

    def lines(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return title, text and tables of each line."""
        found = []
        for name, title in LINES.items():
            tables = dict.fromkeys(number.table for number in self.numbers if number.line == name)
            found.append((title, str(getattr(self, name)), tuple(tables)))
        return found

    def to_text(self, width: int = 80) -> str:
        """Return the four lines as text of at most `width` columns, the words behind one another.

        Parameters
        ----------
        width : int, default 80
            Columns to fill.

        Returns
        -------
        str
            One paragraph a line.
        """
        room = max(map(len, LINES.values())) + 2
        return "\n".join(
            textwrap.fill(
                text,
                width,
                initial_indent=f"{title:<{room}}",
                subsequent_indent=" " * room,
                break_on_hyphens=False,
            )
            for title, text, _ in self.lines()
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers, one a row, with the frame that each comes from."""
        rows = [[getattr(number, name) for name in VERDICT_COLUMNS] for number in self.numbers]
        return pd.DataFrame(rows, columns=list(VERDICT_COLUMNS))


class Speech:
    """Numbers of one line as they are said, each kept with where it comes from."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.numbers: list[VerdictNumber] = []

    def __call__(
        self, value: float, quantity: str, table: str, form: Callable[[float], str] = format_number
    ) -> str:
        """Say a number."""
        shown = form(value)
        self.numbers.append(VerdictNumber(self.line, quantity, float(value), shown, table))
        return shown

    def lead(self, row: Any) -> str:
        """Size of a difference, its interval and adjusted p; the larger model first."""
        sign = 1 if row.estimate >= 0 else -1
        limits = sorted((sign * row.conf_low, sign * row.conf_high))
        form = partial(format_number, digits=enough_digits(limits))
        said = self(abs(row.estimate), "estimate", "posthoc", form)
        if not np.isnan(limits).any():
            ends = zip(limits, ("low", "high"), strict=True)
            low, high = (self(value, name, "posthoc", form) for value, name in ends)
            said += f" ({low} to {high})"
        if np.isnan(row.p_adjusted):
            return f"{said}, not tested"
        return f"{said}, adjusted p {self(row.p_adjusted, 'p_adjusted', 'posthoc', format_p)}"


@dataclass(frozen=True)
class Standing:
    """Who is ahead of whom.

    Attributes
    ----------
    models : tuple of str
        Models in ranking order.
    pairs : list
        Rows of the headline family.
    bands : list of (better, worse, low, high)
        Stretches of priors on which a band puts one model above another.
    low, high : float
        Priors looked at.
    """

    models: tuple[str, ...]
    pairs: list[Any]
    bands: list[tuple[str, str, float, float]]
    low: float
    high: float

    @property
    def ahead(self) -> list[tuple[str, str, Any]]:
        """Pairs that a test tells apart on average: the one ahead, the one behind, the row."""
        return [(*in_order(row), row) for row in self.pairs if row.reject]

    @property
    def candidates(self) -> tuple[str, ...]:
        """Models that nothing tested puts behind another."""
        behind = {after for _, after, _ in self.ahead} | {worse for _, worse, _, _ in self.bands}
        return tuple(model for model in self.models if model not in behind)

    @property
    def swapped(self) -> bool:
        """Whether two models not behind on average are each ahead of the other somewhere."""
        behind = {after for _, after, _ in self.ahead}
        above = {(better, worse) for better, worse, _, _ in self.bands if not behind & {better, worse}}
        return any((worse, better) in above for better, worse in above)

    def over(self, control: str) -> tuple[str, ...]:
        """Models ahead of the control on average."""
        found = {first for first, second, _ in self.ahead if second == control}
        return tuple(model for model in self.models if model in found)

    def leads(self, model: str) -> list[Any]:
        """Rows of the pairs that put the model ahead."""
        return [row for first, _, row in self.ahead if first == model]


def in_order(row: Any) -> tuple[str, str]:
    """The models of a pair, the one of the larger value first."""
    a, b = str(row.model_a), str(row.model_b)
    return (a, b) if row.estimate >= 0 else (b, a)


def verdict_of(
    frames: Mapping[str, pd.DataFrame], measures: Evaluation, *, rope: float, control: str | None = None
) -> Verdict:
    """The verdict on a comparison, from its frames and what was measured."""
    return _Judge(frames, measures, rope, control).verdict()


def judged_part(measures: Evaluation) -> DeploymentPrior | None:
    """The part of the deployment prior that the data can judge, if it is some but less than half of it."""
    limit = rarest_supported(measures)
    share = share_above(measures.deployment_prior, limit)
    return cut_below(measures.deployment_prior, limit) if 0 < share < ENOUGH_OF_THE_PRIOR else None


class _Judge:
    """What the lines are made of, looked up once."""

    def __init__(
        self, frames: Mapping[str, pd.DataFrame], measures: Evaluation, rope: float, control: str | None
    ) -> None:
        self.frames, self.measures, self.rope, self.control = frames, measures, rope, control
        self.names = short_names(str(model) for model in frames["decisions"]["model"])
        self.models = tuple(self.names)
        self.limit = rarest_supported(measures)
        self.share = share_above(measures.deployment_prior, self.limit)
        self.negatives, self.positives = distinct_cases(measures)
        self.untrusted = "" if len(self.models) == 1 else self._untrusted()
        self.part = self.share < ENOUGH_OF_THE_PRIOR
        self.standing = self._standing()

    def verdict(self) -> Verdict:
        """State and lines; what may go goes until they are short enough."""
        state = self._state()
        models = () if state == "untrusted" or self.share == 0 else self.standing.candidates
        if state == "control" and self.control is not None and models:
            models = self.standing.over(self.control) or (self.control,)
        shown = "unsupported" if self.part and state not in {"untrusted", "single"} else state
        for n_spared in range(len(SPARED) + 1):
            spared = SPARED[:n_spared]
            said = {line: Speech(line) for line in LINES}
            texts = {
                "choose": self._choose(state, said["choose"]),
                "how_sure": self._how_sure(state, said["how_sure"], spared),
                "where_it_changes": self._where(state, said["where_it_changes"], spared),
                "weakest_point": self._weakest(state, said["weakest_point"]),
            }
            if len(" ".join(texts.values()).split()) <= MOST_WORDS:
                break
        numbers = tuple(number for speech in said.values() for number in speech.numbers)
        part_state = state if shown == "unsupported" and self.share > 0 else ""
        return Verdict(shown, models, **texts, part_state=part_state, numbers=numbers)

    # --- state ----------------------------------------------------------------------------------------------

    def _standing(self) -> Standing:
        """Pairs and bands over the deployment prior, or over the part that the data can judge."""
        weighting = self.measures.deployment_prior
        low, high = max(weighting.low, min(self.limit, weighting.high)), weighting.high
        posthoc = self.frames["posthoc"]
        rows = posthoc[posthoc["response"] == "iauprec_supported"] if self.part else headline(posthoc)
        differing = self.frames["differing_priors"]
        return Standing(self.models, list(records(rows)), within(differing, low, high), low, high)

    def _untrusted(self) -> str:
        """Why no test holds here; nothing where one does."""
        pairs = headline(self.frames["posthoc"])
        apart = pairs["estimate"].abs() > TIE
        flat = (pairs["std_error"] == 0) | pairs["p_adjusted"].isna()
        if apart.any() and flat.all():
            return untested_because(list(records(pairs)))
        if self.positives < HARDLY_ANY_POSITIVES:
            return "there are hardly any positives"
        if SAME_CASES in self.measures.design.warnings:
            return "all folds test the same cases"
        over_cases = self.measures.design.kind in {"one_set", "shared_cases"}
        few = self._few_scores() if over_cases else None
        if few is None:
            return ""
        weighting = self.measures.deployment_prior
        priors, weights = weighting.quadrature()
        effective = self.negatives / float(np.exp(weights @ np.log((1 - priors) / priors)))
        lacking = too_tied(few.statistic, self.positives, effective, weighting.low)
        return lacking and f"{self._most_tied()} has few distinct scores, and {lacking} are few"

    def _few_scores(self) -> Any:
        """The check of distinct scores, if so few leave most cases of a model tied."""
        found = self._check("different_scores")
        total = sum(self.measures.iauprec[["n_positive", "n_negative"]].iloc[0])
        return found if found is not None and found.statistic < min(FEW_SCORES, total) else None

    def _most_tied(self) -> str:
        """The model with the fewest different scores."""
        scores = self.measures.scores
        return "a model" if scores is None else self.names[fewest_different(list(scores.ties())).model]

    def _state(self) -> str:
        """The first state that applies."""
        if len(self.models) == 1:
            return "single"
        if self.untrusted:
            return "untrusted"
        if self.control is not None:
            return "control"
        found, candidates = self.standing, self.standing.candidates
        if not candidates or found.swapped:
            return "by_prior"
        if len(candidates) > 1 and self._equal(candidates):
            return "equal"
        if len(found.leads(candidates[0])) == len(self.models) - 1:
            return "choose"
        return "undecided" if len(candidates) == len(self.models) else "tie"

    def _equal(self, models: Collection[str]) -> bool:
        """Whether two one-sided tests put every difference within the margin that would not matter."""
        frame = self.frames["equivalence"]
        rows = frame[frame["model_a"].isin(models) & frame["model_b"].isin(models)]
        return not self.part and bool(rows["equivalent"].all())

    # --- choose ---------------------------------------------------------------------------------------------

    def _choose(self, state: str, say: Speech) -> str:
        if state == "untrusted":
            means = (
                f"{self.names[str(row.model)]} {say(row.expected_auprec, 'expected_auprec', 'decisions')}"
                for row in list(records(self.frames["decisions"]))[:MOST_NAMED]
            )
            return f"No test can be trusted here: {self.untrusted}. Highest means: {', '.join(means)}."
        text = str(getattr(self, f"_choose_{state}")(say))
        if state == "single" or self.share > 1 - LITTLE_OF_THE_PRIOR:
            return text
        if not self.part:
            judged = say(self.limit, "prior", "support", prior_words)
            return f"{text.removesuffix('.')} (judged above prior {judged})."
        limit = say(self.limit, "prior", "support", prior_words)
        if self.share == 0:
            few = f"below prior {limit} negatives are too few"
            return f"These data can judge no prior of the deployment: {few}."
        share = say(100 * self.share, "share", "support", share_words)
        part = f"priors above {limit} only ({share} % of the deployment prior)"
        return f"These data can judge {part}. There: {text}"

    def _choose_single(self, say: Speech) -> str:
        row = next(records(self.frames["decisions"]))
        area = say(row.expected_auprec, "expected_auprec", "decisions")
        return f"{self.listed(self.models)}, the only model: IAUPREC {area}."

    def _choose_choose(self, say: Speech) -> str:
        best = self.standing.candidates[0]
        nearest = smallest(self.standing.leads(best))
        if self._equal({str(nearest.model_a), str(nearest.model_b)}):
            margin = say(self.rope, "rope", "equivalence", plain)
            return f"Choose {self.names[best]}; its lead is within {margin}."
        return f"Choose {self.names[best]}{' on average' if self._inside() else ''}."

    def _choose_equal(self, say: Speech) -> str:
        candidates = self.standing.candidates
        margin = say(self.rope, "rope", "equivalence", plain)
        behind = self._behind(candidates)
        return f"{self.listed(candidates)} are practically equal (within {margin}): take the cheaper{behind}."

    def _choose_control(self, _: Speech) -> str:
        return choice_beside(self.standing, self.names, str(self.control))

    def _choose_undecided(self, _: Speech) -> str:
        return f"The data cannot tell which of {self.listed(self.models)} is best."

    def _choose_tie(self, _: Speech) -> str:
        candidates = self.standing.candidates
        if len(candidates) > 1:
            return f"Choose {self.listed(candidates, 'or')}{self._behind(candidates)}."
        led = {model for row in self.standing.leads(candidates[0]) for model in in_order(row)}
        open_to = [model for model in self.models if model not in {*led, *candidates}]
        alone = self.names[candidates[0]]
        return f"{alone} is behind no other, yet not told from {self.listed(open_to)} on average."

    def _behind(self, candidates: Sequence[str]) -> str:
        """The others, and whom they are behind."""
        others = [model for model in self.models if model not in candidates]
        if not others:
            return ""
        led = {m: {in_order(row)[1] for row in self.standing.leads(m)} for m in candidates}
        over_all = [model for model in candidates if set(others) <= led[model]]
        whom = self.names[over_all[0]] if over_all else "another model at some prior"
        if len(over_all) == len(candidates) > 1:
            whom = "both" if len(candidates) == 2 else "all of these"
        return f"; {behind([self.names[model] for model in others])} {whom}"

    def _choose_by_prior(self, say: Speech) -> str:
        stretches = contender_stretches(self.frames["leaders"], self.standing.low, self.standing.high)
        (first, _, end), (last, start, _) = stretches[0], stretches[-1]
        limits = [say(v, "prior_high", "leaders", prior_words) for v in dict.fromkeys((end, start))]
        told = f"{self.listed(first, 'or')} below {limits[0]}, {self.listed(last, 'or')} above {limits[-1]}"
        if len(stretches) == 1 or set(first) == set(last):
            told = self._between(stretches, say)
        elif len(limits) > 1:
            both = len(stretches) == 3 and len(stretches[1][0]) == 2
            told += "; between, " + ("either" if both else "open")
        named = {*first, *last}
        average = [(a, b) for a, b, _ in self.standing.ahead if {a, b} <= named]
        for a, b in average[:1]:
            told += f"; on average {self.names[a]} is ahead of {self.names[b]}"
        return f"It depends on the prior: {told}."

    def _between(self, stretches: list[tuple[tuple[str, ...], float, float]], say: Speech) -> str:
        """What holds between, where the same models may be the best at both ends."""
        narrow = min(stretches, key=lambda stretch: len(stretch[0]))
        ends = [say(v, "prior_low", "leaders", prior_words) for v in narrow[1:]]
        return f"{self.listed(narrow[0], 'or')} from {ends[0]} to {ends[1]}, elsewhere open"

    # --- how sure -------------------------------------------------------------------------------------------

    def _how_sure(self, state: str, say: Speech, spared: Collection[str]) -> str:
        """The one number that carries the state, then what may go first to save words."""
        if state in {"untrusted", "single"} or (self.part and self.share == 0):
            return "No test is trusted." if state != "single" else "There is nothing to compare with."
        parts = [getattr(self, f"_sure_{'alike' if state in {'undecided', 'equal'} else state}")(say)]
        if "detectable" not in spared and state in {"undecided", "equal"}:
            parts[0] += self._detectable(say)
        if "tied" not in spared and state == "tie":
            parts.append(self._tied(say))
        if "p_best" not in spared and state != "equal" and not self.part:
            parts.append(self._p_best(say))
        claim = f" For {self.measures.design.claim}."
        return f"{'; '.join(part for part in parts if part)}.{'' if 'claim' in spared else claim}"

    def _sure_choose(self, say: Speech) -> str:
        nearest = smallest(self.standing.leads(self.standing.candidates[0]))
        return f"Ahead of {self.names[in_order(nearest)[1]]} by {say.lead(nearest)}"

    def _sure_control(self, say: Speech) -> str:
        return sure_beside(self.standing, self.names, say)

    def _sure_tie(self, say: Speech) -> str:
        candidates = self.standing.candidates
        leads = [row for model in candidates for row in self.standing.leads(model)]
        if not leads:
            return "Told apart at some priors only, by simultaneous bands"
        return f"Smallest lead: {over(smallest(leads), self.names, say)}"

    def _tied(self, say: Speech) -> str:
        """The largest difference between candidates."""
        pairs = self._among(self.standing.candidates)
        return f"not told apart: {over(max(pairs, key=size), self.names, say)}" if pairs else ""

    def _sure_alike(self, say: Speech) -> str:
        return largest_difference(self._among(self.standing.candidates), self.names, say)

    def _sure_by_prior(self, say: Speech) -> str:
        ends = {model for better, worse, _, _ in self.standing.bands for model in (better, worse)}
        mean = over(max(self._among(ends), key=size), self.names, say)
        return f"By simultaneous bands; on average {mean}"

    def _among(self, models: Collection[str]) -> list[Any]:
        return [row for row in self.standing.pairs if {row.model_a, row.model_b} <= set(models)]

    def _detectable(self, say: Speech) -> str:
        """The smallest difference that these data would have shown, of the candidates' widest pair."""
        plans, models = self.frames["plans"], self.standing.candidates
        rows = plans[plans["model_a"].isin(models) & plans["model_b"].isin(models)]
        size = rows["detectable"].max()
        if self.part or np.isnan(size):
            return ""
        power = say(float(rows["power"].iloc[0]), "power", "plans", plain)
        return f"; detectable difference {say(size, 'detectable', 'plans')} (power {power})"

    def _p_best(self, say: Speech) -> str:
        row = next(records(self.frames["decisions"]))
        if np.isnan(row.p_best):
            return ""
        name = self.names[str(row.model)]
        return f"model-based P({name} is best) {say(row.p_best, 'p_best', 'decisions', two_digits)}"

    # --- where it changes -----------------------------------------------------------------------------------

    def _where(self, state: str, say: Speech, spared: Collection[str]) -> str:
        """Changes of the highest mean: inside of the deployment prior, or else the nearest outside."""
        if len(self.models) == 1:
            return "There is no other model."
        regions = list(records(self.frames["regions"]))
        if self.share == 0 or state == "untrusted":
            return f"Not judged: {self.names[self.models[0]]} has the highest mean seen."
        regions = [region for region in regions if region.prior_high > self.limit] or regions[-1:]
        low, high = max(regions[0].prior_low, min(self.limit, regions[0].prior_high)), regions[-1].prior_high
        if low == high:
            return f"Only prior {say(low, 'prior_low', 'regions', prior_words)} was looked at."
        changes = list(pairwise(regions))
        found, inside = self.standing, self._inside()
        if inside:
            more = len(inside) - 1
            nearest = max(inside, key=lambda change: change[0].margin + change[1].margin)
            return f"{self._change(nearest, say, spared)}{f', and at {more} more' if more else ''}."
        if not changes:
            first, last = (say(v, "prior_low", "regions", prior_words) for v in (low, high))
            stretch = f"{first}{' (lowest judged)' if low == self.limit else ''} to {last}"
            if state in {"undecided", "equal"}:
                return f"No change seen from prior {stretch}."
            leader = self.names[str(regions[0].model)]
            tail = "" if "tail" in spared else f": {leader} has the highest mean"
            return f"Nowhere from prior {stretch}{tail}."
        ends = (say(v, "prior_low", "leaders", prior_words) for v in dict.fromkeys((found.low, found.high)))
        nearest = min(changes, key=lambda change: _distance(change[0].prior_high, found.low, found.high))
        told = self._change(nearest, say, spared)
        at = "at" if found.low == found.high else "from"
        return f"Not {at} prior {' to '.join(ends)}; outside, {told[0].lower()}{told[1:]}."

    def _inside(self) -> list[tuple[Any, Any]]:
        """Changes of the highest mean within the priors looked at."""
        found = self.standing
        changes = pairwise(records(self.frames["regions"]))
        return [change for change in changes if found.low <= change[0].prior_high <= found.high]

    def _change(self, change: tuple[Any, Any], say: Speech, spared: Collection[str]) -> str:
        """One change of the highest mean, with the interval of its crossing."""
        below, above = change
        crossings = self.frames["crossings"]
        here = np.isclose(crossings["prior"], below.prior_high, rtol=1e-6, atol=0)
        found = list(records(crossings[crossings["lead"] & here & crossings["conf_low"].notna()]))[:1]
        if any(row.open_low and row.open_high for row in found):
            return "It may change at a prior that these data cannot locate"
        prior = say(below.prior_high, "prior_high", "regions", prior_words)
        limits = ""
        for row in found:
            for value, name in ((row.conf_low, "conf_low"), (row.conf_high, "conf_high")):
                say(value, name, "crossings", prior_words)
            limits = f" (interval {open_interval(row)})"
        first, second = self.names[str(below.model)], self.names[str(above.model)]
        names = "" if "names" in spared else f" from {first} to {second}"
        return f"The highest mean passes{names} at prior {prior}{limits}"

    # --- weakest point --------------------------------------------------------------------------------------

    def _weakest(self, state: str, say: Speech) -> str:
        """The worst that there is to say, and what would mend it."""
        for weakness in (self._few_negatives, self._few_positives, self._design, self._ties, self._collapse):
            if text := weakness(say):
                return text
        if state in {"undecided", "tie"} and (text := self._more_data(say)):
            return text
        return sampling_weakness(self.measures.design, say)

    def _few_negatives(self, say: Speech) -> str:
        if 1 - self.share < LITTLE_OF_THE_PRIOR:
            return ""
        if self.part:
            what = "all" if self.share == 0 else "most"
            return f"Negatives are too few for {what} of the deployment prior: collect more."
        limit = say(self.limit, "prior", "support", prior_words)
        share = say(100 * (1 - self.share), "share", "support", share_words)
        return f"Below prior {limit} ({share} % of the deployment prior) negatives are too few: collect more."

    def _few_positives(self, say: Speech) -> str:
        if self.positives < POSITIVES_FOR_TESTS:
            return f"Only {say(self.positives, 'n_positive', 'iauprec', plain)} positives: collect more."
        fewest = float(self.measures.iauprec["n_positive"].min())
        if fewest < POSITIVES_IN_A_FOLD:
            shown = say(fewest, "n_positive", "iauprec", plain)
            return f"A fold has only {shown} positives: use larger folds."
        return ""

    def _design(self, _: Speech) -> str:
        design = self.measures.design
        if design.reason == "assumed":
            return "How the folds were made is assumed: add a case column."
        if design.kind != "one_set" and design.warnings:
            return "What was stated about the folds is in doubt: see the warnings."
        return ""

    def _ties(self, say: Speech) -> str:
        """Few different scores of a model, or many cases at its best one, by the checks."""
        few, top = self._few_scores(), self._check("share_at_best_score")
        if few is not None:
            shown = say(few.statistic, "statistic", "assumptions", plain)
            scores = "distinct score" if few.statistic == 1 else "distinct scores"
            return f"{self._most_tied()} has only {shown} {scores}: give finer ones."
        if top is not None and top.advice:
            shown = say(100 * top.statistic, "statistic", "assumptions", share_words)
            return f"Of a fold, {shown} % share a model's best score: give finer ones."
        return ""

    def _check(self, name: str) -> Any:
        """The row of a check, where it was made."""
        frame = self.frames["assumptions"]
        return next(records(frame[frame["check"] == name]), None)

    def _collapse(self, say: Speech) -> str:
        auc = auc_by_fold(self.measures)
        lost = np.argwhere(collapsed(auc)).tolist()
        if not lost:
            return ""
        fold, place = lost[0]
        low = say(float(auc.to_numpy(dtype=np.float64)[fold, place]), "auc", "iauprec")
        return f"{self.names[str(auc.columns[place])]} ranks near chance in a fold (AUC {low}): look there."

    def _more_data(self, say: Speech) -> str:
        best, *others = self.standing.candidates
        plans = self.frames["plans"]
        rows = plans[(plans["model_a"] == best) & plans["model_b"].isin(others)]
        if rows.empty or not float(rows["case_factor"].iloc[0]) > 1:
            return ""
        row, units = next(records(rows)), self.measures.design.units
        told = f"{self.names[best]} from {self.names[str(row.model_b)]}"
        if row.case_factor >= MOST_DATA:
            return f"No feasible number of {units} would tell {told}."
        factor = say(row.case_factor, "case_factor", "plans", format_factor)
        return f"Too few data: telling {told} takes about {factor} times the {units}."

    def listed(self, models: Iterable[str], word: str = "and") -> str:
        """Names in a row; of many, the first and how many more."""
        return listed([self.names[model] for model in models], word)


def choice_beside(standing: Standing, names: Mapping[str, str], control: str) -> str:
    """Which models are ahead of the control, and which behind; they are not tested against each other."""
    above = [names[model] for model in standing.over(control)]
    under = [names[second] for first, second, _ in standing.ahead if first == control]
    if not above and not under:
        return f"No model was found to differ from {names[control]}, the control."
    if not above:
        return f"Keep {names[control]}, the control: none is ahead of it; {behind(under)} it."
    verb = "is" if len(above) == 1 else "are"
    rest = f"; {behind(under)} it" if under else ""
    return f"{listed(above)} {verb} ahead of {names[control]}, the control{rest}."


def sure_beside(standing: Standing, names: Mapping[str, str], say: Speech) -> str:
    """The smallest lead beside the control, or else the largest difference."""
    leads = [row for *_, row in standing.ahead]
    if not leads:
        return largest_difference(standing.pairs, names, say)
    row = smallest(leads)
    if len(leads) > 1:
        return f"Smallest lead: {over(row, names, say)}"
    first, second = (names[model] for model in in_order(row))
    return f"{first} is ahead of {second} by {say.lead(row)}"


def largest_difference(rows: Collection[Any], names: Mapping[str, str], say: Speech) -> str:
    """The largest of several differences, or the only one."""
    what = "Largest difference" if len(rows) > 1 else "Difference"
    return f"{what}: {over(max(rows, key=size), names, say)}"


def over(row: Any, names: Mapping[str, str], say: Speech) -> str:
    """Which model of a pair is above the other, and by how much."""
    first, second = (names[model] for model in in_order(row))
    return f"{first} over {second} by {say.lead(row)}"


def size(row: Any) -> float:
    """Size of a difference."""
    return abs(float(row.estimate))


def sampling_weakness(design: Resampling, say: Speech) -> str:
    """What a design leaves unknown."""
    if design.kind == "one_set":
        return "Each model was trained once: nothing is known about training anew."
    if design.n_folds < FEW_FOLDS:
        what = "runs" if design.kind == "shared_cases" else "folds"
        return f"Only {say(design.n_folds, 'n_folds', 'design', plain)} {what}: add some."
    if design.overlapping and not design.n_halvings:
        return (
            "Folds share training data; the correction may not hold for unstable learners: "
            "splits into halves would tell."
        )
    return "None found for the deployment."


def headline(posthoc: pd.DataFrame) -> pd.DataFrame:
    """Rows of the family that the verdict rests on."""
    return posthoc[posthoc["role"] == "headline"]


def within(differing: pd.DataFrame, low: float, high: float) -> list[tuple[str, str, float, float]]:
    """Stretches of bands, cut to a range of priors."""
    cut = [(r.better, r.worse, max(r.prior_low, low), min(r.prior_high, high)) for r in records(differing)]
    return [(a, b, first, last) for a, b, first, last in cut if first < last or first == last == low == high]


def contender_stretches(
    leaders: pd.DataFrame, low: float, high: float
) -> list[tuple[tuple[str, ...], float, float]]:
    """Contenders from where to where within a range of priors, neighbours with the same ones joined."""
    found: list[tuple[tuple[str, ...], float, float]] = []
    limits = ["prior_low", "prior_high"]
    for _, rows in leaders.groupby(limits, sort=False, observed=True):
        first, last = (float(rows[limit].iloc[0]) for limit in limits)
        start, end = max(first, low), min(last, high)
        names = tuple(map(str, rows["contender"]))
        if start > end or (start == end and low < high):
            continue
        if found and set(found[-1][0]) == set(names):
            found[-1] = (found[-1][0], found[-1][1], end)
        else:
            found.append((names, start, end))
    return found


def smallest(rows: Iterable[Any]) -> Any:
    """The row of the smallest difference."""
    return min(rows, key=size)


def untested_because(rows: Collection[Any]) -> str:
    """Why pairs have no p-value: rows with the columns estimate and std_error."""
    if all(abs(row.estimate) <= TIE for row in rows):
        return "their values are the same"
    if all(row.std_error == 0 for row in rows):
        return "their difference does not vary"
    return "how their difference varies is not known"


def behind(names: Sequence[str]) -> str:
    """That these are behind."""
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'} behind"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names in a row; of many, the first and how many more."""
    texts = list(names)
    if len(texts) > MOST_NAMED:
        texts = [*texts[:MOST_NAMED], f"{len(texts) - MOST_NAMED} more"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {word} {texts[-1]}"


def _distance(prior: float, low: float, high: float) -> float:
    """How far outside of a range, in log-odds."""
    at, first, last = (np.log(p) - np.log1p(-p) for p in (prior, low, high))
    return float(max(first - at, at - last))


def prior_words(value: float) -> str:
    """A prior in a sentence."""
    return f"{value:.3g}"


def share_words(value: float) -> str:
    """Percent without decimals; never all where something is left, nor nothing where something is."""
    return "<1" if value < 1 else ">99" if 99 < value < 100 else f"{value:.0f}"


def plain(value: float) -> str:
    """A count or a setting."""
    return f"{value:g}"


def two_digits(value: float) -> str:
    """A probability."""
    return format_number(value, 2)


def datasets_verdict(
    ranking: pd.DataFrame,
    pairs: pd.DataFrame,
    iauprec: pd.DataFrame,
    *,
    control: str | None = None,
) -> Verdict:
    """The verdict across data sets, by the headline's pairs."""
    n_datasets = iauprec["dataset"].nunique()
    names, rows = short_names(map(str, ranking["model"])), list(records(pairs))
    standing = Standing(tuple(names), rows, [], 0.0, 1.0)
    said = {line: Speech(line) for line in LINES}
    state, choose = _choice_across(standing, names, "data sets")
    models = standing.candidates
    if control is not None:
        state, choose = "control", choice_beside(standing, names, control)
        models = standing.over(control) or (control,)
    return Verdict(
        state,
        models,
        choose=choose,
        how_sure=_sure_across(standing, names, said["how_sure"]),
        where_it_changes=_where_across(ranking, names, n_datasets, said["where_it_changes"]),
        weakest_point=_weakest_across(n_datasets, said["weakest_point"]),
        numbers=tuple(number for speech in said.values() for number in speech.numbers),
    )


def class_choice(
    models: Sequence[str], pairs: Collection[Any], alone: Verdict, *, control: str | None = None
) -> str:
    """What to deploy for one class of several, by its pairs of the family of all classes."""
    if alone.state == "untrusted":
        return alone.choose
    if alone.state == "unsupported":
        return "These data can judge little of its deployment prior, or none of it: see its report."
    names = short_names(models)
    standing = Standing(tuple(names), list(pairs), [], 0.0, 1.0)
    if control is not None:
        return choice_beside(standing, names, control)
    return _choice_across(standing, names, "data")[1]


def _choice_across(standing: Standing, names: Mapping[str, str], what: str) -> tuple[str, str]:
    """State and choice by the pairs alone."""
    candidates = standing.candidates
    others = [model for model in standing.models if model not in candidates]
    if not others or not candidates:
        return "undecided", f"The {what} cannot tell which of {listed(list(names.values()))} is best."
    if len(standing.leads(candidates[0])) == len(names) - 1:
        return "choose", f"Choose {names[candidates[0]]}."
    first = listed([names[model] for model in candidates], "or")
    return "tie", f"Choose {first}; {behind([names[model] for model in others])}."


def _sure_across(standing: Standing, names: Mapping[str, str], say: Speech) -> str:
    """Smallest lead found, or else the largest difference."""
    leads = [row for model in standing.candidates for row in standing.leads(model)]
    row = smallest(leads) if leads else max(standing.pairs, key=size)
    told = sure_beside(replace(standing, pairs=leads or standing.pairs), names, say)
    return f"{told} ({known(str(row.test)).name}). For further data sets like these."


def _where_across(ranking: pd.DataFrame, names: Mapping[str, str], n_datasets: int, say: Speech) -> str:
    """On how many data sets which model has the highest mean."""
    best = sorted((row for row in records(ranking) if row.n_best), key=lambda row: -row.n_best)
    counts = [
        f"{names[str(row.model)]} on {say(row.n_best, 'n_best', 'ranking', plain)}"
        for row in best[:MOST_NAMED]
    ]
    total = say(n_datasets, "dataset", "iauprec", plain)
    return f"Highest mean of {total} data sets: {', '.join(counts)}."


def _weakest_across(n_datasets: int, say: Speech) -> str:
    """Whether the data sets are many."""
    if n_datasets > FEW_FOLDS:
        return "The data sets count as a sample of those to come."
    number = say(n_datasets, "dataset", "iauprec", plain)
    return f"Only {number} data sets: add some."
