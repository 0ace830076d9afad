"""The five documents, item by item: every equation, table, figure and recommendation, and what became of it.

Checks each item as it is named here, and prints one table: reproduced (where, and to what), corrected, or
impossible (and why). No number of the table is typed in: each comes from its check, or from a recorded study.
``--write`` writes docs/papers.md. Needs the extra ``sklearn``. Run it with::

    python examples/papers.py [--write]

References: Brodersen et al. (2010), Boyd et al. (2013), Landgrebe et al. (2006), Nagy (2016), and the
documentation of StatisticalMeasures.jl.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special, stats
from scipy.integrate import quad

import skewanova as sa
from skewanova.base.text import Table
from skewanova.curves.distributions import true_auc, true_auprec
from skewanova.curves.estimators import ESTIMATORS
from studies.scenarios import BRODERSEN, SETTINGS

Floats = NDArray[np.float64]

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "papers.md"
SAME = 1e-10  # two ways to one number agree to this
LABELS = np.random.default_rng(0).random(80) < 0.4
SCORES = np.round(np.random.default_rng(1).normal(LABELS), 1)  # one decimal: with ties
PRIOR = 0.1


class Item(NamedTuple):
    """One item of a document.

    ``check`` raises if the claim does not hold, and else returns what was measured.
    """

    document: str
    item: str
    claim: str
    where: str
    check: Callable[[], str]


ITEMS: list[Item] = []


def item(
    document: str, name: str, claim: str, where: str
) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Enter a check into the table."""

    def enter(check: Callable[[], str]) -> Callable[[], str]:
        ITEMS.append(Item(document, name, claim, where, check))
        return check

    return enter


def sure(holds: object, what: str) -> None:
    """Stop where a claim does not hold."""
    if not holds:
        raise SystemExit(f"not so: {what}")


def equal(ours: object, theirs: object, what: str = "two ways to one number") -> str:
    """Say that two results are the same, or stop."""
    sure(
        np.allclose(np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float), rtol=SAME, atol=SAME),
        what,
    )
    return f"the same by own sums, to {SAME:g}"


@functools.cache
def example(name: str) -> ModuleType:
    """Another of the examples."""
    place = str(Path(__file__).resolve().parent)
    if place not in sys.path:
        sys.path.insert(0, place)
    return importlib.import_module(name)


@functools.cache
def recorded(study: str) -> pd.DataFrame:
    """Numbers of a recorded study."""
    return pd.read_csv(ROOT / "studies" / "records" / f"{study}.csv")


def one(frame: pd.DataFrame, column: str, **where: object) -> float:
    """Return the number in the one row with these values."""
    rows = frame
    for name, value in where.items():
        rows = rows[rows[name] == value]
    (number,) = rows[column]
    return float(number)


@functools.cache
def roc() -> sa.RocCurve:
    """Return the curve of the sample that formulas are tried on."""
    return sa.roc_curve(LABELS, SCORES)


def pair_of_models() -> pd.DataFrame:
    """Return the sample as a score table, and its scores turned round as those of another model."""
    table = pd.DataFrame({"model": "a", "fold": 1, "y_true": LABELS.astype(int), "y_score": SCORES})
    return pd.concat([table, table.assign(model="b", y_score=-table["y_score"])])


@functools.cache
def operating() -> Mapping[str, float]:
    """Measures of the rule score >= 0.5 at the prior, as the package has them."""
    with warnings.catch_warnings(action="ignore"):
        found = sa.threshold_table(pair_of_models(), threshold=0.5, at_priors=(PRIOR,))
    rows = found[(found["model"] == "a") & (found["level"] == "fold")]
    return dict(zip(rows["measure"], rows["estimate"], strict=True))


def rates() -> tuple[float, float]:
    """Return true and false positive rate of that rule, counted."""
    flagged = SCORES >= 0.5
    return float(flagged[LABELS].mean()), float(flagged[~LABELS].mean())


# --- Landgrebe et al. ---------------------------------------------------------------------------------------

LANDGREBE = "Landgrebe et al. (2006)"


@item(LANDGREBE, "section 1, skew", "reproduced", "skew_from_prior")
def _() -> str:
    return equal(sa.skew_from_prior(PRIOR), (1 - PRIOR) / PRIOR)


@item(LANDGREBE, "section 2, accuracy and error rate", "corrected: incorrectly labelling", "threshold_table")
def _() -> str:
    recall, alarms = rates()
    return equal(operating()["error_rate"], PRIOR * (1 - recall) + (1 - PRIOR) * alarms)


@item(LANDGREBE, "section 2, recall and specificity (TNr = 1 - FPr)", "reproduced", "threshold_table")
def _() -> str:
    return equal([operating()["recall"], operating()["fpr"]], rates())


@item(LANDGREBE, "section 2, precision and NPV", "reproduced", "threshold_table")
def _() -> str:
    recall, alarms = rates()
    precision = PRIOR * recall / (PRIOR * recall + (1 - PRIOR) * alarms)
    missed, right = PRIOR * (1 - recall), (1 - PRIOR) * (1 - alarms)
    return equal([operating()["precision"], operating()["npv"]], [precision, right / (right + missed)])


@item(LANDGREBE, "section 2, Posfrac", "reproduced", "threshold_table (flagged)")
def _() -> str:
    recall, alarms = rates()
    return equal(operating()["flagged"], PRIOR * recall + (1 - PRIOR) * alarms)


@item(LANDGREBE, "section 2, F-measure", "corrected: harmonic mean, with the skew", "threshold_table")
def _() -> str:
    precision, recall = operating()["precision"], operating()["recall"]
    return equal(operating()["f_measure"], stats.hmean([precision, recall]))


