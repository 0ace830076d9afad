"""Landgrebe et al. (2006), section 6: three classifiers of a satellite image whose class prior varies.

Trains the paper's three models on 20 random hold-outs, compares them, and prints every number beside the
printed one. Needs the extra ``sklearn``: ``pip install "skewanova[sklearn]"``. Run it with::

    python examples/satellite.py [--seed 0] [--scores scores.csv.gz] [--out DIR]

Reference: T. Landgrebe, P. Paclik, R. Duin and A. Bradley (2006), Precision-recall operating characteristic
(P-ROC) curves in imprecise environments, ICPR.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import expit
from tqdm import tqdm

import skewanova as sa

try:
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits  # scikit-learn requires it
except ImportError:
    sys.exit('This example needs scikit-learn: pip install "skewanova[sklearn]"')

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

DATA = Path(__file__).resolve().parents[1] / "data" / "satellite.csv.gz"
POSITIVE = ("cotton crop", "damp grey soil")
N_CASES, N_POSITIVE = 6435, 1329  # as the paper counts them
FOLDS = range(1, 21)
TEST_SHARE = 0.2
MODELS = {"A": "PCA + mixtures", "B": "15 prototypes", "C": "50 prototypes"}
PROTOTYPES = {"B": 15, "C": 50}
PRIORS = (0.5, 0.1, 0.01)
RANGE = (0.05, 0.20)
ALPHA = 0.005
DIGITS = "%.7g"  # of a stored score
WIDTH = 79

# Landgrebe et al. 2006, table 1: mean and standard deviation over the hold-outs, models A, B, C
PAPER = {
    "AUPREC(0.5)": ((0.554, 0.014), (0.775, 0.108), (0.803, 0.084)),
    "AUPREC(0.1)": ((0.554, 0.013), (0.629, 0.186), (0.781, 0.082)),
    "AUPREC(0.01)": ((0.552, 0.013), (0.487, 0.245), (0.734, 0.075)),
    "IAUPREC": ((0.554, 0.013), (0.642, 0.177), (0.783, 0.082)),
    "AUC": ((0.943, 0.005), (0.825, 0.046), (0.905, 0.019)),
}
ROW_A_COLUMNS = ("AUPREC(0.5)", "AUPREC(0.1)", "AUPREC(0.01)")
# The grid of the 3-way ANOVA beside IAUPREC is inferred: the paper does not state it
GRID = np.round(np.linspace(*RANGE, 16), 2)
RECALLS = np.round(np.linspace(0.1, 1, 10), 1)


# --- data and hold-outs -------------------------------------------------------------------------------------


def load_pixels(path: Path = DATA) -> tuple[Floats, Bools]:
    """Return the 36 bands of every pixel, and whether its class is one of the two positive ones."""
    frame = pd.read_csv(path)
    positive = frame["class"].isin(POSITIVE).to_numpy(dtype=bool)
    if (len(frame), positive.sum()) != (N_CASES, N_POSITIVE):
        raise SystemExit(f"{path.name} must hold {N_POSITIVE} positives among {N_CASES} pixels")
    return frame.drop(columns="class").to_numpy(dtype=np.float64), positive


def hold_out(n_cases: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return train and test rows of one random hold-out; the paper mentions no stratification."""
    order = rng.permutation(n_cases)
    n_test = round(TEST_SHARE * n_cases)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


# --- the three models: each scores test pixels, a higher score speaking for the positive class --------------


def mixture_scores(train: Floats, positive: Bools, test: Floats, rng: np.random.Generator) -> Floats:
    """Model A: log posterior odds of one mixture of 3 Gaussians for each class, on 3 principal components.

    The log odds never saturate, so every test pixel keeps its rank and the ROC curve is complete.
    """
    components = PCA(n_components=3, svd_solver="full").fit(train)
    reduced, reduced_test = components.transform(train), components.transform(test)
    joint = []
    for members in (positive, ~positive):
        mixture = GaussianMixture(3, max_iter=1000, random_state=int(rng.integers(2**32)))
        density = mixture.fit(reduced[members]).score_samples(reduced_test)
        joint.append(density + np.log(members.mean()))
    return joint[0] - joint[1]


