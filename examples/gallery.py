"""Every plot, on the satellite scores and on eight simulated models whose curves cross.

Beside them plots of other results: several data sets, several runs on one test set, an estimated prior,
batches of unlabelled scores. Writes the pictures and a page that shows each beside the line of code that
draws it. Run it with::

    python examples/gallery.py --out docs/images/gallery --page docs/gallery.md
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import os
import textwrap
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

import skewanova as sa
from skewanova.comparison import MonitorReport
from skewanova.comparison import monitor as watch

DPI = 110
#: Means and standard deviations of the positives' scores; the negatives' are standard normal. Models with a
#: large spread find some positives early, and lead at rare priors; those with a small one lead at 0.5.
SIMULATED = {
    "narrow 1": (1.6, 0.6),
    "narrow 2": (1.5, 0.7),
    "even 1": (1.5, 1.0),
    "even 2": (1.4, 1.0),
    "even 3": (1.2, 1.0),
    "wide 1": (1.5, 1.6),
    "wide 2": (1.4, 1.8),
    "wide 3": (1.0, 2.0),
}
N_FOLDS, N_POSITIVE, N_NEGATIVE = 10, 60, 600

INTRODUCTION = """# Gallery

Written by `make gallery` (`python examples/gallery.py --out docs/images/gallery --page docs/gallery.md`).
Every function takes a result of `compare()` or the frame it draws, and `ax=`, `legend=` and `palette=`
(colours by model, in their order, or the name of a palette of seaborn); it returns the matplotlib `Axes`. A
model has one colour and one marker in all of them, and from the eleventh on dashes too. What a style sheet
sets (colours, grid, titles, spines) stays so. The numbers behind a picture are in the frame named beside it.

Axes narrower than 3.4 inches, as in one column of a paper, get their legend below and smaller titles:
`Figure(figsize=(3.5, 3.3), layout="constrained").subplots()`. Two panels of a figure of 6.5 x 2.6 inches have
a small legend inside, or none where the axis names the models. Names in scripts that matplotlib's DejaVu
Sans lacks (Chinese, Japanese, Korean) need a font that has them:
`plt.rcParams["font.family"] = ["DejaVu Sans", "Noto Sans CJK SC"]`.

```python
import skewanova as sa
from matplotlib import pyplot as plt

satellite = sa.compare(sa.load_satellite_scores(), (0.05, 0.20), at_priors=(0.5, 0.1, 0.01), alpha=0.005)
priors = (0.5, 0.2, 0.1, 0.05, 0.01)
simulated = sa.compare(simulated_scores(), (0.05, 0.20), at_priors=priors, design="independent")
```