@item(LANDGREBE, "figure 1", "reproduced on Highleyman's two Gaussian classes", "examples/landgrebe.py")
def _() -> str:
    module = example("landgrebe")
    frame = module.by_skew(*module.scores())
    last = frame.iloc[-1]
    sure(abs(last["accuracy"] - last["true negative rate"]) < 0.01, "accuracy goes to TNr")
    first = frame.iloc[0]
    return (
        f"from skew 1 to 100 accuracy goes from {first['accuracy']:.2f} to {last['accuracy']:.2f} (TNr "
        f"{last['true negative rate']:.2f}), precision from {first['precision']:.2f} to "
        f"{last['precision']:.2f}"
    )


@item(LANDGREBE, "eq. 1", "reproduced", "auc")
def _() -> str:
    pairs = SCORES[LABELS][:, None] - SCORES[~LABELS]
    return equal(sa.auc(roc()), (np.sign(pairs) + 1).mean() / 2)


@item(LANDGREBE, "eq. 2", "corrected: T of the vertex before", "auc")
def _() -> str:
    def printed(n_segments: int) -> float:
        rate = np.linspace(0, 1, n_segments + 1)
        return float(np.sum(np.diff(rate) * rate[1:] + np.diff(rate) ** 2 / 2))

    false, true = np.diff(roc().fpr), np.diff(roc().tpr)
    equal(sa.auc(roc()), np.sum(false * roc().tpr[:-1] + true * false / 2))
    return f"as printed, a diagonal of 1 segment gives {printed(1):.1f}, of 10 {printed(10):.1f}"


@item(LANDGREBE, "eq. 2 over a limited range", "reproduced, normalised and not", "auc(fpr_range=)")
def _() -> str:
    area = quad(lambda rate: np.interp(rate, roc().fpr, roc().tpr), 0.15, 0.4, limit=500)[0]
    sure(abs(sa.auc(roc(), fpr_range=(0.15, 0.4)) - area) < 1e-4, "the limited area")
    part = sa.auc(roc(), fpr_range=(0, 0.2)) + sa.auc(roc(), fpr_range=(0.2, 1))
    return equal(part, sa.auc(roc()))


@item(LANDGREBE, "eq. 3", "reproduced", "precision_recall_curve(prior=)")
def _() -> str:
    precision, recall, _ = sa.precision_recall_curve(LABELS, SCORES, prior=PRIOR)
    skew = (1 - PRIOR) / PRIOR
    return equal(precision[1:], recall[1:] / (recall[1:] + skew * roc().fpr[1:]))


@item(LANDGREBE, "eq. 4", "corrected: the sum starts at the origin", "auprec")
def _() -> str:
    loss = sa.auprec(roc(), PRIOR) - example("satellite").printed_equation_4(roc(), PRIOR)
    first = roc().tpr[1] / (roc().tpr[1] + (1 - PRIOR) / PRIOR * roc().fpr[1])
    return f"{equal(loss, roc().tpr[1] * first)}; the printed sum loses the recall up to the first threshold"


@item(LANDGREBE, "eq. 5", "corrected: normalised, over the prior", "iauprec, UniformPrior, UniformSkew")
def _() -> str:
    low, high = 0.05, 0.20
    skews = (1 - high) / high, (1 - low) / low
    by_prior = quad(lambda p: sa.auprec(roc(), p), low, high)[0] / (high - low)
    by_skew = quad(lambda k: sa.auprec(roc(), 1 / (1 + k)), *skews)[0] / (skews[1] - skews[0])
    return equal(
        [sa.iauprec(roc(), (low, high)), sa.iauprec(roc(), sa.UniformSkew(*skews))], [by_prior, by_skew]
    )


@item(LANDGREBE, "section 4, surface of operating points", "reproduced", "evaluation.surface, plot_surface")
def _() -> str:
    with warnings.catch_warnings(action="ignore"):
        measures = sa.evaluate(pair_of_models(), at_priors=(0.5, 0.1))
    surface = sa.evaluation.surface(measures)
    prior = surface["prior"].min()
    slice_of = surface[(surface["model"] == "a") & (surface["prior"] == prior)]
    points = sa.evaluation.precision_recall(measures, priors=[prior], recall=slice_of["recall"].to_numpy())
    same = equal(slice_of["precision"], points.loc[points["model"] == "a", "precision"], "a slice")
    return f"{surface['prior'].nunique()} priors by {len(slice_of)} recalls; a slice: {same}"


@item(
    LANDGREBE,
    'section 4, AUPREC "integrated across thresholds and priors"',
    "corrected: over thresholds",
    "auprec",
)
def _() -> str:
    rows = [example("satellite").PAPER[f"AUPREC({prior:g})"][1][0] for prior in (0.5, 0.1, 0.01)]
    sure(len(set(rows)) == 3, "one number a prior")
    return f"table 1 has one number a prior: model B {', '.join(f'{value:.3f}' for value in rows)}"


@functools.cache
def highleyman() -> sa.RocCurve:
    """Return the ROC curve of figure 2."""
    score, positive = example("landgrebe").scores()
    return sa.roc_curve(positive, score)


@item(LANDGREBE, "figure 2, top: ROC", "reproduced", "examples/landgrebe.py; plotting.plot_roc")
def _() -> str:
    return f"one curve, AUC {sa.auc(highleyman()):.2f}"


