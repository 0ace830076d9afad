"""The tables of docs/tests.md and docs/measured.md: designs, tests, intervals, and their measured errors.

    python examples/measured_tests.py

reads studies/records and writes each table between its two marks in these pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from skewanova.scores.design import FoldDesign

DOCS = Path(__file__).resolve().parents[1] / "docs"


STUDIES = DOCS.parent / "studies" / "records"


#: Pages with tables, and the marks about each table.
PAGES = {"tests": ("designs",), "measured": ("tests", "coverage")}
MARKS = "<!-- measured {} -->", "<!-- end of measured {} -->"


#: Coverage of 95 % intervals from which it counts as reached.
REACHED = 0.935


COVERAGE_HEADER = "| design | interval | coverage | reaches .935 | study |"


#: What crossings_study calls the intervals that are shown.
CROSSING_METHODS = {"fieller": "crossing, where one is found", "set": "all priors not decided"}


DESIGNS_HEADER = (
    "| `design=` | your study | test: all models / pairs | what it claims | measured error at .05 | study |"
)


HEADER = "| design | test: all models / pairs | size at .05 | at .005 | power at .05 | study | claim about |"


HOTELLING, GREENHOUSE = "corrected Hotelling", "corrected Greenhouse-Geisser"


#: Scenario of type_one_error.csv: design in words, kind, tests, effect of power.csv or power-designs.csv; no
#: effect where the test does not hold its level.
FOLDS = {
    "S1": ("20 independent folds", "independent", "Greenhouse-Geisser / max-T", 0.2),
    "S3": ("the same, one model spreads 2.3 times as much", "independent", "the same", 0.2),
    "S1-M5": ("5 independent folds", "independent", "Greenhouse-Geisser / paired t, Holm", 0.2),
    "S2a": ("20 hold-outs 80/20", "repeated_holdout", f"{HOTELLING} / corrected t, Holm", 0.4),
    "S2e": ("the same, unstable learners", "repeated_holdout", "the same: **not trusted**", None),
    "S2c-half": ("20 half splits", "repeated_holdout", f"{HOTELLING} / corrected t, Holm", 0.4),
    "S2e-half": ("the same, unstable learners", "repeated_holdout", "the same", 0.4),
    "S2a-10fold": ("one 10-fold cross-validation", "kfold", f"{GREENHOUSE} / corrected t, Holm", 0.4),
    "S2e-10fold": ("the same, unstable learners", "kfold", "the same", 0.4),
    "S2a-5x2": ("5 x 2-fold", "repeated_kfold", f"{GREENHOUSE} / corrected t, Holm", 0.4),
}


HALVED = {"S2a": "20 hold-outs beside 20 halvings", "S2e": "the same, unstable learners"}


#: Weightings of paired.csv that few distinct scores are told apart by.
COMMON, RARE = "prior 0.5", "uniform over priors 0.05 to 0.2"


#: Setting, positives and weighting (or all) of paired.csv and paired-clusters.csv, in words.
CASES = {
    ("binormal", 100, ""): "one test set, 100 positives",
    ("values_8", 100, COMMON): "the same, 8 distinct scores, prior .5",
    ("values_8", 100, RARE): "the same, priors .05 to .2",
    ("values_5", 100, COMMON): "the same, 5 distinct scores, prior .5",
    ("values_5", 100, RARE): "the same, priors .05 to .2",
    ("binormal", 30, ""): "one test set, 30 positives",
    ("values_5", 30, ""): "the same, 5 distinct scores",
    ("patients", 100, ""): "one test set, ten cases a patient",
}


#: Settings of paired-power.csv: the same, one model being better.
BETTER = {"binormal": "better", "values_8": "better_8", "values_5": "better_5", "patients": "better_patients"}


#: Those of which the verdict says before any number that no test holds.
UNTRUSTED = {("values_8", 100, RARE), ("values_5", 100, RARE), ("values_5", 30, "")}


#: What runs-power.csv calls the power of pairs.
FOUND = "true differences (Holm)"


def claim(kind: str, n_clusters: int = 0) -> str:
    """Return what a design's tests are about."""
    return FoldDesign(kind, n_folds=2, n_clusters=n_clusters).population


def share(value: float) -> str:
    """Return a rate with three digits and no zero before the point."""
    return f"{value:.3f}".lstrip("0") if value < 1 else "1.000"


def rates(rows: pd.DataFrame, column: str, questions: tuple[str, str], level: float) -> str:
    """Largest rate of all models and of pairs at a level."""
    at = rows[rows["level"] == level].groupby(column)["rate"].max()
    return " / ".join(share(float(at[question])) for question in questions)