`simulated_scores()` is in [examples/gallery.py](../examples/gallery.py): eight models on the same cases of
ten independent folds; so are `several_datasets()`, `several_runs()` and `unlabelled_scores()`, of which the
results in the last four pictures are made.
"""


def simulated_scores(seed: int = 0) -> pd.DataFrame:
    """Binormal scores of eight models; the cases of a fold are as hard for every model."""
    rng = np.random.default_rng(seed)
    positive = np.repeat([1, 0], [N_POSITIVE, N_NEGATIVE])
    parts = []
    for fold in range(1, N_FOLDS + 1):
        shared = rng.normal(size=len(positive))
        for model, (mean, spread) in SIMULATED.items():
            noise = 0.8 * shared + 0.6 * rng.normal(size=len(positive))
            score = np.where(positive, mean + spread * noise, noise)
            parts.append(pd.DataFrame({"model": model, "fold": fold, "y_true": positive, "y_score": score}))
    return pd.concat(parts, ignore_index=True)


# --- the pictures: what follows `return` is shown on the page ---------------------------------------------


def iauprec(result: sa.Comparison) -> Axes:
    """IAUPREC of every fold and model, intervals, compact letters (`result.iauprec`, `result.ranking`)."""
    return sa.plotting.plot_iauprec(result)


def auprec(result: sa.Comparison) -> Axes:
    """AUPREC against the prior (`result.auprec_by_prior`)."""
    return sa.plotting.plot_auprec(result)


def interaction(result: sa.Comparison) -> Axes:
    """Interaction of models and priors: means with t intervals (`result.auprec_intervals`)."""
    return sa.plotting.plot_interaction(result)


def regions(result: sa.Comparison) -> Axes:
    """Which model leads at which prior (`result.regions`)."""
    return sa.plotting.plot_regions(result)


def regret(result: sa.Comparison) -> Axes:
    """Show what each model falls short of the best one at the same prior (`result.regret`)."""
    return sa.plotting.plot_regret(result)


def differences(result: sa.Comparison) -> Axes:
    """Pairwise differences of the primary test (`result.pairs`)."""
    return sa.plotting.plot_pairs(result)


def p_values(result: sa.Comparison) -> Axes:
    """Show adjusted p of every pair of the primary test, with the difference (`result.pairs`)."""
    return sa.plotting.plot_p_values(result)


def critical_difference(result: sa.Comparison) -> Axes:
    """Mean ranks, and groups not separated by the primary test (`sa.inference.rank_comparison`)."""
    return sa.plotting.plot_critical_difference(result)


def difference_curves(result: sa.Comparison) -> Axes:
    """Difference along the prior with a simultaneous band and a strip where it excludes 0."""
    return sa.plotting.plot_difference_curves(result)


def precision_recall(result: sa.Comparison) -> Axes:
    """Precision-recall curves at one prior, with bands over folds (`result.precision_recall`)."""
    return sa.plotting.plot_precision_recall(result, prior=0.1)


def roc(result: sa.Comparison) -> Axes:
    """ROC curves with bands over folds (`result.roc`)."""
    return sa.plotting.plot_roc(result)


def surface(result: sa.Comparison) -> Axes:
    """P-ROC surface as contours (`result.surface`)."""
    return sa.plotting.plot_surface(result)


def surface_3d(result: sa.Comparison) -> Axes:
    """P-ROC surface in space (`result.surface`)."""
    return sa.plotting.plot_surface(result, kind="3d")


def skew(result: sa.Comparison) -> Axes:
    """Accuracy and precision of one threshold as negatives grow more frequent (`result.skew`)."""
    return sa.plotting.plot_skew(result)


def residuals_fitted(result: sa.Comparison) -> Axes:
    """Residuals of the 2-way ANOVA against fitted values (`result.residuals`)."""
    return sa.plotting.plot_residuals(result)


def residuals_fold(result: sa.Comparison) -> Axes:
    """Residuals by fold (`result.residuals`)."""
    return sa.plotting.plot_residuals(result, kind="fold")


def residuals_qq(result: sa.Comparison) -> Axes:
    """Residuals against normal quantiles with envelopes (`sa.inference.residual_quantiles`)."""
    return sa.plotting.plot_residuals(result, kind="qq")


def by_dataset(result: sa.DatasetsComparison) -> Axes:
    """Difference of two models on every data set, and over all (`result.by_dataset`, `.hierarchical`)."""
    return sa.plotting.plot_by_dataset(result)


def components(result: sa.Comparison) -> Axes:
    """Where the variance of an area comes from with several runs on one test set (`result.components`)."""
    return sa.plotting.plot_components(result)


def prior_estimate(result: sa.PriorEstimate) -> Axes:
    """Unlabelled scores as a mixture of both classes, and the likelihood (`result.bins_frame()`)."""
    return sa.plotting.plot_prior_estimate(result)


def monitor(result: MonitorReport) -> Axes:
    """Prior of every batch of unlabelled scores, over who leads at it (`result.table`, `result.leaders`)."""
    return sa.plotting.plot_monitor(result)


PICTURES: tuple[Callable[[Any], Axes], ...] = (
    *(iauprec, auprec, interaction, regions, regret),
    *(differences, p_values, critical_difference, difference_curves),
    *(precision_recall, roc, surface, surface_3d, skew),
    *(residuals_fitted, residuals_fold, residuals_qq),
)
CASES = ("satellite", "simulated")
#: Pictures of other results, and what these are called on the page.
OTHERS: dict[Callable[[Any], Axes], str] = {
    by_dataset: "datasets",
    components: "runs",
    prior_estimate: "estimate",
    monitor: "monitored",
}


def several_datasets(seed: int = 0) -> pd.DataFrame:
    """Two models on four independent folds of each of five data sets."""
    rng, label = np.random.default_rng(seed), np.repeat([1, 0], [40, 160])
    parts = []
    for number, name in enumerate(("credit", "spam", "churn", "heart", "fraud")):
        for fold in range(4):
            shared = rng.normal(size=len(label))
            for model, mean in (("forest", 1.6), ("boosting", 1.3 + 0.1 * number)):
                score = 0.8 * shared + 0.6 * rng.normal(size=len(label)) + mean * label
                told = {"dataset": name, "model": model, "fold": fold, "y_true": label, "y_score": score}
                parts.append(pd.DataFrame(told))
    return pd.concat(parts, ignore_index=True)


def several_runs(seed: int = 0) -> pd.DataFrame:
    """Two models, each trained from four seeds, on the same 500 cases."""
    rng, label = np.random.default_rng(seed), np.repeat([1, 0], [100, 400])
    parts = []
    for model, mean in (("network", 1.5), ("wide network", 1.6)):
        for run in range(4):
            score = rng.normal(size=len(label)) + (mean + 0.1 * rng.normal()) * label
            told = {"model": model, "fold": run, "case": np.arange(len(label)), "y_true": label}
            parts.append(pd.DataFrame(told | {"y_score": score}))
    return pd.concat(parts, ignore_index=True)


def unlabelled_scores(seed: int = 0) -> pd.DataFrame:
    """Scores of a simulated model in four batches, in which positives become more frequent."""
    rng, parts = np.random.default_rng(seed), []
    mean, spread = SIMULATED["wide 1"]
    for batch, prior in enumerate((0.04, 0.08, 0.15, 0.3), start=1):
        positive = rng.random(800) < prior
        noise = rng.normal(size=800)
        score = np.where(positive, mean + spread * noise, noise)
        parts.append(pd.DataFrame({"batch": batch, "model": "wide 1", "y_score": score}))
    return pd.concat(parts, ignore_index=True)


def others() -> dict[str, Any]:
    """Return the results of `OTHERS` by their names."""
    unlabelled, labelled = unlabelled_scores(), simulated_scores()
    two = labelled[labelled["model"].isin(["narrow 1", "wide 1"])]
    two = two.assign(case=two.groupby("model").cumcount())
    one = labelled[(labelled["model"] == "wide 1") & (labelled["fold"] == 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SkewanovaWarning)  # few folds, few data sets
        return {
            "datasets": sa.compare_datasets(several_datasets(), (0.05, 0.20), design="independent"),
            "runs": sa.compare(several_runs(), (0.1, 0.3)),
            "estimate": sa.estimate_prior(one["y_true"], one["y_score"], unlabelled["y_score"]),
            "monitored": watch(sa.compare(two, (0.05, 0.20), design="independent"), unlabelled),
        }


def compared() -> dict[str, Any]:
    """Both comparisons."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SkewanovaWarning)  # the report says them
        satellite = sa.compare(
            sa.load_satellite_scores(), (0.05, 0.20), at_priors=(0.5, 0.1, 0.01), alpha=0.005
        )
        simulated = sa.compare(
            simulated_scores(), (0.05, 0.20), at_priors=(0.5, 0.2, 0.1, 0.05, 0.01), design="independent"
        )
    return {"satellite": satellite, "simulated": simulated}