@item(
    LANDGREBE,
    "figure 2, bottom: precision-recall",
    "reproduced",
    "examples/landgrebe.py; plotting.plot_precision_recall",
)
def _() -> str:
    priors = example("landgrebe").PRIORS
    areas = ", ".join(f"{sa.auprec(highleyman(), prior):.2f} at {prior:g}" for prior in priors)
    return f"one curve a prior, areas {areas}"


@functools.cache
def satellite_scores() -> pd.DataFrame:
    """Return the bundled hold-out scores, one row a case."""
    long = sa.load_satellite_scores()
    frame = getattr(long, "frame", long)
    wide = frame.pivot(index=["fold", "case", "y_true"], columns="model", values="y_score")
    return wide.astype(float).reset_index()


@functools.cache
def satellite_tests() -> Mapping[str, object]:
    """Return the paper's tests on the bundled scores."""
    module = example("satellite")
    return {one.name: one for one in module.paper_tests(module.long_table(satellite_scores()))}


@functools.cache
def printed_rows() -> Mapping[str, sa.curves.FeasibilityReport]:
    """Return what complete curves allow of the printed table."""
    return example("satellite").printed_rows()


@functools.cache
def satellite_folds() -> Mapping[str, pd.DataFrame]:
    """Our measures of table 1, by model: a row a hold-out, a column a measure."""
    module = example("satellite")
    found = {}
    for model in module.MODELS:
        folds = [sa.roc_curve(fold["y_true"], fold[model]) for _, fold in satellite_scores().groupby("fold")]
        areas = {f"AUPREC({p:g})": [sa.auprec(fold, p) for fold in folds] for p in module.PRIORS}
        integrated = [sa.iauprec(fold, module.RANGE) for fold in folds]
        found[model] = pd.DataFrame({**areas, "IAUPREC": integrated, "AUC": [*map(sa.auc, folds)]})
    return found


@functools.cache
def satellite_means() -> pd.DataFrame:
    """Our means of table 1, by measure and model."""
    return pd.DataFrame({model: frame.mean() for model, frame in satellite_folds().items()})


def beside(model: str) -> str:
    """Our IAUPREC and AUC of a model, each with the printed one."""
    module = example("satellite")
    place = list(module.MODELS).index(model)
    ours = satellite_means()[model]
    cells = (
        f"{name} {ours[name]:.3f} (printed {module.PAPER[name][place][0]:.3f})" for name in ("IAUPREC", "AUC")
    )
    return ", ".join(cells)


def impossible(model: str) -> str:
    """Return what rules a printed row out."""
    row = printed_rows()[model]
    sure(not row.possible, f"row {model} is impossible")
    span = row.find_range("AUPREC(0.5)")
    least = span.low if np.isfinite(span.low) else span.low_given_auc
    by = "its other numbers force" if np.isfinite(span.low) else "its AUC forces"
    return (
        f"{by} AUPREC(.5) to {least:.3f}, printed {span.value:.3f}; recall of "
        f"{row.missing_recall:.3f} is missing; ours: {beside(model)}"
    )


for _model in ("A", "B", "C"):
    item(
        LANDGREBE,
        f"table 1, model {_model}",
        "impossible on complete curves; the protocol is run",
        "examples/satellite.py; curves.check_reported_areas",
    )(functools.partial(impossible, _model))


@item(LANDGREBE, "table 1, standard deviations", "the protocol is run", "examples/satellite.py")
def _() -> str:
    printed, parts = example("satellite").PAPER["IAUPREC"], []
    for (model, frame), (_, deviation) in zip(satellite_folds().items(), printed, strict=True):
        parts.append(f"{model} {frame['IAUPREC'].std():.3f} ({deviation:.3f})")
    return f"of IAUPREC, ours (printed): {', '.join(parts)}"


@item(
    LANDGREBE,
    'section 6, "C is superior to both A and B, B is superior to A"',
    "corrected: not by every measure",
    "docs/errata.md",
)
def _() -> str:
    table = example("satellite").PAPER
    (rare_a, _), (rare_b, _), _ = table["AUPREC(0.01)"]
    auc_a, auc_b, auc_c = (mean for mean, _ in table["AUC"])
    sure(rare_a > rare_b and auc_a > auc_c > auc_b, "the order is another")
    rare = f"AUPREC(.01) of A {rare_a:.3f}, of B {rare_b:.3f}"
    return f"printed: {rare}; AUC of A {auc_a:.3f}, of B {auc_b:.3f}, of C {auc_c:.3f}"


@item(
    LANDGREBE,
    'section 6, "A and C remain very stable" with the skew',
    "not so on complete curves: all fall",
    "examples/satellite.py",
)
def _() -> str:
    common, rare = "AUPREC(0.5)", "AUPREC(0.01)"
    table, parts = example("satellite").PAPER, []
    for (model, means), (high, _), (low, _) in zip(
        satellite_means().items(), table[common], table[rare], strict=True
    ):
        sure(means[common] - means[rare] > high - low, "ours falls more")
        parts.append(f"{model} {means[common] - means[rare]:.3f} ({high - low:.3f})")
    return f"fall from prior .5 to .01, ours (printed): {', '.join(parts)}"


def tested(name: str) -> str:
    """Our F and pairs beside the printed ones."""
    found = satellite_tests()[name]
    printed = f", printed {found.printed}" if found.printed not in {"", "-"} else ""
    pairs = f"; pairs {found.apart} (printed {found.printed_apart})" if found.printed_apart else ""
    return f"F {found.statistic:.1f}{printed}{pairs}"


