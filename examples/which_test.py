"""The chart of docs/tests.md: nine questions, and what to type at the first yes.

    python examples/which_test.py

writes docs/images/which-test.svg.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

CHART = Path(__file__).resolve().parents[1] / "docs" / "images" / "which-test.svg"

#: Question, in lines; name of the answer; what to type; the tests; what they claim.
ROWS = (
    (
        ("scikit-learn estimators,", "and no splits made yet?"),
        "20 half splits, by one call",
        "sa.compare_estimators(models, X, y)",
        "corrected Hotelling T2; pairs: corrected t, Holm",
        "Claims: the methods, retrained on data like these",
    ),
    (
        ("Is there only one model?",),
        "An interval, no test",
        "skewanova intervals scores.csv",
        "interval by the jackknife or Wilson",
        "Claims: this fitted model, on further cases",
    ),
    (
        ("Are there three or more", "classes?"),
        "Each class against the rest",
        "skewanova compare scores.csv --classes a,b,c",
        "the test of rows 5 to 9 for each class; pairs: Holm over all classes",
        "Claims: as in rows 5 to 9",
    ),
    (
        ("Several data sets, each", "a problem of its own?"),
        "Data sets: column dataset names them",
        "skewanova compare scores.csv",
        "Friedman; pairs: signed ranks, Holm (t tests below 6 data sets)",
        "Claims: further data sets like these",
    ),
    (
        ("One test set, and each model", "trained once?"),
        "One test set: no column fold",
        "skewanova compare scores.csv",
        "jackknife F over cases; pairs: jackknife t, Holm",
        "Claims: these fitted models, on further cases",
    ),
    (
        ("One test set, and each learner", "trained several times (seeds)?"),
        "Runs: column fold names the run",
        "skewanova compare scores.csv --design runs",
        "Obuchowski-Rockette F and t, Holm",
        "Claims: the learners, over further runs and cases",
    ),
    (
        ("One problem; each fold has", "its own data (a month, a site)?"),
        "Independent folds",
        "skewanova compare scores.csv --design independent",
        "Greenhouse-Geisser F; pairs: max-T (t, Holm below 9 folds)",
        "Claims: the methods, retrained on new data",
    ),
    (
        ("Hold-outs of a fifth of one data", "set, and unstable learners?"),
        "No reliable test: split anew",
        'sa.compare_estimators(models, X, y), or design="split_half"',
        "half splits, or halvings beside the hold-outs",
        "Unstable: feature selection, nearest neighbours, few cases",
    ),
    (
        ("Other splits of one data set", "(cross-validation, hold-outs)?"),
        "Splits of one data set: column case shows them",
        "skewanova compare scores.csv",
        "corrected Hotelling T2 (with few folds GG); pairs: corrected t, Holm",
        "Claims: the methods, retrained on data like these",
    ),
)

#: Remarks that hold beside any row.
NOTES = (
    (
        "Only values by fold (accuracy, RMSE)?",
        "skewanova compare-values FILE --design datasets (4), runs (6), kfold (9)",
    ),
    ("One value per model, no folds?", "No test is possible. Save the scores of the cases."),
    ("Several cases of one patient or site?", "Add the column cluster. The row stays the same."),
    ("Is one model the standard?", "Add --control NAME. Every other model is compared with it."),
)
WARNING = 8
WIDTH, ROW, TOP, LEFT, MIDDLE = 1000, 104, 64, 16, 394


def line(x: int, y: int, text: str, **style: str) -> str:
    """Return a line of text."""
    marks = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in style.items())
    return f'<text x="{x}" y="{y}"{marks}>{escape(text)}</text>'


def box(x: int, y: int, width: int, colour: str) -> str:
    """Return a box with round corners."""
    frame = f'x="{x}" y="{y}" width="{width}" height="84" rx="8"'
    return f'<rect {frame} fill="{colour}" stroke="#4a5a6a"/>'


def row(number: int, y: int) -> list[str]:
    """Return a question, the arrows from it, and its answer."""
    question, name, command, test, claim = ROWS[number - 1]
    middle, last = y + 42, number == len(ROWS)
    parts = [
        box(LEFT, y, 332, "#eaf1f8"),
        line(LEFT + 14, y + 50, str(number), font_size="26", fill="#2b5f8f"),
    ]
    first = middle + 6 - 11 * (len(question) - 1)
    parts += [line(LEFT + 48, first + 22 * at, text, font_size="17") for at, text in enumerate(question)]
    arrow = 'stroke="#4a5a6a" stroke-width="2" marker-end="url(#tip)"'
    parts += [
        f'<path d="M{LEFT + 332} {middle}H{MIDDLE - 8}" {arrow}/>',
        line(LEFT + 338, middle - 7, "yes", font_size="15"),
        box(MIDDLE, y, WIDTH - MIDDLE - LEFT, "#fdeeda" if number == WARNING else "#eef7ee"),
        line(MIDDLE + 14, y + 22, name, font_size="17", font_weight="bold"),
        line(MIDDLE + 14, y + 42, command, font_size="15", font_family="DejaVu Sans Mono, monospace"),
        line(MIDDLE + 14, y + 60, test, font_size="15"),
        line(MIDDLE + 14, y + 77, claim, font_size="15", font_style="italic"),
    ]
    if not last:
        parts += [f'<path d="M{LEFT + 30} {y + 84}V{y + ROW - 6}" {arrow}/>']
        parts += [line(LEFT + 40, y + 99, "no", font_size="15")]
    return parts


def chart() -> str:
    """Return the chart as SVG."""
    bottom = TOP + ROW * len(ROWS)
    height = bottom + 34 + 26 * len(NOTES)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="DejaVu Sans, Arial, sans-serif" fill="#1a1a1a">',
        "<title>Which test? Nine questions from the top; the first yes names the test</title>",
        '<defs><marker id="tip" markerWidth="6" markerHeight="6" refX="4" refY="3" orient="auto">'
        '<path d="M0 0L6 3L0 6z" fill="#4a5a6a"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        line(LEFT, 38, "Start at 1 and stop at the first yes.", font_size="22", font_weight="bold"),
    ]
    for number in range(1, len(ROWS) + 1):
        parts += row(number, TOP + ROW * (number - 1))
    for at, (case, advice) in enumerate(NOTES):
        y = bottom + 30 + 26 * at
        parts += [
            line(LEFT, y, case, font_size="16", font_weight="bold"),
            line(LEFT + 376, y, advice, font_size="16"),
        ]
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    CHART.write_text(chart(), encoding="utf-8", newline="\n")