def code_of(picture: Callable[[sa.Comparison], Axes], case: str) -> str:
    """Return what the function returns, as it is written, with the name of the comparison."""
    return inspect.getsource(picture).split("return ", 1)[1].strip().replace("result", case)


def page(images: str) -> str:
    """Return the gallery in Markdown; `images` is the folder of the pictures, seen from the page."""
    parts = [INTRODUCTION]
    for picture, cases in shown().items():
        title = picture.__name__.replace("_", " ")
        about = inspect.getdoc(picture)
        code = "\n".join(code_of(picture, case) for case in cases)
        drawings = "\n".join(
            f"![{about}, {case} data]({images}/{case}_{picture.__name__}.png)" for case in cases
        )
        parts.append(f"## {title[0].upper()}{title[1:]}\n\n{about}\n\n```python\n{code}\n```\n\n{drawings}\n")
    return "\n".join(parts)


def shown() -> dict[Callable[[Any], Axes], tuple[str, ...]]:
    """Every picture, and the results it is drawn of."""
    return dict.fromkeys(PICTURES, CASES) | {picture: (name,) for picture, name in OTHERS.items()}


def drawn(figure: Figure) -> str:
    """Fingerprint of what a figure shows, its texts and lines: stale pictures have another."""
    texts = sorted(text.get_text() for text in figure.findobj(Text) if text.get_visible())
    lines = [
        np.asarray(line.get_xydata(), dtype=np.float64).round(3).tolist()
        for line in figure.findobj(Line2D)
        if line.get_transform().contains_branch(line.axes.transData if line.axes else IdentityTransform())
    ]
    return hashlib.sha256(repr((texts, lines)).encode()).hexdigest()


def save(figure: Figure, path: Path) -> int:
    """Write a picture with its fingerprint; its size in bytes."""
    figure.savefig(
        path, dpi=DPI, metadata={"Software": None, "Drawn": drawn(figure)}, pil_kwargs={"optimize": True}
    )
    return path.stat().st_size


def main(argv: Sequence[str] | None = None) -> None:
    """Draw everything."""
    parser = argparse.ArgumentParser(description=textwrap.dedent(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    parser.add_argument("--page", type=Path, help="Markdown page to write")
    options = parser.parse_args(argv)
    mpl.use("Agg")
    options.out.mkdir(parents=True, exist_ok=True)
    total, results = 0, compared() | others()
    for picture, cases in shown().items():
        for case in cases:
            figure = picture(results[case]).figure
            size = save(figure, options.out / f"{case}_{picture.__name__}.png")
            plt.close("all")
            total += size
            print(f"{case}_{picture.__name__}.png: {size / 1000:.0f} kB")
    print(f"together {total / 1000:.0f} kB")
    if options.page is not None:
        images = os.path.relpath(options.out, options.page.parent).replace(os.sep, "/")
        options.page.write_text(page(images), encoding="utf-8")


if __name__ == "__main__":
    main()