def draw_prototypes(positive: Bools, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Random training rows, drawn again until both classes are among them, as the classifier needs."""
    while True:
        rows = rng.choice(len(positive), size, replace=False)
        if positive[rows].any() and not positive[rows].all():
            return rows


def distance_scores(prototypes: Floats, positive: Bools, test: Floats) -> Floats:
    """Models B and C: d0 / (d0 + d1), with d_k the distance to the nearest prototype of class k."""
    distance = cdist(test, prototypes)
    nearest_1, nearest_0 = distance[:, positive].min(axis=1), distance[:, ~positive].min(axis=1)
    total = nearest_0 + nearest_1
    return np.divide(nearest_0, total, out=np.full_like(total, 0.5), where=total > 0)  # 0.5: on both classes


# --- the score table ----------------------------------------------------------------------------------------


def score_fold(pixels: Floats, positive: Bools, *, fold: int, seed: int) -> pd.DataFrame:
    """Scores of one hold-out's test cases; the split and every model have random streams of their own."""
    # the grandchildren that spawning twice would give, without the state that spawning keeps
    keys = [np.random.SeedSequence(seed, spawn_key=(fold - 1, stream)) for stream in range(1 + len(MODELS))]
    split_rng, mixture_rng, *prototype_rngs = map(np.random.default_rng, keys)
    train, test = hold_out(len(pixels), split_rng)
    scores = {"A": mixture_scores(pixels[train], positive[train], pixels[test], mixture_rng)}
    for (name, size), rng in zip(PROTOTYPES.items(), prototype_rngs, strict=True):
        rows = train[draw_prototypes(positive[train], size, rng)]
        scores[name] = distance_scores(pixels[rows], positive[rows], pixels[test])
    return pd.DataFrame({"fold": fold, "case": test, "y_true": positive[test].astype(int), **scores})


def score_table(
    pixels: Floats, positive: Bools, *, seed: int = 0, folds: Iterable[int] = FOLDS
) -> pd.DataFrame:
    """Scores of the hold-outs as they are written, with 7 significant digits."""
    steps = tqdm(folds, desc="hold-outs", disable=None, leave=False)
    with threadpool_limits(1):  # on so few pixels, threads only wait for each other
        frames = [score_fold(pixels, positive, fold=fold, seed=seed) for fold in steps]
    table = pd.concat(frames, ignore_index=True)
    return table.assign(**{name: table[name].map(lambda score: float(DIGITS % score)) for name in MODELS})


def to_csv(scores: pd.DataFrame) -> str:
    """Return the score table as text."""
    return scores.to_csv(index=False, float_format=DIGITS, lineterminator="\n")


def write_scores(scores: pd.DataFrame, path: Path) -> None:
    """Write the table; a .gz holds neither a time nor a name, so the same scores give the same bytes."""
    content = to_csv(scores).encode()
    if path.suffix != ".gz":
        path.write_bytes(content)
        return
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
        packed.write(content)


# --- the paper's row A: what the printed formula loses ------------------------------------------------------


def printed_equation_4(roc: sa.RocCurve, prior: float) -> float:
    """AUPREC by the paper's eq. 4 as printed: the sum starts at i = 2.

    Its first vertex is the first threshold's, not the origin, so the recall up to there is lost: one case's
    where scores are distinct, that of all cases at the top where they tie.
    """
    recall, alarms = roc.tpr[1:], (1 - prior) / prior * roc.fpr[1:]
    precision = recall / (recall + alarms)  # eq. 3
    return float(np.sum(np.diff(recall) * (precision[1:] + precision[:-1]) / 2))


def row_a_figures(scores: pd.DataFrame) -> dict[str, Floats]:
    """AUPREC at the three priors and AUC of model A, means over the hold-outs, computed in several ways."""
    log_odds, posterior = [], []
    for _, fold in scores.groupby("fold"):
        log_odds.append(sa.roc_curve(fold["y_true"], fold["A"]))
        posterior.append(sa.roc_curve(fold["y_true"], expit(fold["A"])))  # exactly 1.0 from log odds 37 on
    return {
        "complete": _fold_mean(log_odds, sa.auprec),
        "complete_printed": _fold_mean(log_odds, printed_equation_4),
        "saturated": _fold_mean(posterior, sa.auprec),
        "saturated_printed": _fold_mean(posterior, printed_equation_4),
        "tied_recall": np.mean([roc.tpr[1] for roc in posterior], keepdims=True),
    }


def _fold_mean(curves: Sequence[sa.RocCurve], area: Callable[[sa.RocCurve, float], float]) -> Floats:
    return np.mean([[*(area(roc, prior) for prior in PRIORS), sa.auc(roc)] for roc in curves], axis=0)


# --- printing -----------------------------------------------------------------------------------------------


def short(value: float) -> str:
    """Three decimals without the leading zero."""
    return f"{value:.3f}".removeprefix("0")


def filled(text: str) -> str:
    """Paragraphs, parted by empty lines, filled to the width of a terminal."""
    blocks = [" ".join(block.split()) for block in text.strip().split("\n\n")]
    return "\n\n".join(textwrap.fill(block, WIDTH, break_on_hyphens=False) for block in blocks) + "\n"


def measured(result: sa.Comparison) -> dict[str, pd.DataFrame]:
    """Mean and standard deviation of each measure of table 1, by model."""
    by_prior = {f"AUPREC({prior:g})": rows for prior, rows in result.tables["auprec"].groupby("prior")}
    folds = {
        **{name: by_prior[name].set_index("model")["auprec"] for name in PAPER if name in by_prior},
        "IAUPREC": result.tables["iauprec"].set_index("model")["iauprec"],
        "AUC": result.tables["iauprec"].set_index("model")["auc"],
    }
    return {name: v.groupby(level=0, observed=True).agg(["mean", "std"]) for name, v in folds.items()}


def table_1(result: sa.Comparison) -> str:
    """Mean and standard deviation of every measure and model, ours beside the paper's."""
    lines = [f"{'':12}" + "".join(f" {f'{name}: {told}':<21}" for name, told in MODELS.items())]
    lines.append(f"{'':12}" + f" {'ours':^10}|{'paper':^10}" * len(MODELS))
    for name, ours in measured(result).items():
        cells = zip(ours.loc[list(MODELS)].to_numpy(), PAPER[name], strict=True)
        texts = [f" {short(m)}({short(s)})|{short(pm)}({short(ps)})" for (m, s), (pm, ps) in cells]
        lines.append(f"{name:12}" + "".join(texts))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def pairs_apart(rows: pd.DataFrame, factor: str) -> str:
    """Pairs of models or priors that a post-hoc test tells apart."""
    found = rows[rows["reject"]]
    pairs = zip(found[f"{factor}_a"], found[f"{factor}_b"], strict=True)
    texts = [
        sorted((f"{level}".removeprefix("0") for level in pair), reverse=factor == "prior") for pair in pairs
    ]
    return " ".join(sorted(map("-".join, texts), reverse=factor == "prior")) or "none"


class PaperTest(NamedTuple):
    """One test of the paper: what it is, our F and pairs, and what is printed."""

    name: str
    statistic: float
    apart: str
    printed: str
    printed_apart: str


def paper_tests(table: pd.DataFrame) -> list[PaperTest]:
    """Return the paper's tests of models and priors at its level, each beside the printed number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        few, many = (
            sa.evaluate(table, at_priors=priors, deployment_prior=RANGE) for priors in (PRIORS, GRID)
        )
        points = sa.evaluation.precision_recall(few, recall=RECALLS)
        by_threshold = sa.inference.threshold_anova(points)
    two, many_priors, priors = (
        sa.inference.two_way_anova(few.iauprec, alpha=ALPHA),
        sa.inference.three_way_anova(many.auprec, alpha=ALPHA),
        sa.inference.three_way_anova(few.auprec, alpha=ALPHA),
    )
    friedman = sa.inference.omnibus_test(few, method="friedman").to_frame()["statistic"].iloc[0]

    def beside(name: str, result: Any, printed: str, apart: str, *, factor: str = "model") -> PaperTest:
        pairs = sa.inference.tukey_hsd(result, factor=factor, alpha=ALPHA).to_frame()
        return PaperTest(name, result.row(factor)["statistic"], pairs_apart(pairs, factor), printed, apart)

    return [
        beside("2-way, IAUPREC", two, "21.04", "A-C B-C"),
        beside(f"3-way, {len(GRID)} priors", many_priors, "483.85", "A-B A-C B-C"),
        beside("3-way, 3 priors", priors, "-", "A-B A-C B-C"),
        beside("3-way, 3 priors: priors", priors, "-", ".5-.01", factor="prior"),
        PaperTest("Friedman, IAUPREC", friedman, "", "-", ""),
        PaperTest("thresholds (section 1)", by_threshold.row("model")["statistic"], "", "-", ""),
    ]


def table_tests(tests: Sequence[PaperTest]) -> str:
    """F values and pairwise decisions of the paper's tests, ours beside the paper's."""
    layout = "{:25} {:>7} {:>7}  {:<18} {:<18}".format
    lines = [layout("", "F ours", "paper", "differ: ours", "paper")]
    lines += [
        layout(one.name, f"{one.statistic:.1f}", one.printed, one.apart, one.printed_apart) for one in tests
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def explain_tests(tests: Sequence[PaperTest]) -> str:
    """Which F the paper prints, and what it can belong to."""
    two, many, few = (one.statistic for one in tests[:3])
    return filled(f"""
        F = 483.85 is printed after the IAUPREC, not after the three priors: table 1 leaves at most
        {largest_f():.0f} for a 3-way ANOVA of three priors, and {largest_f(folds=False):.1f} without an
        effect of the folds. A grid of {len(GRID)} priors in [{RANGE[0]:.2f}, {RANGE[1]:.2f}] gives
        {many / two:.1f} times the 2-way F here, and the paper's two are {483.85 / 21.04:.1f} apart. That
        grid is inferred, for the paper states none; three priors give {few / two:.1f} times. F grows with
        the number of priors because each ROC curve counts once for every prior: it describes and does not
        decide. The ANOVA over thresholds, of the paper's introduction, counts every point of a curve as
        well ({len(RECALLS)} recalls here); section 5 has folds in the place of thresholds.
    """)


def largest_f(*, folds: bool = True) -> float:
    """Largest F of the models in a 3-way ANOVA of three priors that table 1 allows.

    The table's means fix the sum of squares of models and of priors, its standard deviations that within
    (model, prior) over folds. An effect of the folds takes from the latter no more than there would be if
    all cells moved together: the squared mean of the standard deviations.
    """
    columns = [PAPER[name] for name in ROW_A_COLUMNS]
    means = np.array([[mean for mean, _ in column] for column in columns])
    deviations = np.array([[deviation for _, deviation in column] for column in columns])
    n_folds, n_cells = len(FOLDS), means.size
    models, priors = (means.mean(axis=axis) - means.mean() for axis in (0, 1))
    rest = means - means.mean() - models - priors[:, None]
    within = (n_folds - 1) * (deviations**2).sum()
    by_fold = (n_folds - 1) * n_cells * deviations.mean() ** 2 if folds else 0.0
    error = n_folds * (rest**2).sum() + within - by_fold
    df_models, df_priors = len(models) - 1, len(priors) - 1
    df_error = n_folds * n_cells - 1 - df_models - df_priors - (n_folds - 1) * folds
    return float(n_folds * len(priors) * (models**2).sum() / df_models / (error / df_error))


# --- what the printed rows allow ----------------------------------------------------------------------------


def printed_rows() -> dict[str, sa.curves.FeasibilityReport]:
    """Whether complete curves can have each row of table 1."""
    found = {}
    for place, model in enumerate(MODELS):
        areas = {prior: PAPER[f"AUPREC({prior:g})"][place][0] for prior in PRIORS}
        found[model] = sa.curves.check_reported_areas(areas, auc=PAPER["AUC"][place][0])
    return found


def table_possible(rows: dict[str, sa.curves.FeasibilityReport]) -> str:
    """Return the printed AUPREC(0.5), the least that its row's other numbers allow, and missing recall."""
    layout = "{:5}{:>9}{:>15}{:>16}{:>16}{:>17}".format
    lines = [layout("Row", "printed", "least by AUC", "by AUPREC(.1)", "by all others", "recall missing")]
    for model, row in rows.items():
        span, pair = row.find_range("AUPREC(0.5)"), row.pairs[0]
        values = (span.value, span.low_given_auc, 1 - pair.largest_loss, span.low, row.missing_recall)
        lines.append(layout(model, *(short(v) if np.isfinite(v) else "none" for v in values)))
    return "\n".join(lines) + "\n"


def explain_possible(rows: dict[str, sa.curves.FeasibilityReport]) -> str:
    """Return what follows from the bounds."""
    constant = rows["A"].pairs[0].constant
    return filled(f"""
        No row of the printed table can be of complete curves. For any curve 1 - AUPREC(0.5) is at most
        {short(constant)} times 1 - AUPREC(0.1), which rules out A and C without their AUC; with the AUC, B
        too, though by little. The last column is the recall that must be missing from the paper's sums on
        average, if every other number is right.
    """)


def table_row_a(figures: dict[str, Floats]) -> str:
    """Model A measured in several ways, above the paper's row and what its AUC allows."""
    paper = [PAPER[name][0][0] for name in (*ROW_A_COLUMNS, "AUC")]
    given = sa.curves.check_reported_areas(dict(zip(PRIORS, paper, strict=False)), auc=paper[-1], rounding=0)
    rows = {
        "log odds, complete curve": figures["complete"],
        "log odds, eq. 4 as printed": figures["complete_printed"],
        "posterior, complete curve": figures["saturated"],
        "posterior, eq. 4 as printed": figures["saturated_printed"],
        "the paper's row A": paper,
        "lowest possible with that AUC": [
            *(given.find_range(name).low_given_auc for name in ROW_A_COLUMNS),
            paper[-1],
        ],
    }
    layout = "{:29}{:>13}{:>13}{:>14}{:>8}".format
    lines = [layout("Model A", *ROW_A_COLUMNS, "AUC")]
    lines += [layout(name, *map(short, values)) for name, values in rows.items()]
    return "\n".join(lines) + "\n"


def explain_row_a(figures: dict[str, Floats]) -> str:
    """Where and why the paper's row A cannot be reached, in numbers computed here."""
    printed, printed_rare = (PAPER[name][0][0] for name in ("AUPREC(0.5)", "AUPREC(0.01)"))
    complete, dropped = figures["complete"], figures["saturated_printed"]
    return filled(f"""
        Where recall can get lost: eq. 4 is printed as a sum from i = 2, which drops recall from 0 to its
        value at the first threshold. With log odds that is about one pixel. As posteriors in double
        precision, {figures["tied_recall"][0]:.1%} of the positive pixels tie at exactly 1.0, and all their
        recall is dropped: AUPREC(0.5) falls from {short(complete[0])} to {short(dropped[0])}.
        The AUC stays at {short(figures["saturated"][-1])} and gives no sign of it.

        That shows how such a row can arise, not that it arose so: {short(dropped[0])} is not
        {short(printed)}, and it falls with the prior (to {short(dropped[2])} at 0.01) where the printed row
        hardly moves ({short(printed_rare)}), as if all it counts were free of false alarms. So row A is
        reported here as a discrepancy; nothing was tuned to come closer.
    """)


def explain_rest(result: sa.Comparison) -> str:
    """How rows B and C and the order compare, and what the tests and the hold-outs are worth."""
    means = {name: ours["mean"] for name, ours in measured(result).items()}
    order = ", ".join(means["IAUPREC"].sort_values(ascending=False).index)
    fall = means["AUPREC(0.5)"] - means["AUPREC(0.01)"]
    printed = {m: PAPER["AUPREC(0.5)"][i][0] - PAPER["AUPREC(0.01)"][i][0] for i, m in enumerate(MODELS)}
    return filled(f"""
        Order by IAUPREC: {order} here; C, B, A in the paper. Every printed row falls less from prior 0.5 to
        0.01 than ours: A by {short(printed["A"])} (ours {short(fall["A"])}), B by {short(printed["B"])}
        ({short(fall["B"])}), C by {short(printed["C"])} ({short(fall["C"])}). "B is superior to A"
        contradicts the printed AUPREC(0.01) and AUC, "C superior" to A the printed AUC.

        All tests above take the hold-outs for independent. Random hold-outs of an image are used only because
        the paper uses them: neighbouring pixels are correlated, which flatters every model.
    """)


# --- the whole ----------------------------------------------------------------------------------------------


def long_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores with one row for each model and case."""
    return sa.scores_from_wide(scores, y_true="y_true", models=list(MODELS), fold="fold", case="case")


def analyse(scores: pd.DataFrame) -> sa.Comparison:
    """Compare the models as the paper does; its warnings are kept in the result, to be printed once."""
    table = long_table(scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return sa.compare(table, RANGE, at_priors=PRIORS, alpha=ALPHA)


def report(result: sa.Comparison, scores: pd.DataFrame, seed: int) -> str:
    """All that is printed."""
    figures, tests, rows = row_a_figures(scores), paper_tests(long_table(scores)), printed_rows()
    parts = (
        f"Satellite: {N_CASES} pixels, {N_POSITIVE} positive; {len(FOLDS)} random hold-outs, seed {seed}\n",
        f"Table 1. Mean(standard deviation); IAUPREC over priors {RANGE[0]:.2f} to {RANGE[1]:.2f}\n",
        table_1(result),
        *(filled(f"Note: {note}.") for note in result.warnings),
        f"The paper's tests, level {ALPHA}; pairs by Tukey (the paper names no procedure)\n",
        table_tests(tests),
        explain_tests(tests),
        explain_rest(result),
        "The printed rows beside what one complete curve can have\n",
        table_possible(rows),
        explain_possible(rows),
        table_row_a(figures),
        explain_row_a(figures),
    )
    return "\n".join(parts)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Command line options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="seed of hold-outs, prototypes and mixtures (0)")
    parser.add_argument("--scores", type=Path, metavar="PATH", help="also write the scores, CSV or CSV.GZ")
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write tables, figures and a report")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Train, compare, print."""
    options = parse(argv)
    scores = score_table(*load_pixels(), seed=options.seed)
    if options.scores:
        write_scores(scores, options.scores)
    result = analyse(scores)
    print(report(result, scores, options.seed))
    if options.out:
        result.save(options.out)


if __name__ == "__main__":
    main()