for _name, _test, _claim in (
    ("section 6, 2-way ANOVA", "2-way, IAUPREC", "reproduced, on complete curves: other pairs differ"),
    ("section 6, 3-way ANOVA, F = 483.85", "3-way, 16 priors", "reproduced on an inferred grid of 16 priors"),
    ("section 6, 3-way ANOVA of three priors", "3-way, 3 priors", "run; no F is printed"),
    ("section 6, priors that differ", "3-way, 3 priors: priors", "run; on complete curves all differ"),
    ("section 5, Friedman's test", "Friedman, IAUPREC", "run; mentioned only, no number is printed"),
    ("section 1, ANOVA over thresholds", "thresholds (section 1)", "run, as no valid test"),
):
    item(LANDGREBE, _name, _claim, "examples/satellite.py")(functools.partial(tested, _test))


@item(
    LANDGREBE,
    'section 6, "3-way ANOVA is more sensitive"',
    "corrected: its p counts one curve many times",
    "docs/measured.md",
)
def _() -> str:
    frame = recorded("type_one_error")
    names = {"3 priors": "three_way", "16 priors": "three_way_16_priors"}
    usual = {name: one(frame, "rate", scenario="S1", level=0.05, test=test) for name, test in names.items()}
    told = " and ".join(f"{rate:.0%} of studies ({name})" for name, rate in usual.items())
    return f"20 independent folds, level .05: rejects true equality in {told}"


# --- Brodersen et al. ---------------------------------------------------------------------------------------

BRODERSEN_ET_AL = "Brodersen et al. (2010)"


@functools.cache
def fitted() -> sa.curves.BinormalFit:
    """Return a smooth fit of the sample that formulas are tried on."""
    return sa.curves.fit_binormal(LABELS, SCORES)


def phi(which: str) -> stats.rv_continuous:
    """Return the fitted normal distribution of a class."""
    fit = fitted()
    return stats.norm(getattr(fit, f"mean_{which}"), getattr(fit, f"std_{which}"))


def smooth_precision(recall: Floats) -> Floats:
    """Eq. 7, corrected."""
    fit = fitted()
    threshold = fit.mean_positive - fit.std_positive * special.ndtri(recall)
    alarms = special.ndtr((fit.mean_negative - threshold) / fit.std_negative)
    return fit.alpha * recall / (fit.alpha * recall + (1 - fit.alpha) * alarms)


def printed_precision(recall: float) -> float:
    """Eq. 7 as printed: a quantile where the share of negatives above it belongs."""
    fit = fitted()
    alarms = 1 - phi("positive").ppf(1 - recall)
    return float(fit.alpha * recall / (fit.alpha * recall + (1 - fit.alpha) * alarms))


@item(BRODERSEN_ET_AL, "section I, PPV = 1 - FDR", "reproduced", "threshold_table")
def _() -> str:
    flagged = SCORES >= 0.5
    odds = PRIOR / (1 - PRIOR) * (~LABELS).sum() / LABELS.sum()  # each positive counts so much at the prior
    false, true = (flagged & ~LABELS).sum(), odds * (flagged & LABELS).sum()
    return equal(operating()["precision"], 1 - false / (false + true))


@item(BRODERSEN_ET_AL, "section II, confusion matrix", "reproduced", "threshold_table")
def _() -> str:
    flagged, (recall, alarms) = SCORES >= 0.5, (operating()["recall"], operating()["fpr"])
    counts = [(flagged & LABELS).sum(), (flagged & ~LABELS).sum()]
    equal([recall * LABELS.sum(), alarms * (~LABELS).sum()], counts, "counts of the matrix")
    return f"TP {counts[0]}, FP {counts[1]}, FN {LABELS.sum() - counts[0]}, TN {(~LABELS).sum() - counts[1]}"


@item(BRODERSEN_ET_AL, "section II, Wilcoxon-Mann-Whitney statistic", "reproduced", "auc")
def _() -> str:
    ranks = stats.mannwhitneyu(SCORES[LABELS], SCORES[~LABELS]).statistic
    return equal(sa.auc(roc()), ranks / (LABELS.sum() * (~LABELS).sum()))


@item(BRODERSEN_ET_AL, "section II, parametric confusion matrix", "reproduced", "studies.scenarios.BRODERSEN")
def _() -> str:
    negative, positive = BRODERSEN
    at, alpha = np.linspace(-3, 3, 7), 0.4
    cells = np.array([alpha * positive.sf(at), (1 - alpha) * negative.sf(at)])
    rest = np.array([alpha * positive.cdf(at), (1 - alpha) * negative.cdf(at)])
    return equal(cells + rest, np.tile([[alpha], [1 - alpha]], 7), "columns add up to alpha and 1 - alpha")


@item(
    BRODERSEN_ET_AL,
    'section II, "unaltered if decision values undergo a strictly increasing transformation"',
    "qualified: the model is, a fit of means and variances is not",
    "fit_binormal, roc_curve",
)
def _() -> str:
    with warnings.catch_warnings(action="ignore"):
        other = sa.curves.fit_binormal(LABELS, np.exp(SCORES)).auc
    equal(sa.auc(sa.roc_curve(LABELS, np.exp(SCORES))), sa.auc(roc()), "the empirical curve is unaltered")
    sure(abs(other - fitted().auc) > 0.01, "the fit is altered")
    return f"AUC fitted to the scores {fitted().auc:.3f}, to their exponentials {other:.3f}"


@item(BRODERSEN_ET_AL, "eq. 1", "reproduced", "threshold_table (1 - error_rate)")
def _() -> str:
    recall, alarms = rates()
    return equal(1 - operating()["error_rate"], PRIOR * recall + (1 - PRIOR) * (1 - alarms))