def fold_rows() -> list[tuple[str, ...]]:
    """Designs of folds."""
    sizes = pd.read_csv(STUDIES / "type_one_error.csv")
    powers = pd.concat(pd.read_csv(STUDIES / f"{name}.csv") for name in ("power", "power-designs"))
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
    every = pd.read_csv(STUDIES / "split_half.csv")
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
    parts = [pd.read_csv(STUDIES / f"{name}.csv") for name in ("paired", "paired-clusters")]
    every, powers = pd.concat(parts), pd.read_csv(STUDIES / "paired-power.csv")
    found = []
    for key, design in CASES.items():
        setting, n_positive, weighting = key
        rows = every[(every["setting"] == setting) & (every["n_positive"] == n_positive) & every["claimed"]]
        rows = rows[rows["weighting"] == weighting] if weighting else rows
        asked = ("all models", "pairs (Holm)")
        size = (rates(rows, "test", asked, level) for level in (0.05, 0.005))
        at = powers[(powers["n_positive"] == n_positive) & (powers["setting"] == BETTER[setting])]
        power = rates(at, "test", asked, 0.05) if key not in UNTRUSTED else ""
        trusted = ": **not trusted**, and said so" if key in UNTRUSTED else ""
        about = claim("test_set", n_clusters=2 * (setting == "patients"))
        found.append((design, f"jackknife F / jackknife t, Holm{trusted}", *size, power, "paired", about))
    return found


def run_rows() -> list[tuple[str, ...]]:
    """Several runs on one test set."""
    every, powers = (pd.read_csv(STUDIES / f"{name}.csv") for name in ("runs", "runs-power"))
    powers = powers[powers["df"] == "banerjee"].set_index(["n_models", "n_runs"])
    found = []
    for (n_models, n_runs), rows in every.groupby(["n_models", "n_runs"]):
        asked = ("all models", "pairs (Holm)")
        power = rates(powers.loc[(n_models, n_runs)], "question", ("all models", FOUND), 0.05)
        size = (rates(rows, "question", asked, level) for level in (0.05, 0.005))
        design = f"{n_runs} runs of {n_models} models on one test set"
        found.append(
            (design, "Obuchowski-Rockette, Banerjee's df / the same", *size, power, "runs", claim("runs"))
        )
    return found


def test_rows() -> list[tuple[str, ...]]:
    """Every design and its test."""
    return [*fold_rows(), *halved_rows(), *case_rows(), *run_rows()]


def covered(design: str, interval: str, values: pd.Series, study: str) -> tuple[str, ...]:
    """Return a row: the range of coverages of an interval."""
    ends = dict.fromkeys((share(float(values.min())), share(float(values.max()))))
    reached = "yes" if values.min() >= REACHED else "**no**"
    return design, interval, " to ".join(ends), reached, study


def adjusted_rows() -> list[tuple[str, ...]]:
    """Intervals of adjusted differences leave out 0 exactly where the pair is told apart."""
    found = []
    for design, test, size, *_, study, _ in test_rows():
        rate = float(size.split(" / ")[1])
        trusted = "" if "not trusted" not in test else " (test not trusted)"
        found.append(covered(design, f"differences, adjusted{trusted}", pd.Series([1 - rate]), study))
    return found


def shown_rows() -> list[tuple[str, ...]]:
    """Intervals and bands as examples/coverage_study.py found them."""
    every = pd.read_csv(STUDIES / "coverage.csv")
    every = every[~every["interval"].str.startswith("P(best)")]
    return [
        covered(
            row.design,
            f"{row.interval}{', all together' * row.together}",
            pd.Series([row.coverage]),
            "coverage",
        )
        for row in every.itertuples()
    ]


def area_rows() -> list[tuple[str, ...]]:
    """Intervals of one area with few positives: over distributions and priors."""
    return [row for row in few_positives_rows() if "difference" not in row[1]]


def few_positives_rows() -> list[tuple[str, ...]]:
    """Intervals with few positives, by the design that ends the name of the measure."""
    every = pd.read_csv(STUDIES / "few_positives.csv")
    few = every[every["n_positive"] <= 50].groupby("measure", sort=False)["coverage"]
    return [
        covered(measure.split(", ")[1], f"{measure.split(', ')[0]}, 30 or 50 positives", values, "support")
        for measure, values in few
    ]


