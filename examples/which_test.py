"""The chart of docs/tests.md: nine questions, and what to type at the first yes.

    python examples/which_test.py

writes docs/images/which-test.svg.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple

CHART = Path(__file__).resolve().parents[1] / "docs" / "images" / "which-test.svg"


class Row(NamedTuple):
    """Question, in lines; name of the answer; what to type; the tests; what they claim."""

    question: tuple[str, ...]
    name: str
    command: str
    tests: tuple[str, ...]
    claim: str


ROWS = (
    Row(
        ("Untrained scikit-learn estimators, and no", "splits made yet?"),
        "20 half splits, by one call",
        "sa.compare_estimators(models, X, y)",
        ("All models: corrected Hotelling T2", "Pairs: corrected t, Holm"),
        "Claims: the methods, retrained on data like these",
    ),
    Row(
        ("Is there only one model?",),
        "An interval, no test",
        "skewanova intervals scores.csv",
        ("Interval by the jackknife or Wilson",),
        "Claims: this fitted model, on further cases",
    ),
    Row(
        ("Are there three or more classes?",),
        "Each class against the rest",
        "skewanova compare scores.csv --classes a,b,c",
        ("All models: the test of rows 5 to 9, each class", "Pairs: the same, Holm over all classes"),
        "Claims: as in rows 5 to 9",
    ),
    Row(
        ("Several data sets, each a problem of its own?",),
        "Data sets: column dataset names them",
        "skewanova compare scores.csv",
        ("All models: Friedman", "Pairs: signed ranks, Holm (below 6 sets: t tests)"),
        "Claims: further data sets like these",
    ),
    Row(
        ("One test set, and each model trained once?",),
        "One test set: no column fold",
        "skewanova compare scores.csv",
        ("All models: jackknife F over cases", "Pairs: jackknife t, Holm"),
        "Claims: these fitted models, on further cases",
    ),
    Row(
        ("One test set, and each learner trained", "several times (seeds)?"),
        "Runs: column fold names the run",
        "skewanova compare scores.csv --design runs",
        ("All models: Obuchowski-Rockette F", "Pairs: Obuchowski-Rockette t, Holm"),
        "Claims: the learners, over further runs and cases",
    ),
    Row(
        ("One problem, but each fold has its own", "training data (months, sites)?"),
        "Independent folds",
        "skewanova compare scores.csv --design independent",
        ("All models: Greenhouse-Geisser F", "Pairs: max-T (below 9 folds: t tests, Holm)"),
        "Claims: the methods, retrained on new data",
    ),
    Row(
        ("Hold-outs of a fifth of one data set, and", "unstable learners?"),
        "No reliable test: split again",
        "sa.compare_estimators(models, X, y)",
        ("20 half splits; or keep the hold-outs, and add", 'halvings of the data: design="split_half"'),
        "Unstable: feature selection, neighbours, few cases",
    ),
    Row(
        ("Other splits of one data set", "(cross-validation, hold-outs)?"),
        "Splits of one data set: add column case",
        "skewanova compare scores.csv",
        (
            "All models: corrected Hotelling T2",
            "    (few folds: corrected Greenhouse-Geisser F)",
            "Pairs: corrected t, Holm",
        ),
        "Claims: the methods, retrained on data like these",
    ),
)

#: Remarks that hold beside any row.
NOTES = (
    ("Only values by fold (accuracy, RMSE)?", "skewanova compare-values FILE --design DESIGN"),
    ("", "DESIGN: datasets (4), runs (6), independent (7), kfold (9)"),
    ("One value per model, no folds?", "No test is possible. Save the scores of the cases."),
    ("Several cases of one patient or site?", "Add the column cluster. The row stays the same."),
    ("Is one model the standard?", "Add --control NAME: all others are compared with it."),
)
WARNING = 8
#: Narrow, so that a phone shows it at three quarters of its size.
WIDTH, LEFT, ANSWER, STEP = 480, 6, 42, 19
MONO = "DejaVu Sans Mono, monospace"


def line(x: int, y: int, text: str, **style: str) -> str:
    """Return a line of text."""
    marks = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in style.items())
    return f'<text x="{x}" y="{y}"{marks} xml:space="preserve">{escape(text)}</text>'


def box(x: int, y: int, height: int, colour: str) -> str:
    """Return a box with round corners, up to the right margin."""
    frame = f'x="{x}" y="{y}" width="{WIDTH - x - LEFT}" height="{height}" rx="8"'
    return f'<rect {frame} fill="{colour}" stroke="#4a5a6a"/>'


def arrow(x: int, y: int, end: int, text: str) -> list[str]:
    """Return an arrow downwards, and the answer that it stands for."""
    path = f'<path d="M{x} {y}V{end - 5}" stroke="#4a5a6a" stroke-width="2" marker-end="url(#tip)"/>'
    return [path, line(x + 9, y + 15, text, font_size="15")]


def draw_row(number: int, y: int) -> tuple[list[str], int]:
    """Return a question with its answer beneath, and where the next question begins."""
    question, name, command, tests, claim = ROWS[number - 1]
    height = 16 + 22 * len(question)
    answer, inner = y + height + 20, ANSWER + 10
    styles: list[dict[str, str]] = [{"font_size": "16", "font_weight": "bold"}]
    styles += [{"font_size": "14", "font_family": MONO}, *({"font_size": "15"} for _ in tests)]
    styles += [{"font_size": "15", "font_style": "italic"}]
    texts = (name, command, *tests, claim)
    end = answer + 10 + STEP * len(texts)
    parts = [
        box(LEFT, y, height, "#eaf1f8"),
        line(LEFT + 10, y + height // 2 + 9, str(number), font_size="26", fill="#2b5f8f"),
        *(line(LEFT + 38, y + 24 + 22 * at, text, font_size="17") for at, text in enumerate(question)),
        *arrow(ANSWER + 24, y + height, answer, "yes"),
        box(ANSWER, answer, end - answer, "#fdeeda" if number == WARNING else "#eef7ee"),
        *(
            line(inner, answer + STEP * (at + 1), text, **style)
            for at, (text, style) in enumerate(zip(texts, styles, strict=True))
        ),
    ]
    if number < len(ROWS):
        parts += arrow(LEFT + 12, y + height, end + 18, "")
        parts += [line(LEFT + 20, end + 14, "no", font_size="15")]
    return parts, end + 18


def chart() -> str:
    """Return the chart as SVG."""
    rows, y = (
        [line(LEFT, 30, "Start at 1 and stop at the first yes.", font_size="20", font_weight="bold")],
        46,
    )
    for number in range(1, len(ROWS) + 1):
        parts, y = draw_row(number, y)
        rows += parts
    for case, advice in NOTES:
        if case:
            y += 26
            rows.append(line(LEFT, y, case, font_size="15", font_weight="bold"))
        y += 20
        rows.append(line(LEFT, y, advice, font_size="15"))
    y += 14
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="520" role="img" '
        'font-family="DejaVu Sans, Arial, sans-serif" fill="#1a1a1a">',
        "<title>Which test? Nine questions from the top; the first yes names the test</title>",
        '<defs><marker id="tip" markerWidth="6" markerHeight="6" refX="4" refY="3" orient="auto">'
        '<path d="M0 0L6 3L0 6z" fill="#4a5a6a"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{y}" fill="#ffffff"/>',
    ]
    return "\n".join([*head, *rows, "</svg>", ""])


if __name__ == "__main__":
    CHART.write_text(chart(), encoding="utf-8", newline="\n")