@item(BRODERSEN_ET_AL, "eq. 2", "reproduced", "roc_curve")
def _() -> str:
    return equal(roc().tpr[1:], [(SCORES[LABELS] >= t).mean() for t in roc().thresholds[1:]])


@item(BRODERSEN_ET_AL, "eq. 3", "reproduced", "roc_curve")
def _() -> str:
    return equal(roc().fpr[1:], [(SCORES[~LABELS] >= t).mean() for t in roc().thresholds[1:]])


@item(BRODERSEN_ET_AL, "eq. 4", "reproduced", "precision_recall_curve")
def _() -> str:
    precision, _, thresholds = sa.precision_recall_curve(LABELS, SCORES)
    return equal(precision[1:], [LABELS[t <= SCORES].mean() for t in thresholds])


@item(BRODERSEN_ET_AL, "eq. 5", "reproduced", "BinormalFit.roc")
def _() -> str:
    curve = fitted().roc()
    inner = (curve.fpr > 1e-6) & (curve.fpr < 1 - 1e-6)
    return equal(curve.tpr[inner], phi("positive").sf(phi("negative").isf(curve.fpr[inner])))


@item(
    BRODERSEN_ET_AL,
    "section III, parametric confusion matrix, eq. 6",
    "reproduced",
    "BinormalFit.precision_recall",
)
def _() -> str:
    at = np.linspace(-1, 2, 7)
    right = fitted().alpha * phi("positive").sf(at)
    wrong = (1 - fitted().alpha) * phi("negative").sf(at)
    ours = fitted().precision_recall(recall=phi("positive").sf(at))[0]
    return equal(ours, right / (right + wrong))


@item(
    BRODERSEN_ET_AL,
    "eq. 7 and the TPR before it",
    "corrected: 1 - Phi-(Phi+^-1(1 - TPR))",
    "BinormalFit.precision_recall",
)
def _() -> str:
    recall = np.linspace(0.05, 0.95, 19)
    same = equal(fitted().precision_recall(recall=recall)[0], smooth_precision(recall))
    return f"{same}; as printed, at recall .5, {printed_precision(0.5):.3f} for {smooth_precision(0.5):.3f}"


@item(BRODERSEN_ET_AL, "eq. 8", "reproduced", "BinormalFit.auprec")
def _() -> str:
    return equal(fitted().auprec(), quad(smooth_precision, 0, 1, epsabs=1e-13, limit=500)[0])


@item(
    BRODERSEN_ET_AL,
    'section III, "identical to the area under the FDR curve"',
    "corrected: 1 minus it",
    "docs/errata.md",
)
def _() -> str:
    truth = true_auprec(*BRODERSEN, 0.4)
    return f"in figure 1 {1 - truth:.3f} against {truth:.3f}"


@item(BRODERSEN_ET_AL, "maximum likelihood, AUC in closed form", "reproduced", "fit_binormal(ddof=)")
def _() -> str:
    gap = fitted().mean_positive - fitted().mean_negative
    spread = np.hypot(SCORES[LABELS].std(), SCORES[~LABELS].std())
    return equal(fitted().auc, stats.norm.cdf(gap / spread))


@item(BRODERSEN_ET_AL, "Box-Cox transformation", "reproduced", "fit_binormal(boxcox=True)")
def _() -> str:
    raw = sa.curves.fit_binormal(LABELS, np.exp(3 + SCORES), boxcox=True)
    truth = fitted().auc
    sure(abs(raw.auc - truth) < 0.02, "the transformed fit is near that of the normal scores")
    return f"AUC of exp(score) {raw.auc:.3f}, of the normal score {truth:.3f}"


@functools.cache
def shown_sample() -> object:
    """Return the typical sample of figure 1."""
    return importlib.import_module("studies.areas").typical_sample()


@item(BRODERSEN_ET_AL, "figure 1a", "reproduced on a typical sample", "examples/brodersen.py")
def _() -> str:
    sample = shown_sample()
    sure((sample.positive.sum(), (~sample.positive).sum()) == (40, 60), "40 positives, 60 negatives")
    near = f"{sample.percentile:.0f} percentiles of the median"
    return f"all its areas within {near} of {sample.n_samples} samples"


@item(BRODERSEN_ET_AL, "figure 1b", "reproduced on the same sample", "examples/brodersen.py")
def _() -> str:
    sample = shown_sample()
    ours = sa.auc(sa.roc_curve(sample.positive, sample.score))
    smooth = sa.curves.fit_binormal(sample.positive, sample.score).auc
    return f"AUC true {true_auc(*BRODERSEN):.3f}, empirical {ours:.3f}, both binormal {smooth:.3f}"


@item(
    BRODERSEN_ET_AL, "figure 1b, inset", "reproduced: no AUC is biased by much", "studies/records/binormal.md"
)
def _() -> str:
    frame = recorded("binormal")
    names = ("empirical", "binormal_ddof1", "binormal_ddof0")
    biases = [one(frame, "bias", measure="auc", alpha=0.4, model=name) for name in names]
    sure(max(map(abs, biases)) < 0.003, "the AUC is nearly unbiased")
    return ", ".join(f"{name} {bias:+.4f}" for name, bias in zip(names, biases, strict=True))


@item(
    BRODERSEN_ET_AL,
    "figure 1c",
    "reproduced on the same sample, the line without alpha too",
    "examples/brodersen.py",
)
def _() -> str:
    sample = shown_sample()
    fit = sa.curves.fit_binormal(sample.positive, sample.score)
    truth, empirical = true_auprec(*BRODERSEN, 0.4), sa.auprec_score(sample.positive, sample.score, prior=0.4)
    sure(abs(fit.auprec() - truth) < abs(fit.auprec(0.5) - truth), "the alpha-binormal fit is nearer")
    return (
        f"area true {truth:.3f}, empirical {empirical:.3f}, binormal {fit.auprec(0.5):.3f}, alpha-binormal "
        f"{fit.auprec():.3f}"
    )


