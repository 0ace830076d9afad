"""Names of models, folds and data sets that try to be more than names, through every output."""

import csv
import io
import os
import re
import threading
from contextlib import redirect_stderr, redirect_stdout, suppress
from html.parser import HTMLParser
from xml.etree import ElementTree

import pandas as pd
from hypothesis import strategies as st

import skewanova as sa
from fuzz.command import STEERS, checked_run, folder_of
from fuzz.generator import HOSTILE, Generator, answered
from fuzz.tables import SHAPE, as_json_lines, rows_of
from skewanova.cli import commands

NAMES = (*HOSTILE["names"], "x" * 300, "x" * 299 + "y")
_hostile = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=12),
)
cases = st.fixed_dictionaries({
    "models": st.lists(_hostile, min_size=2, max_size=3, unique=True),
    "folds": st.lists(_hostile, min_size=2, max_size=2, unique=True),
    "datasets": st.one_of(st.just(()), st.lists(_hostile, min_size=2, max_size=2, unique=True)),
})  # fmt: skip


def named_rows(case):
    """A small table with the names in place of the plain ones."""
    counts = {name: max(len(case[name]), 1) for name in ("models", "folds", "datasets")}
    rows = rows_of({**SHAPE, "cases": -1, **counts})
    for row in rows:
        row["model"] = case["models"][int(row["model"][1:])]
        row["fold"] = case["folds"][row["fold"] - 1]
        if case["datasets"]:
            row["dataset"] = case["datasets"][int(row["dataset"][1:])]
    return rows


class Elements(HTMLParser):
    """Kinds of elements and attributes of a page."""

    def __init__(self, page):
        super().__init__()
        self.kinds = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.kinds |= {tag, *(f"{tag} {name}" for name, _ in attrs)}


def names_in_csv(text):
    """The table as pandas reads it; the standard library must find the same."""
    records = [*csv.reader(io.StringIO(text, newline=""))]
    frame = pd.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False)
    widths = {len(record) for record in records}
    assert len(widths) == 1, f"records of widths {sorted(widths)}"
    assert (records[0], records[1:]) == (list(frame), frame.to_numpy().tolist())
    return frame


def assert_latex_is_plain(text):
    """No name brings a command of its own, opens a group that it does not close, or begins a comment."""
    foreign = set(re.findall(r"\\(?:end\{document|input|write|csname)", text)) - {r"\input"}
    assert not foreign, foreign
    bare = re.sub(r"\\[{}\\%]", "", re.sub(r"(?m)(?<!\\)%.*$", "", text))
    assert bare.count("{") == bare.count("}"), text
    assert STEERS.search(text) is None


def on_terminal(arguments):
    """What the command writes to a terminal, colours and all (nothing where there are no such terminals)."""
    if not hasattr(os, "openpty"):
        return ""
    ours, theirs = os.openpty()
    written = []

    def listen():
        with suppress(OSError):  # the other side was closed
            while part := os.read(ours, 65536):
                written.append(part)

    listener = threading.Thread(target=listen)
    listener.start()
    stream = os.fdopen(theirs, "w", encoding="utf-8")
    with suppress(SystemExit), stream, redirect_stdout(stream), redirect_stderr(stream):
        commands.main(list(arguments), prog_name="skewanova")
    listener.join(10)
    os.close(ours)
    return b"".join(written).decode("utf-8").replace("\r\n", "\n")


#: What the command itself sends to a terminal: colours, weight, and a bar that it takes away.
OWN = re.compile("\x1b\\[[0-9;]*[mKA]|\r")


def assert_steers_nothing(text):
    steering = STEERS.search(OWN.sub("", text))
    assert steering is None, f"sent to the terminal: {steering!r} in {text!r}"


def names_stay_names(case):
    """In pipes, on a terminal, in JSON and in CSV files every name is a name, and the same one."""
    one = {**case, "datasets": ()}
    files = {"one.jsonl": as_json_lines(named_rows(one)), "all.jsonl": as_json_lines(named_rows(case))}
    with folder_of(files) as folder:
        for name in files:
            result = checked_run(["check", name], folder)
            assert_steers_nothing(on_terminal(["check", name]))
        known = known_names("one.jsonl")
        if result.exit_code or known is None:
            return
        checked_run(["intervals", "one.jsonl", "--out", "out"], folder)
        for path in sorted((folder / "out").rglob("*.csv")):
            frame = names_in_csv(path.read_bytes().decode("utf-8"))
            assert set(frame["model"]) <= known, (set(frame["model"]), known)
        for command in ("intervals", "plan"):
            assert_steers_nothing(on_terminal([command, "one.jsonl"]))
            checked_run([command, "one.jsonl", "--json"], folder)


def known_names(path):
    table = answered(sa.read_scores, path)
    return None if table is None else set(table.models)


def tables_escape(case):
    """Every table of a comparison as text, Markdown, HTML and LaTeX: no name adds an element or a command."""
    plain = {**case, "models": [f"m{k}" for k in range(len(case["models"]))]}
    with folder_of({"a.jsonl": as_json_lines(named_rows(plain)), "b.jsonl": as_json_lines(named_rows(case))}):
        if known_names("b.jsonl") is None:
            return
        results = [sa.compare(sa.read_scores(name), at_priors=(0.5,)) for name in ("a.jsonl", "b.jsonl")]
    assert_steers_nothing(results[1].summary(full=True))
    for table in ("performance", "ranking", "pairwise"):
        ordinary, kinds = (Elements(result.to_html(table)).kinds for result in results)
        assert kinds == ordinary, kinds
        assert_latex_is_plain(results[1].to_latex(table))
        texts = [result.to_markdown(table) for result in results]
        assert_steers_nothing(texts[1])
        assert texts[0].count("\n") == texts[1].count("\n")


def folders_escape(case):
    """The whole output folder: page, figures, tables, CSV; no file elsewhere, none named by the table."""
    with folder_of({"scores.jsonl": as_json_lines(named_rows(case))}) as folder:
        known = known_names("scores.jsonl") if not case["datasets"] else set(case["datasets"])
        result = checked_run(["compare", "scores.jsonl", "--at-priors", "0.5", "--out", "out"], folder)
        if result.exit_code or known is None:
            return
        assert {path.name for path in folder.iterdir()} == {"out", "scores.jsonl"}
        for path in sorted((folder / "out").rglob("*")):
            if path.is_file():
                assert_file_is_safe(path)
        for page in (folder / "out").rglob("report.html"):
            kinds = Elements(page.read_text(encoding="utf-8")).kinds
            assert not {kind for kind in kinds if kind.split()[-1].startswith("on")}, kinds
            assert not kinds & {"iframe", "object", "embed", "base", "form"}


def assert_file_is_safe(path):
    """One file of an output folder, read as what it is."""
    assert re.fullmatch(r"[A-Za-z0-9._-]+", path.name), path.name
    if path.suffix == ".csv":
        names_in_csv(path.read_bytes().decode("utf-8"))
    elif path.suffix == ".svg":
        kinds = {element.tag.split("}")[-1] for element in ElementTree.parse(path).iter()}
        assert not kinds & {"script", "foreignObject", "img", "a"}, kinds
    elif path.suffix == ".tex":
        assert_latex_is_plain(path.read_text(encoding="utf-8"))
    elif path.suffix in {".txt", ".md"}:
        assert_steers_nothing(path.read_bytes().decode("utf-8").replace("\r\n", "\n"))


GENERATORS = (
    Generator("names", cases, names_stay_names, 8),
    Generator("names in tables", cases, tables_escape, 2),
    Generator("names in folders", cases, folders_escape, 0),
)
