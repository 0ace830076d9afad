"""Hostile values for every option of every command, as the command itself lists them."""

from functools import cache
from itertools import chain

import click
from hypothesis import strategies as st

from fuzz.command import checked_run, folder_of
from fuzz.generator import HOSTILE, Generator
from fuzz.tables import SHAPE, as_csv, rows_of
from skewanova.cli import commands as cli_commands

#: What somebody may write where a number, a list, a weighting or a name is wanted.
VALUES = (*HOSTILE["option_values"], "9" * 400, "x" * 5000)
#: Places that somebody may ask to write to.
PLACES = (*HOSTILE["places"], "x" * 300)
#: Options that begin work of hours, or start another program, are never set.
NEVER = {"full", "in_browser", "help", "version", "jobs", "open"}
#: Options that count the work: a million of them is what was asked for, and takes a day.
COUNTS = {"replicates"}
USUAL = ["folds.csv", "one.csv"]
TABLES = [*USUAL, "datasets.csv", "wide.csv", "absent.csv", "folds.parquet", "", ".", "/dev/null"]
#: Commands whose work takes seconds whatever they are given; few of their cases are tried.
SLOW = {"demo"}


def commands(group=cli_commands.main, path=()):
    """Every command with the words that call it."""
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


@cache
def files():
    shape = {**SHAPE, "folds": 3, "size": 20, "cases": -1}
    rows = rows_of(shape)
    wide = [{"y_true": k % 2, "fold": k // 10, "a": k * 7 % 13, "b": k * 5 % 11} for k in range(30)]
    return {
        "folds.csv": as_csv(rows), "one.csv": as_csv(rows_of(shape | {"folds": 1, "cases": 0})),
        "datasets.csv": as_csv(rows_of(shape | {"datasets": 2})), "wide.csv": as_csv(wide),
        "mine/notes.txt": b"mine",
    }  # fmt: skip


def _values(option):
    """The option's words on a command line."""
    word = option.opts[0]
    if option.is_flag:
        return st.just([word])
    texts = st.sampled_from(VALUES)
    if isinstance(option.type, click.Path) or option.name == "out":
        texts = st.sampled_from(PLACES)
    elif isinstance(option.type, click.Choice):
        texts = st.one_of(st.sampled_from([str(choice) for choice in option.type.choices]), texts)
    elif option.name in COUNTS:
        texts = texts.filter(lambda text: not text.isdigit() or int(text) <= 3)
    return texts.map(lambda text: [word, text])


def _arguments(path, command, *, out):
    options = [p for p in command.params if isinstance(p, click.Option) and p.name not in NEVER]
    options = [option for option in options if (option.name == "out") <= out]
    n_tables = sum(isinstance(p, click.Argument) for p in command.params)
    tables = st.lists(st.sampled_from([*TABLES, *USUAL * 2]), min_size=n_tables, max_size=n_tables)
    few = ["--replicates", "1"] if any(option.name == "replicates" for option in options) else []
    chosen = st.lists(st.one_of([*map(_values, options)] or [st.just([])]), max_size=3)
    return st.builds(lambda t, o: [*path, *t, *few, *chain(*o)], tables, chosen)


def arguments(names=None, *, out=False, slow=False):
    """Command lines; with `names` those of these commands alone."""
    return st.one_of(
        [_arguments(path, command, out=out) for path, command in commands()
         if (path[0] in names if names else (path[0] in SLOW) == slow)]
    )  # fmt: skip


def does_or_refuses(arguments):
    with folder_of(files()) as folder:
        (folder / "link").symlink_to("folds.csv")
        checked_run(arguments, folder, statuses=(0, 1, 2, 3))


GENERATORS = (
    Generator("options", arguments(), does_or_refuses, 40),
    Generator("places", arguments({"intervals", "plan", "threshold"}, out=True), does_or_refuses, 25),
    Generator("slow options", arguments(slow=True), does_or_refuses, 0),
    Generator("report places", arguments({"compare"}, out=True), does_or_refuses, 0),
)