@item(BRODERSEN_ET_AL, "figure 2", "reproduced", "examples/brodersen.py; studies/records/binormal.md")
def _() -> str:
    frame = recorded("binormal")
    names = ("trapezoid", "binormal", "alpha_binormal_ddof0")
    parts = []
    for alpha in (0.05, 0.5):
        biases = (one(frame, "bias", measure="auprec", alpha=alpha, model=name) for name in names)
        parts.append(f"at {alpha:g} " + ", ".join(f"{bias:+.3f}" for bias in biases))
    return f"bias of {', '.join(names)}: {'; '.join(parts)}"


# --- Boyd et al. --------------------------------------------------------------------------------------------

BOYD = "Boyd et al. (2013)"


@item(
    BOYD,
    "slides of the ROC and the precision-recall curve",
    "reproduced: the first is insensitive to skew",
    "plotting.plot_roc, plot_precision_recall",
)
def _() -> str:
    rare = np.repeat(LABELS, np.where(LABELS, 1, 9)), np.repeat(SCORES, np.where(LABELS, 1, 9))
    equal(sa.auc(sa.roc_curve(*rare)), sa.auc(roc()), "the AUC")
    areas = [sa.auprec_score(*sample, prior=sample[0].mean()) for sample in ((LABELS, SCORES), rare)]
    sure(areas[0] > areas[1] + 0.1, "the area under precision-recall falls")
    fall = f"{areas[0]:.2f} to {areas[1]:.2f}"
    return f"each negative nine times: AUC {sa.auc(roc()):.2f} and the same, AUCPR {fall}"


@item(BOYD, '"The difficulty": an area and its interval', "reproduced on a sample", "confidence_interval")
def _() -> str:
    with warnings.catch_warnings(action="ignore"):
        found = sa.confidence_interval(LABELS, SCORES, prior=float(LABELS.mean()))
    return f"area {found.estimate:.2f}, interval [{found.conf_low:.2f}, {found.conf_high:.2f}]"


@item(BOYD, "empirical PR points", "reproduced", "precision_recall_curve")
def _() -> str:
    labels = [1, 0, 0, 1, 1, 0, 0, 0, 1, 1, *[0] * 10]  # the slide shows the first eight
    precision, recall, _ = sa.precision_recall_curve(labels, -np.arange(20))
    slide = [(1, 1, 1), (1, 1, 2), (1, 1, 3), (2, 2, 4), (3, 3, 5), (3, 3, 6)]
    equal(recall[1:7], [of_five / 5 for of_five, _, _ in slide])
    equal(precision[1:7], [true / flagged for _, true, flagged in slide])
    return f"{len(slide)} points, each the slide's fraction"


@item(BOYD, "AUCPR estimators", "reproduced: eight, by one function", "auprec(area_estimator=)")
def _() -> str:
    metrics = importlib.import_module("sklearn.metrics")
    share = LABELS.mean()
    areas = {name: sa.auprec(roc(), share, area_estimator=name) for name in ESTIMATORS}
    equal(areas["average_precision"], metrics.average_precision_score(LABELS, SCORES))
    sure(areas["trapezoid"] <= areas["upper_trapezoid"], "the lower trapezoid is below the upper")
    return f"{len(areas)} estimators; average precision is scikit-learn's"


@item(
    BOYD,
    "simulation set-up, three densities",
    "reproduced",
    "studies.scenarios.SETTINGS; examples/julia_figures.py",
)
def _() -> str:
    truths = (f"{name.replace('_', ' ')} {true_auprec(*pair, PRIOR):.4f}" for name, pair in SETTINGS.items())
    return f"true areas at prior .1: {', '.join(truths)}"


@item(
    BOYD,
    "AUCPR estimator results",
    "reproduced",
    "python -m studies estimators; studies/records/estimators.md",
)
def _() -> str:
    frame = recorded("estimators")
    names = ("trapezoid", "average_precision", "interpolated_median", "convex_hull")
    cells = (f"{n} {one(frame, 'ratio', setting='binormal', n_total=50, estimator=n):.2f}" for n in names)
    return f"mean over truth, 50 binormal cases: {', '.join(cells)}"


def limits_of(method: str) -> list[float]:
    """Limits of an interval, as the package has them."""
    with warnings.catch_warnings(action="ignore"):
        found = sa.confidence_interval(
            LABELS, SCORES, prior=PRIOR, method=method, area_estimator="average_precision"
        )
    return [found.conf_low, found.conf_high]


def area_and_count() -> tuple[float, int]:
    """Average precision of the sample, and its positives."""
    area = sa.auprec_score(LABELS, SCORES, prior=PRIOR, area_estimator="average_precision")
    return float(area), int(LABELS.sum())


@item(BOYD, "binomial interval", "reproduced", "confidence_interval(method=)")
def _() -> str:
    theta, n = area_and_count()
    half = stats.norm.isf(0.025) * np.sqrt(theta * (1 - theta) / n)
    return equal(limits_of("binomial"), [theta - half, theta + half])


