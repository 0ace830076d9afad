"""Eight tables of simulated scores, and the report of each, as docs/samples.md shows them.

The commands stand on that page; this script writes the tables that they read, and runs them. Run it with::

    python examples/samples.py --out samples
"""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import skewanova as sa
from skewanova.cli.commands import main as command

#: Means and standard deviations of the positives' scores; those of the negatives are standard normal.
FRAUD = {"forest": (1.9, 0.7), "boosting": (1.7, 1.0), "network": (1.85, 1.6)}
PAGE = Path(__file__).resolve().parents[1] / "docs" / "samples.md"


def simulate(
    models: Mapping[str, tuple[float, float]], difficulty: np.ndarray, label: np.ndarray, *, seed: object
) -> pd.DataFrame:
    """Return binormal scores of models whose positives have these means and spreads, on the same cases."""
    rng = np.random.default_rng(seed)
    parts = []
    for model, (mean, spread) in models.items():
        noise = 0.7 * difficulty + np.sqrt(1 - 0.7**2) * rng.normal(size=len(label))
        score = np.where(label, mean + spread * noise, noise).round(4)
        parts.append(pd.DataFrame({"model": model, "y_true": label, "y_score": score}))
    return pd.concat(parts, ignore_index=True)


def draw_folds(
    models: Mapping[str, tuple[float, float]], folds: Iterable[int], n_positive: int, n_negative: int
) -> pd.DataFrame:
    """Return scores on independent folds."""
    label, parts = np.repeat([1, 0], [n_positive, n_negative]), []
    for fold in folds:
        difficulty = np.random.default_rng([1, fold]).normal(size=len(label))
        parts.append(simulate(models, difficulty, label, seed=[2, fold]).assign(fold=fold))
    return pd.concat(parts, ignore_index=True)


def decisive() -> pd.DataFrame:
    """Return three models on eight random hold-outs of 2,400 cases."""
    rng = np.random.default_rng(0)
    label, difficulty = np.repeat([1, 0], [600, 1800]), rng.normal(size=2400)
    models = {"boosting": (2.6, 1.0), "forest": (2.1, 1.0), "logistic": (1.4, 1.0)}
    parts = []
    for fold in range(1, 9):
        cases = np.concatenate([rng.choice(600, 200, False), 600 + rng.choice(1800, 600, False)])
        part = simulate(models, difficulty[cases], label[cases], seed=[0, fold])
        parts.append(part.assign(fold=fold, case=np.tile(cases, len(models))))
    return pd.concat(parts, ignore_index=True)


def crossing() -> pd.DataFrame:
    """Return three fraud models, each trained anew every month and scored on 10,000 cases of the next."""
    parts = []
    for month in range(1, 9):
        for number, (model, positives) in enumerate(FRAUD.items()):
            label, score = sa.curves.sample_scores(
                stats.norm(0, 1), stats.norm(*positives), 10_000, prior=0.1, rng=[month, number]
            )
            part = {"model": model, "fold": month, "y_true": label.astype(int), "y_score": score.round(6)}
            parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


def twenty() -> pd.DataFrame:
    """Return twenty models on ten independent folds, three of which lead."""
    means = {f"candidate {number:02}": (1.5 - 0.04 * number, 1.0) for number in range(4, 21)}
    leaders = {"candidate 01": (2.02, 1.0), "candidate 02": (2.0, 1.0), "candidate 03": (1.98, 1.05)}
    return draw_folds(leaders | means, range(10), 50, 300)


def equal() -> pd.DataFrame:
    """Return two models with nearly the same scores of 12,000 cases."""
    rng, label = np.random.default_rng(3), np.repeat([1, 0], [2000, 10_000])
    score = rng.normal(size=len(label)) + 2 * label
    parts = []
    for model in ("large", "small"):
        own = score + 0.05 * rng.normal(size=len(label))
        parts.append(pd.DataFrame({"model": model, "y_true": label, "y_score": own.round(4)}))
    return pd.concat(parts, ignore_index=True).assign(fold=1, case=np.tile(np.arange(len(label)), 2))


def few() -> pd.DataFrame:
    """Return three models on one test set with 60 positives."""
    label = np.repeat([1, 0], [60, 1200])
    models = {"boosting": (1.75, 1.0), "forest": (1.7, 1.0), "logistic": (1.1, 1.0)}
    table = simulate(models, np.random.default_rng(4).normal(size=len(label)), label, seed=[4, 1])
    return table.assign(fold=1, case=np.tile(np.arange(len(label)), len(models)))


def clusters() -> pd.DataFrame:
    """Return three models on the images of 500 patients, whose images are alike."""
    rng = np.random.default_rng(5)
    patient = np.repeat(np.arange(500), rng.integers(2, 13, 500))
    label = (rng.random(500) < 0.3)[patient].astype(int)
    difficulty = 0.7 * rng.normal(size=500)[patient] + np.sqrt(0.51) * rng.normal(size=len(patient))
    models = {"network": (2.0, 1.0), "texture": (1.6, 1.0), "size": (0.9, 1.0)}
    table = simulate(models, difficulty, label, seed=[5, 1])
    return table.assign(fold=1, case=np.tile(np.arange(len(label)), 3), cluster=np.tile(patient, 3))