def other_rows() -> list[tuple[str, ...]]:
    """Crossings, contenders, operating points and estimated priors."""
    crossings = pd.read_csv(STUDIES / "decisions-crossings.csv")
    leaders = pd.read_csv(STUDIES / "decisions-leaders.csv")["best_always_in"]
    points = pd.read_csv(STUDIES / "operating.csv")
    fixed = points["rule"].str.startswith("fpr")
    priors = pd.read_csv(STUDIES / "prior.csv")
    rule = priors[(priors["bins"] == "rule") & priors["violation"].isna() & (priors["level"] == 0.05)]
    found = [
        covered(
            "folds, one test set", name, crossings[crossings["method"] == method]["coverage"], "decisions"
        )
        for method, name in CROSSING_METHODS.items()
    ]
    return [
        *found,
        covered("folds, one test set", "contenders hold a best model at every prior", leaders, "decisions"),
        covered(
            "one test set", "measures at a threshold fixed before", points[fixed]["coverage"], "operating"
        ),
        covered("one test set", "at one chosen on the same cases", points[~fixed]["coverage"], "operating"),
        covered("unlabelled cases", "estimated prior", rule["coverage"], "prior"),
    ]


def linked(study: str) -> str:
    """Return a link to the record of a study."""
    record = STUDIES / f"{study}.md"
    return f"[{study}](../studies/records/{record.name if record.exists() else f'{study}.csv'})"


#: Rows of the short table: argument, the study in words, its rows in the long table.
DESIGNS = (
    (
        "test_set",
        "one test set, each model trained once",
        ("one test set, 100 positives", "one test set, 30 positives"),
    ),
    ("test_set", "the same, several cases of a patient (`cluster`)", ("one test set, ten cases a patient",)),
    ("runs", "one test set, each learner trained several times", ("runs of",)),
    ("independent", "folds that each have training data of their own", ("independent folds",)),
    ("kfold", "one cross-validation", ("one 10-fold cross-validation",)),
    ("repeated_kfold", "repeated cross-validation", ("5 x 2-fold",)),
    ("repeated_holdout", "hold-outs of a half", ("20 half splits",)),
    ("repeated_holdout", "hold-outs of a fifth, stable learners", ("20 hold-outs 80/20",)),
    ("split_half", "hold-outs beside halvings, any learner", ("20 hold-outs beside 20 halvings",)),
)


def largest(rates: Sequence[str]) -> str:
    """Return the largest rates, of all models and of pairs."""
    return " / ".join(max(parts) for parts in zip(*(each.split(" / ") for each in rates), strict=True))


def dataset_row() -> tuple[str, ...]:
    """Several data sets: Friedman's test and signed ranks, the largest rate over settings."""
    every = pd.read_csv(STUDIES / "datasets.csv")
    at = every[every["level"] == 0.05].groupby("test")["rate"].max()
    rate = " / ".join(share(float(at[test])) for test in ("friedman", "wilcoxon_holm"))
    test = "Friedman / signed ranks, Holm"
    return "`datasets`", "several data sets", test, "further data sets like these", rate, linked("datasets")


def design_rows() -> list[tuple[str, ...]]:
    """Every design with its test, claim and largest measured error, and the case in which no test holds."""
    found, groups, bad, every = [], {}, "not trusted", test_rows()
    name = ""
    for row in every:  # "the same" belongs to the row above
        name = name if row[0].startswith("the same") else row[0]
        if bad not in row[1]:
            groups.setdefault(name, []).append(row)
    for argument, words, parts in DESIGNS:
        rows = [row for name in groups for row in groups[name] if any(part in name for part in parts)]
        _, test, *_, study, about = rows[0]
        found.append((f"`{argument}`", words, test, about, largest([row[2] for row in rows]), linked(study)))
    worst = next(row for row in every if bad in row[1])
    test, words = (
        f"{HOTELLING} / corrected t, Holm: **not reliable**",
        "hold-outs of a fifth, unstable learners",
    )
    found.append(("`repeated_holdout`", words, test, worst[6], f"**{worst[2]}**", linked(worst[5])))
    return [*found, dataset_row()]


def lines_of(header: str, rows: list[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    ruler = "|---" * (header.count("|") - 1) + "|"
    return "\n".join([header, ruler, *(f"| {' | '.join(row)} |" for row in rows)])


def with_tables(text: str, page: str) -> str:
    """Return the page with the tables of today between their marks."""
    intervals = [*shown_rows(), *adjusted_rows(), *few_positives_rows(), *other_rows()]
    tables = {
        "designs": (DESIGNS_HEADER, design_rows()),
        "tests": (HEADER, [(*row[:5], linked(row[5]), row[6]) for row in test_rows()]),
        "coverage": (COVERAGE_HEADER, [(*row[:4], linked(row[4])) for row in intervals]),
    }
    for name in PAGES[page]:
        start, end = (mark.format(name) for mark in MARKS)
        before, rest = text.split(start)
        _, after = rest.split(end)
        text = f"{before}{start}\n{lines_of(*tables[name])}\n{end}{after}"
    return text


def main() -> None:
    """Write the tables into the pages."""
    for name in PAGES:
        page = DOCS / f"{name}.md"
        text = with_tables(page.read_text(encoding="utf-8"), name)
        page.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
