"""The table of docs/tests.md: every design, its test, and what the recorded studies measured.

    python examples/measured_tests.py

reads docs/studies and writes the table between its two marks in docs/tests.md.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from skewanova.scores.design import Resampling

DOCS = Path(__file__).resolve().parents[1] / "docs"


START, END = "<!-- measured tests -->", "<!-- end of measured tests -->"


HEADER = "| design | test: all models / pairs | size at .05 | at .005 | power at .05 | study | claim about |"


HOTELLING, GREENHOUSE = "corrected Hotelling", "corrected Greenhouse-Geisser"


#: Scenario of type_one_error.csv: design in words, kind, tests, effect of power.csv.
FOLDS = {
    "S1": ("20 independent folds", "independent", "Greenhouse-Geisser / max-T", 0.2),
    "S3": ("the same, one model spreads 2.3 times as much", "independent", "the same", None),
    "S1-M5": ("5 independent folds", "independent", "Greenhouse-Geisser / paired t, Holm", None),
    "S2a": ("20 hold-outs 80/20", "repeated_holdout", f"{HOTELLING} / corrected t, Holm", 0.4),
    "S2e": ("the same, unstable learners", "repeated_holdout", "the same: **not trusted**", None),
    "S2c-half": ("20 half splits", "repeated_holdout", f"{HOTELLING} / corrected t, Holm", None),
    "S2e-half": ("the same, unstable learners", "repeated_holdout", "the same", None),
    "S2a-10fold": ("one 10-fold cross-validation", "kfold", f"{GREENHOUSE} / corrected t, Holm", None),
    "S2e-10fold": ("the same, unstable learners", "kfold", "the same", None),
    "S2a-5x2": ("5 x 2-fold", "repeated_kfold", f"{GREENHOUSE} / corrected t, Holm", None),
}


HALVED = {"S2a": "20 hold-outs beside 20 halvings", "S2e": "the same, unstable learners"}


#: Setting and positives of paired.csv and paired-clusters.csv, in words.
CASES = {
    ("binormal", 100): "one test set, 100 positives",
    ("values_8", 100): "the same, 8 distinct scores",
    ("values_5", 100): "the same, 5 distinct scores",
    ("binormal", 30): "one test set, 30 positives",
    ("values_5", 30): "the same, 5 distinct scores",
    ("patients", 100): "one test set, ten cases a patient",
}


def claim(kind: str, n_clusters: int = 0) -> str:
    """What a design's tests are about."""
    return Resampling(kind, 2, 0.0, "", n_clusters=n_clusters).claim


def share(value: float) -> str:
    """A rate with three digits and no zero before the point."""
    return f"{value:.3f}".lstrip("0") if value < 1 else "1.000"


def rates(rows: pd.DataFrame, column: str, questions: tuple[str, str], level: float) -> str:
    """Largest rate of all models and of pairs at a level."""
    at = rows[rows["level"] == level].groupby(column)["rate"].max()
    return " / ".join(share(float(at[question])) for question in questions)


def fold_rows() -> list[tuple[str, ...]]:
    """Designs of folds."""
    sizes, powers = (pd.read_csv(DOCS / "studies" / f"{name}.csv") for name in ("type_one_error", "power"))
    found = []
    for scenario, (design, kind, test, effect) in FOLDS.items():
        rows, asked = sizes[sizes["scenario"] == scenario], ("default_omnibus", "default")
        at = powers[(powers["scenario"] == scenario) & (powers["effect"] == (effect or -1))]
        power = rates(at, "test", asked, 0.05) if len(at) else ""
        size = (rates(rows, "test", asked, level) for level in (0.05, 0.005))
        found.append((design, test, *size, power, "type_one_error", claim(kind)))
    return found


def halved_rows() -> list[tuple[str, ...]]:
    """Hold-outs beside halvings."""
    every = pd.read_csv(DOCS / "studies" / "split_half.csv")
    halved = every[every["test"].str.startswith("split_half")]
    found = []
    for scenario, design in HALVED.items():
        rows, asked = halved[halved["scenario"] == scenario], ("models", "pairs")
        null, other = rows[rows["effect"] == 0], rows[rows["effect"] > 0]
        size = (rates(null, "question", asked, level) for level in (0.05, 0.005))
        power = rates(other, "question", asked, 0.05)
        test = "split-half Hotelling / split-half t, Holm"
        found.append((design, test, *size, power, "split_half", claim("split_half")))
    return found


def case_rows() -> list[tuple[str, ...]]:
    """One test set: the largest rate over weightings and numbers of models."""
    parts = [pd.read_csv(DOCS / "studies" / f"{name}.csv") for name in ("paired", "paired-clusters")]
    every = pd.concat(parts)
    found = []
    for (setting, n_positive), design in CASES.items():
        rows = every[(every["setting"] == setting) & (every["n_positive"] == n_positive) & every["claimed"]]
        asked = ("all models", "pairs (Holm)")
        size = (rates(rows, "test", asked, level) for level in (0.05, 0.005))
        trusted = "" if (setting, n_positive) != ("values_5", 30) else ": **not trusted**, and said so"
        about = claim("one_set", n_clusters=2 * (setting == "patients"))
        found.append((design, f"jackknife F / jackknife t, Holm{trusted}", *size, "", "paired", about))
    return found


def run_rows() -> list[tuple[str, ...]]:
    """Several runs on one test set."""
    every = pd.read_csv(DOCS / "studies" / "runs.csv")
    found = []
    for (n_models, n_runs), rows in every.groupby(["n_models", "n_runs"]):
        asked = ("all models", "pairs (Holm)")
        size = (rates(rows, "question", asked, level) for level in (0.05, 0.005))
        design = f"{n_runs} runs of {n_models} models on one test set"
        found.append(
            (design, "Obuchowski-Rockette-Hillis / the same", *size, "", "runs", claim("shared_cases"))
        )
    return found


def table() -> str:
    """The table in Markdown."""
    rows = [*fold_rows(), *halved_rows(), *case_rows(), *run_rows()]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([HEADER, "|---|---|---|---|---|---|---|", *lines])


def with_table(text: str) -> str:
    """The page with the table of today between its marks."""
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n{table()}\n{END}{after}"


def main() -> None:
    """Write the table into the page."""
    page = DOCS / "tests.md"
    page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