def seeds() -> pd.DataFrame:
    """Return three learners, each trained from ten seeds, on one test set."""
    rng, label = np.random.default_rng(6), np.repeat([1, 0], [120, 1080])
    difficulty, parts = rng.normal(size=len(label)), []
    for run in range(1, 11):
        learners = {"network": (2.1, 0.15), "boosting": (2.0, 0.03), "forest": (1.5, 0.05)}
        models = {name: (mean + sd * rng.normal(), 1.0) for name, (mean, sd) in learners.items()}
        part = simulate(models, difficulty, label, seed=[6, run])
        parts.append(part.assign(fold=run, case=np.tile(np.arange(len(label)), 3)))
    return pd.concat(parts, ignore_index=True)


def datasets() -> pd.DataFrame:
    """Return three models on four independent folds of each of five data sets."""
    parts = []
    for number, name in enumerate(("credit", "spam", "churn", "heart", "claims")):
        lift = np.random.default_rng([7, number]).normal(0, 0.1, 3)
        means = (1.9, 1.6, 1.3) + lift + 0.2 * number
        names = ("boosting", "forest", "tree")
        models = {model: (mean, 1.0) for model, mean in zip(names, means, strict=True)}
        folds = range(10 * number, 10 * number + 4)
        parts.append(draw_folds(models, folds, 60, 240).assign(dataset=name))
    return pd.concat(parts, ignore_index=True)


def fraud() -> pd.DataFrame:
    """Return three models on 6,000 labelled cases, a tenth of them fraud."""
    rng, label = np.random.default_rng(8), np.repeat([1, 0], [600, 5400])
    table = simulate(FRAUD, rng.normal(size=len(label)), label, seed=[8, 1])
    return table.assign(fold=1, case=np.tile(np.arange(len(label)), len(FRAUD)))


def field() -> pd.DataFrame:
    """Return the scores of the same models in twelve weeks without labels; fraud rises in the ninth."""
    rng, parts = np.random.default_rng(9), []
    for week in range(1, 13):
        label = (rng.random(1500) < (0.03 if week < 9 else 0.3)).astype(int)
        part = simulate(FRAUD, rng.normal(size=len(label)), label, seed=[9, week]).drop(columns="y_true")
        case = 10_000 * week + np.arange(len(label))
        parts.append(part.assign(week=week, case=np.tile(case, len(FRAUD))))
    return pd.concat(parts, ignore_index=True)


TABLES: tuple[Callable[[], pd.DataFrame], ...] = (
    *(decisive, crossing, twenty, equal, few, clusters, seeds, datasets),
    *(fraud, field),  # without a report: other pages read them
)


def list_commands(page: str) -> dict[str, list[str]]:
    """Return the arguments of every command on the page, by the table it reads."""
    lines = re.findall(r"^skewanova (compare (\w+)\.csv .*)$", page.replace("\\\n", ""), re.MULTILINE)
    return {name: arguments.split() for arguments, name in lines}


def read_answer(report: str) -> str:
    """Return the first line of the verdict of a report."""
    choose = report.split("<dt>Choose</dt>")[1].split("</dd>")[0].replace("</p><p>", " ")
    return re.sub(r"<[^>]+>", "", choose)


def extract_picture(report: str) -> str:
    """Return the first figure of a report as an SVG file, on light ground."""
    style = report.split("<style>")[1].split("</style>")[0]
    style = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", style)  # dark screens among them
    style += "svg { font-family: 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; }"
    drawing = '<svg class="wide' + report.split('<svg class="wide')[1].split("</svg>")[0] + "</svg>"
    width, height = re.findall(r'viewBox="0 0 (\d+) (\d+)"', drawing)[0]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
    ground = f'><style><![CDATA[{style}]]></style><rect width="100%" height="100%" fill="#ffffff"/>'
    return drawing.replace("<svg ", head, 1).replace(">", ground, 1)


def write_samples(out: Path, page: Path = PAGE) -> None:
    """Write the tables, and what the commands of the page make of them, to a folder.

    The page quotes the first line of each verdict; an error says where it no longer does.
    """
    text = page.read_text(encoding="utf-8")
    out.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(out):
        for table in TABLES:
            table().to_csv(f"{table.__name__}.csv", index=False)
        for name, arguments in list_commands(text).items():
            shutil.rmtree(name, ignore_errors=True)
            command([*arguments, "--quiet"], standalone_mode=False)
            report = Path(name, "report.html").read_text(encoding="utf-8")
            Path(f"{name}.svg").write_text(extract_picture(report), encoding="utf-8")
            if f"> {read_answer(report)}\n" not in text:
                raise ValueError(f"{page.name} must quote the verdict on {name}.csv: {read_answer(report)}")


def main(argv: Sequence[str] | None = None) -> None:
    """Write all samples."""
    parser = argparse.ArgumentParser(description="Eight tables of simulated scores, and the report of each.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the tables and reports")
    write_samples(parser.parse_args(argv).out)


if __name__ == "__main__":
    main()