@item(BOYD, "logit interval", "reproduced; the exponent corrected", "confidence_interval(method=)")
def _() -> str:
    theta, n = area_and_count()
    eta, tau, z = np.log(theta / (1 - theta)), (n * theta * (1 - theta)) ** -0.5, stats.norm.isf(0.025)
    same = equal(limits_of("logit"), [special.expit(eta + sign * z * tau) for sign in (-1, 1)])
    low, high = (x / (1 + x) for x in (np.exp(eta) - z * tau, np.exp(eta) + z * tau))
    ours = "[{:.2f}, {:.2f}]".format(*limits_of("logit"))
    return f"{same}; as the extracted text has it [{low:.2f}, {high:.2f}] for {ours}"


@item(
    BOYD, '"(1 - alpha)%" of the bootstrap, and of "valid"', "corrected: 100 (1 - alpha) %", "docs/errata.md"
)
def _() -> str:
    return f"at alpha = .05 the printed share is {(1 - 0.05) / 100:.2%}"


def of_intervals(column: str, form: str, methods: Sequence[str] = ("logit", "cross_validation")) -> str:
    """One column of the recorded study, two methods at two sizes."""
    frame, cells = recorded("intervals"), []
    for method in methods:
        values = (
            one(frame, column, setting="binormal", prior=PRIOR, n_total=n, method=method) for n in (100, 1000)
        )
        cells.append(f"{method} {' / '.join(format(value, form) for value in values)}")
    return f"binormal, 100 / 1,000 cases: {', '.join(cells)}"


for _slide, _column in (
    ("AUCPR confidence interval results (coverage)", "coverage"),
    ("backup: confidence interval widths", "width"),
    ("backup: confidence interval locations", "location"),
):
    item(BOYD, _slide, "reproduced", "python -m studies intervals; studies/records/intervals.md")(
        functools.partial(of_intervals, _column, ".3f")
    )


@item(
    BOYD,
    "cross-validation and bootstrap intervals",
    "reproduced: too narrow in small samples",
    "confidence_interval(method=)",
)
def _() -> str:
    return f"coverage, {of_intervals('coverage', '.3f', ('bootstrap', 'cross_validation'))}"


@item(
    BOYD,
    "conclusion: recommended estimators",
    "qualified: average precision is among the biased ones",
    "python -m studies estimators --by prior",
)
def _() -> str:
    frame = recorded("estimators_by_prior")
    parts = []
    for prior in (0.01, 0.1, 0.5):
        ratios = (
            one(frame, "ratio", setting="binormal", n_total=1000, prior=prior, estimator=name)
            for name in ("average_precision", "trapezoid", "interpolated_median")
        )
        parts.append(f"at prior {prior:g} " + " / ".join(f"{ratio:.2f}" for ratio in ratios))
    return (
        f"average precision / lower trapezoid / interpolated median, 1,000 binormal cases: {'; '.join(parts)}"
    )


@item(
    BOYD,
    "conclusion: recommended intervals",
    "qualified: they miss at priors rarer than the sample's",
    "studies/records/intervals.md",
)
def _() -> str:
    frame = recorded("intervals")
    rows = frame[(frame["prior"] == PRIOR) & frame["method"].isin(["binomial", "logit"])]
    low, high = rows["coverage"].min(), rows["coverage"].max()
    return f"at the sample's prior .1 their coverage is {low:.3f} to {high:.3f}"


@item(
    BOYD,
    "backup: AUCPR estimator results by pi",
    "reproduced: bias and spread",
    "python -m studies estimators --by prior; studies/records/estimators_by_prior.md",
)
def _() -> str:
    frame = recorded("estimators_by_prior")
    parts = []
    for setting in SETTINGS:
        rows = [
            (one(frame, "ratio", **where), one(frame, "std_dev", **where) / one(frame, "truth", **where))
            for where in (
                {"setting": setting, "n_total": 200, "prior": prior, "estimator": "trapezoid"}
                for prior in (0.01, 0.5)
            )
        ]
        parts.append(f"{setting.replace('_', ' ')} " + " / ".join(f"{r:.2f} ({s:.2f})" for r, s in rows))
    return f"trapezoid over truth (spread), 200 cases, prior .01 / .5: {', '.join(parts)}"


# --- the Julia post, and StatisticalMeasures.jl -------------------------------------------------------------

NAGY = "Nagy (2016), Julia"


def traversed(labels: NDArray[np.bool_], scores: Floats) -> tuple[float, Floats]:
    """Return area and precisions of the post's function, threshold by threshold from the lowest score."""
    ranked = labels[np.argsort(-scores, kind="stable")]
    true, false = int(ranked.sum()), int((~ranked).sum())
    n_positive, total, recall = true, 0.0, 1.0
    points = [true / (true + false)]
    highest = points[0]
    for positive in ranked[::-1]:
        true, false = true - positive, false - (not positive)
        points.append(float(positive) if true + false == 0 else true / (true + false))
        if true / n_positive != recall:
            total += (points[-1] + highest) / 2 * (recall - true / n_positive)
            recall = true / n_positive
        highest = points[-1]
    return total, np.array(points[::-1])


@item(NAGY, "false positive rate, precision, recall", "reproduced", "roc_curve, precision_recall_curve")
def _() -> str:
    flagged, curve = SCORES >= 0.5, roc()
    at = np.flatnonzero(curve.thresholds >= 0.5)[-1]
    rates = (~LABELS & flagged).sum() / (~LABELS).sum(), (LABELS & flagged).sum() / LABELS.sum()
    precision, _, thresholds = sa.precision_recall_curve(LABELS, SCORES)
    here = precision[1 + np.flatnonzero(thresholds >= 0.5)[-1]]
    return equal([curve.fpr[at], curve.tpr[at], here], [*rates, LABELS[flagged].mean()])


