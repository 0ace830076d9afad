"""The language of the package: plain names of values, docstrings that begin with a verb."""

import ast
import re
from pathlib import Path

from loops import each

import skewanova

ROOT = Path(skewanova.__file__).parent
#: Words that say nothing of what a value is.
BANNED = frozenset(re.findall(
    r"\w+",
    "told found given asked known one kept held shown at place moved own look say wanted reach doubt "
    "more whole alarms hits"
))  # fmt: skip
#: First words of a docstring that puts a question, or points to another docstring.
OPENINGS = ("What ", "Whether ", "How ", "Which ", "Where ", "Who ", "Those ", "As above", "The same ")
TREES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8")) for path in ROOT.rglob("*.py")}


def bound_names(node):
    """Names that a node of the syntax tree binds."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return {node.id}
    if isinstance(node, ast.arg):
        return {node.arg}
    return {node.name} if isinstance(node, ast.FunctionDef | ast.ClassDef) else set()


@each("file", TREES)
def test_names_say_something_and_docstrings_what_the_function_does(file):
    bound = {(name, node.lineno) for node in ast.walk(TREES[file]) for name in bound_names(node) & BANNED}
    assert bound == set()
    documented = (ast.FunctionDef, ast.ClassDef, ast.Module)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(TREES[file]) if isinstance(node, documented)]
    assert [text.partition("\n")[0] for text in texts if text.startswith(OPENINGS)] == []


def test_a_function_name_has_one_meaning():
    """Top-level functions of two files share a name only where a command calls its namesake."""
    files = {}
    for file, tree in TREES.items():
        for name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}:
            files.setdefault(name, set()).add(file)
    shared = {name: where for name, where in files.items() if len(where) > 1}
    commands = {"cli/commands.py", "cli/__main__.py"}
    assert {name: where for name, where in shared.items() if not where & commands} == {}
