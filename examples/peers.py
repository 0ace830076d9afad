"""What other tools do, and how often their default tests find equal models different.

Every cell is found by running the tool; a tool that is not installed is skipped, and named. All of these may
be missing::

    pip install scikit-learn autorank scikit-posthocs pingouin baycomp
    R with the package emmeans (on Debian: apt install r-cran-emmeans)

precrec and PRROC are not run: their cells are read in their manuals. The recorded table was made by::

    python examples/peers.py --replicates 400 --out studies/records/peers.csv

Run it with ``python examples/peers.py [--replicates 20] [--tools NAME ...] [--out FILE] [--markdown]``.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
import peers_areas  # noqa: F401  registers its checks
import peers_comparisons  # noqa: F401  registers its checks
from peers_checks import AREAS, CHECKS, COMPARISONS, verdict
from peers_rates import (
    BY_DESIGN,
    DESIGNS,
    LEVEL,
    SPEED,
    Floats,
    draw,
    rejection_rate,
    seconds,
    timed_task,
    two_way_p,
)
from tqdm import tqdm

PYTHON_TOOLS = ("skewanova", "scikit-learn", "autorank", "scikit-posthocs", "pingouin", "baycomp")
TOOLS = (*PYTHON_TOOLS, "emmeans")
R_SCRIPT = Path(__file__).with_name("peers.R")
R_TESTS = {"joint_tests": "`joint_tests`, all models", "pairs": "`pairs`, Tukey"}
#: Read in the manuals of precrec 0.24.0 (help pages, articles, tests) and PRROC 1.4 (help pages, tests).
READ: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("precrec", "0.24.0"): {
        "constant": "the prior",
        "prior": "no",
        "range": "no",
        "weights": "no weights",
        "interval": "bootstrap, `auc_boot`",
        "one_set": "bootstrap, `auc_diff`",
        "regions": "no",
        "soft": "no",
        "classes": "one against the rest",
    },
    ("PRROC", "1.4"): {
        "constant": "the prior",
        "prior": "by hand, weights",
        "range": "no",
        "weights": "yes",
        "interval": "no",
        "one_set": "no",
        "regions": "no",
        "soft": "yes",
        "classes": "no",
    },
}
TITLES = {
    "areas": "From scores to areas",
    "comparisons": "From values over folds to conclusions",
    **{name: f"Equal models found different at {LEVEL}: {design}" for name, design in DESIGNS.items()},
    "seconds": "Seconds for all pairs of 10 models in 20 folds",
}


class Cell(NamedTuple):
    """One answer, and how it was found."""

    table: str
    question: str
    tool: str
    version: str
    answer: str
    checked: str = "run"


def versions(tools: Iterable[str]) -> dict[str, str]:
    """Version of every Python tool that is installed."""
    found = {}
    for tool in tools:
        try:
            found[tool] = version(tool)
        except PackageNotFoundError:
            continue
    return found


# --- tools in Python ----------------------------------------------------------------------------------------


def python_cells(installed: Mapping[str, str]) -> list[Cell]:
    """Run the checks of the tools that are installed."""
    cells = []
    for table, questions in (("areas", AREAS), ("comparisons", COMPARISONS)):
        for question in questions:
            for tool in installed:
                if (question, tool) in CHECKS:
                    answer = CHECKS[question, tool]()
                    cells.append(Cell(table, question, tool, installed[tool], answer))
    return cells


def python_rates(installed: Mapping[str, str], tables: Mapping[str, Floats]) -> list[Cell]:
    """Rejection rates of the tools that are installed."""
    runs = [
        (design, tool, name, test)
        for design in tables
        for (tool, name), test in BY_DESIGN[design].items()
        if tool in installed
    ]
    return [
        Cell(design, name, tool, installed[tool], f"{rejection_rate(test, tables[design]):.3f}")
        for design, tool, name, test in tqdm(runs, disable=None, leave=False)
    ]


def python_seconds(installed: Mapping[str, str], values: Floats) -> list[Cell]:
    """How long the tools take for one task."""
    return [
        Cell("seconds", name, tool, installed[tool], f"{seconds(test, values):.2g}")
        for (tool, name), test in SPEED.items()
        if tool in installed
    ]


# --- emmeans ------------------------------------------------------------------------------------------------


def emmeans_cells(tables: Mapping[str, Floats], values: Floats) -> list[Cell]:
    """Run emmeans on the same tables; nothing if R or the package is not there."""
    if shutil.which("Rscript") is None:
        return []
    named = {**tables, "time": values[None]}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "values.csv"
        pd.concat([_long(name, table) for name, table in named.items()]).to_csv(file, index=False)
        command = ["Rscript", "--vanilla", str(R_SCRIPT), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return []
    cells, p_values = _read_r([line.split("\t") for line in done.stdout.splitlines()])
    return [*cells, _same_p(p_values, tables)]


def _same_p(p_values: pd.DataFrame, tables: Mapping[str, Floats]) -> Cell:
    """Whether p-values of emmeans are those of skewanova's two-way ANOVA and Tukey's test."""
    ours = [
        (scenario, replicate, *two_way_p(values))
        for scenario, simulated in tables.items()
        for replicate, values in enumerate(simulated[:10])
    ]
    both = pd.DataFrame(ours, columns=["scenario", "replicate", *R_TESTS]).melt(["scenario", "replicate"])
    both = both.rename(columns={"variable": "test"}).merge(p_values)
    agree = len(both) == 2 * len(ours) and np.allclose(both["value"], both["p"], rtol=1e-6, atol=1e-9)
    number = str(p_values["version"].iloc[0])
    return Cell("comparisons", "same", "emmeans", number, verdict(agree, "F, Tukey"))


def _long(scenario: str, tables: Floats) -> pd.DataFrame:
    shape = tables.shape
    replicate, fold, model = (index.ravel() for index in np.indices(shape))
    columns = {"replicate": replicate, "fold": fold, "model": model, "value": tables.ravel()}
    return pd.DataFrame({"scenario": scenario, **columns})


def _read_r(lines: Sequence[Sequence[str]]) -> tuple[list[Cell], pd.DataFrame]:
    number = next(line[1] for line in lines if line[0] == "version")
    cells = [Cell("comparisons", line[1], "emmeans", number, line[2]) for line in lines if line[0] == "cell"]
    p_values = pd.DataFrame(
        [(number, *line[1:3], int(line[3]), float(line[4])) for line in lines if line[0] == "p"],
        columns=["version", "scenario", "test", "replicate", "p"],
    )
    for (scenario, test), found in p_values.groupby(["scenario", "test"], sort=False)["p"]:
        cells.append(Cell(scenario, R_TESTS[test], "emmeans", number, f"{(found < LEVEL).mean():.3f}"))
    took = [float(line[1]) for line in lines if line[0] == "seconds"]
    cells.append(Cell("seconds", R_TESTS["pairs"], "emmeans", number, f"{took[0]:.2g}"))
    return cells, p_values


# --- all of it ----------------------------------------------------------------------------------------------


def read_cells() -> list[Cell]:
    """Return what was read, not run."""
    return [
        Cell("areas", question, tool, number, answer, "read")
        for (tool, number), answers in READ.items()
        for question, answer in answers.items()
    ]


def all_cells(tools: Sequence[str], replicates: int, seed: int) -> list[Cell]:
    """Run everything that is installed, in the order of the tables."""
    installed = versions(tool for tool in PYTHON_TOOLS if tool in tools)
    tables = {scenario: draw(scenario, replicates, seed) for scenario in DESIGNS}
    values = timed_task(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tools' own, about small samples and each other's versions
        cells = [
            *python_cells(installed),
            *read_cells(),
            *python_rates(installed, tables),
            *python_seconds(installed, values),
            *(emmeans_cells(tables, values) if "emmeans" in tools else []),
        ]
    order = {name: i for i, name in enumerate([*TITLES, *AREAS, *COMPARISONS])}
    return sorted(cells, key=lambda cell: (order[cell.table], order.get(cell.question, 0)))


def text(cells: Iterable[Cell]) -> str:
    """One line an answer, under its question."""
    lines, heading = [], ("", "")
    for cell in cells:
        question = {**AREAS, **COMPARISONS}.get(cell.question, "")
        if cell.table != heading[0]:
            lines += ["", TITLES[cell.table]]
        if question and (cell.table, question) != heading:
            lines.append(f"  {question}")
        heading = (cell.table, question)
        answer = cell.answer + (" (read)" if cell.checked == "read" else "")
        what = answer if question else f"{answer:6} {cell.question}"
        lines.append(f"    {cell.tool:16} {what}".replace("`", ""))
    return "\n".join(lines)


def markdown(cells: Sequence[Cell], table: str) -> str:
    """One table as Markdown: a column for each tool, or for rates and times a row for each test."""
    cells = [cell for cell in cells if cell.table == table]
    if table not in {"areas", "comparisons"}:
        rows = [[cell.tool, cell.question, cell.answer.removeprefix("0")] for cell in cells]
        return _grid(["tool", "test", "seconds" if table == "seconds" else "rate"], rows)
    tools = list(dict.fromkeys(cell.tool for cell in cells))
    answers = {(cell.question, cell.tool): cell for cell in cells}
    questions = AREAS if table == "areas" else COMPARISONS
    rows = [
        [label, *(_shown(answers.get((question, tool))) for tool in tools)]
        for question, label in questions.items()
    ]
    numbers = {cell.tool: cell.version for cell in cells}
    return _grid(["what", *(f"{tool} {numbers[tool]}" for tool in tools)], rows)


def _shown(cell: Cell | None) -> str:
    return "-" if cell is None else cell.answer + (" †" if cell.checked == "read" else "")


def _grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Command line options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=int, default=20, help="simulated studies (20)")
    parser.add_argument("--seed", type=int, default=0, help="seed (0)")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS), help="only these (all)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the answers as CSV")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Run, print, and write if asked to."""
    options = parse(argv)
    mpl.use("Agg")  # autorank draws
    cells = all_cells(options.tools, options.replicates, options.seed)
    if options.markdown:
        print("\n\n".join(f"{TITLES[name]}\n\n{markdown(cells, name)}" for name in TITLES))
    else:
        print(text(cells).lstrip("\n"))
    for tool in options.tools:
        if tool not in {cell.tool for cell in cells}:
            print(f"\nskipped: {tool} is not installed")
    if options.out:
        pd.DataFrame(cells).assign(replicates=options.replicates).to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