@item(NAGY, "function auprc", "reproduced without ties: Boyd's lower trapezoid", "auprec")
def _() -> str:
    rng = np.random.default_rng(2)
    labels = rng.random(60) < 0.3
    scores = rng.normal(labels)
    return equal(traversed(labels, scores)[0], sa.auprec_score(labels, scores, prior=labels.mean()))


@item(NAGY, "function auprc, ties", "corrected: they form one vertex", "roc_curve")
def _() -> str:
    labels, tied = np.array([True, False]), np.zeros(2)
    areas = " or ".join(f"{traversed(order, tied)[0]:.2f}" for order in (labels, labels[::-1]))
    ours = sa.auprec_score(labels, tied, prior=0.5)
    return f"a positive and a negative that tie: {areas} by their order, ours {ours:.2f}"


@item(NAGY, "function auprc, first point", "corrected: (0, 1)", "precision_recall_curve")
def _() -> str:
    top_negative = np.array([False, True, True])
    first = traversed(top_negative, np.array([3.0, 2.0, 1.0]))[1][0]
    ours = sa.precision_recall_curve(top_negative, [3, 2, 1])[0][0]
    return f"precision at recall 0, the top case negative: {first:g}, ours {ours:g}"


@item(NAGY, "figure 2", "reproduced, legend beside the lines", "examples/julia_figures.py")
def _() -> str:
    figure = example("julia_figures").figure_2()
    sure(len(figure.axes) == 3, "three panels")
    return f"{len(figure.axes)} panels: {', '.join(ax.get_title() for ax in figure.axes)}"


@item(
    NAGY,
    "figure 3, true precision and recall",
    "reproduced; pi * recall for the printed name; NaN at recall 0 left out",
    "examples/julia_figures.py",
)
def _() -> str:
    module = example("julia_figures")
    parts = []
    for setting in SETTINGS:
        areas = module.sampled_curves(setting).groupby("sample")["auprec"].first()
        recall, precision = module.true_curve(setting)
        sure(np.isfinite(recall).all() and np.isfinite(precision).all(), "finite everywhere")
        parts.append(
            f"{setting.replace('_', ' ')} {true_auprec(*SETTINGS[setting], PRIOR):.2f} / {areas.mean():.2f}"
        )
    return f"area, true / mean of ten samples: {', '.join(parts)}"


JL = "StatisticalMeasures.jl"


@item(JL, "example, table of points", "reproduced, as a doctest", "examples/statisticalmeasures.py")
def _() -> str:
    frame = example("statisticalmeasures").curve()
    sure(frame["threshold"].notna().sum() == 8, "eight thresholds")
    end = frame["precision"].iloc[-1]
    return f"{len(frame)} points, {frame['threshold'].notna().sum()} thresholds, from (0, 1) to (1, {end:g})"


@item(JL, "figure: curve and share of positives", "reproduced", "examples/statisticalmeasures.py")
def _() -> str:
    module = example("statisticalmeasures")
    lines = module.plot_curve(module.curve()).lines
    return f"dashed line at {lines[1].get_ydata()[0]:g}"


@item(JL, "bins of thresholds", "corrected: closed at the upper end", "precision_recall_curve")
def _() -> str:
    module = example("statisticalmeasures")
    at = max(module.X_PROBABILITIES)
    flagged = [
        truth for truth, score in zip(module.TRUTH, module.X_PROBABILITIES, strict=True) if score >= at
    ]
    recall = flagged.count("X") / module.TRUTH.count("X")
    return f"a threshold of {at:g} gives recall {recall:.3f}, the page's bin 0"


@item(JL, "average precision of the package", "corrected: not a left sum", "auprec(area_estimator=)")
def _() -> str:
    precision, recall, _ = sa.precision_recall_curve([1, 0], [0.5, 0.5])
    left = float(np.sum(np.diff(recall) * precision[:-1]))
    ours = sa.auprec_score([1, 0], [0.5, 0.5], prior=0.5, area_estimator="average_precision")
    return f"a positive and a negative that tie: left sum {left:.1f}, ours {ours:.1f}"


@item(JL, "signature", "corrected: it returns recalls, precisions, thresholds", "precision_recall_curve")
def _() -> str:
    module = example("statisticalmeasures")
    precision, recall, thresholds = sa.precision_recall_curve(
        module.TRUTH, module.X_PROBABILITIES, pos_label="X"
    )
    return f"{len(recall)} recalls, {len(precision)} precisions, {len(thresholds)} thresholds"


# --- the page -----------------------------------------------------------------------------------------------

HEAD = """# The five documents, item by item

Written by `python examples/papers.py --write`, which runs every check: no number here is typed in. "The same
by own sums" means that the package's number was computed again from the formula, in the script. Numbers of
long simulations come from the [recorded studies](../studies/records/estimators.md).
What is wrong in the documents: [errata.md](errata.md).
"""


def rows(items: Iterable[Item] = ITEMS) -> list[tuple[str, str, str, str, str]]:
    """Every item with what its check measured."""
    return [(*each[:4], each.check()) for each in items]


def page() -> str:
    """Return the page, one table a document."""
    header = ("Item", "What became of it", "Where", "Measured")
    found = rows()
    parts = [HEAD]
    for document in dict.fromkeys(each[0] for each in found):
        cells = tuple(each[1:] for each in found if each[0] == document)
        parts.append(Table("papers", document, header, cells).to_markdown().replace("---:", "---") + "\n")
    return "\n".join(parts)


def main(argv: Sequence[str] | None = None) -> None:
    """Check everything; print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write docs/papers.md")
    options = parser.parse_args(argv)
    text = page()
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
