"""Would the tests notice? Random mutants of one module against the module's own tests: ``make mutants``.

The places that cosmic-ray's operators can change are shuffled by a seed; one change is drawn at each of the
first 100. All tests are collected once. Every mutant is a fork of that process, in which the functions of the
module have the code of the mutant (also its defaults and constants); it runs the tests that reach the
changed statement, the quickest first. What none of them notices is listed. How to read that: docs/mutants.md.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import functools
import gc
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import types
from collections import defaultdict
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import coverage
import numpy as np
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.provider import OperatorProvider

ROOT = Path(__file__).resolve().parents[1]
#: One operator is exchanged for another of its kind: bits of floats and identity of numbers prove nothing.
KINDS = ({"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"}, {"BitOr", "BitAnd", "BitXor"},
         {"LShift", "RShift"}, {"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"}, {"Is", "IsNot"})  # fmt: skip

#: Parts of a concept, and the tests of the concept.
TESTED_WITH = {
    "case_bootstrap": ("intervals",),
    "crossings": ("leaders",),
    "normal_scores": ("binormal",),
    "resampling": ("resampling_tests",),
    "rises": ("roc", "estimators", "moments"),
    "true_curves": ("binormal", "curve_studies"),
}


class Mutant(NamedTuple):
    """A changed module, and the line where it was changed."""

    line: int
    source: str


def draw(source: str, count: int, seed: int) -> list[Mutant]:
    """Random mutants of a module, one at each of ``count`` places (or more, if there are fewer places)."""
    tree, places = get_ast(source), defaultdict(list)
    for name in OperatorProvider():
        operator = OperatorProvider()[name]
        if operator.arguments() or not _of_a_kind(name):
            continue
        spots = ((node, x) for node in ast_nodes(tree) for x in operator().mutation_positions(node))
        for occurrence, (node, (start, _)) in enumerate(spots):
            if node.parent is None or node.parent.type != "parameters":
                places[start].append((name, occurrence))
    rng, silent = random.Random(seed), _silent(source)
    order = sorted(spot for spot in places if not any(first <= spot < last for first, last in silent))
    rng.shuffle(order)
    for choices in places.values():
        rng.shuffle(choices)
    mutants: list[Mutant] = []
    while len(mutants) < count and any(places[spot] for spot in order):
        for spot in order:
            mutant = _mutant(source, spot[0], places[spot]) if len(mutants) < count else None
            mutants += [mutant] if mutant else []
    return mutants


def _mutant(source: str, line: int, choices: list[tuple[str, int]]) -> Mutant | None:
    """The next change of a place that Python can read and that changes the program."""
    while choices:
        name, occurrence = choices.pop()
        mutated = mutate_code(source, OperatorProvider()[name](), occurrence)
        try:
            if mutated and ast.dump(ast.parse(mutated)) != ast.dump(ast.parse(source)):
                compile(mutated, "mutant", "exec")
                return Mutant(line, mutated)
        except SyntaxError:
            continue
    return None


def _of_a_kind(name: str) -> bool:
    """Whether an operator of cosmic-ray stays within one of the kinds (or exchanges no operators)."""
    if not name.startswith(("ReplaceBinaryOperator", "ReplaceComparisonOperator")):
        return True
    return any(set(name.split("_")[1:]) <= kind for kind in KINDS)


def _silent(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where tests have nothing to notice: annotations, decorators, strict zips."""
    nodes = list(ast.walk(ast.parse(source)))
    found = [getattr(node, field, None) for node in nodes for field in ("annotation", "returns")]
    found += [x for node in nodes for x in getattr(node, "decorator_list", ())]
    found += [node for node in nodes if isinstance(node, ast.keyword) and node.arg == "strict"]
    return [
        ((x.lineno, x.col_offset - 1), (x.end_lineno or 0, x.end_col_offset or 0))
        for x in found
        if x is not None
    ]


def _statement(source: str, line: int) -> set[int]:
    """Lines of the innermost statement around a line, without the statements that it holds."""
    around = [x for x in ast.walk(ast.parse(source)) if isinstance(x, ast.stmt)]
    around = [x for x in around if x.lineno <= line <= (x.end_lineno or 0)]
    if not around:
        return {line}
    inner = min(around, key=lambda x: (x.end_lineno or 0) - x.lineno)
    body = getattr(inner, "body", None)
    return set(range(inner.lineno, body[0].lineno if body else (inner.end_lineno or 0) + 1)) | {line}


def _at_import(code: CodeType) -> object:
    """What runs when a module is imported: its code and that of its classes, not that of its functions."""
    inner = [_at_import(x) if not x.co_flags & 1 else None for x in code.co_consts if isinstance(x, CodeType)]
    return (
        code.co_code,
        code.co_names,
        [repr(x) for x in code.co_consts if not isinstance(x, CodeType)],
        inner,
    )


def _functions(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """All code within a module, by name and line."""
    found = {(code.co_qualname, code.co_firstlineno): code}
    for inner in (x for x in code.co_consts if isinstance(x, CodeType)):
        found |= _functions(inner)
    return found


def replace_code(path: str, source: str) -> None:
    """Give an imported module the functions, defaults and constants of another source; empty all caches."""
    code = compile(source, path, "exec", dont_inherit=True)
    codes, live = _functions(code), _changeable(path)
    if _at_import(code) != _at_import(compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)):
        _import_again(path, code, live)
    for thing in live:
        if isinstance(thing, FunctionType):
            thing.__code__ = codes[_key(thing)]
        else:
            thing.cache_clear()


def _import_again(path: str, code: CodeType, live: list[Any]) -> None:
    """Take over what differs when a module is imported: defaults of functions and classes, constants."""
    (old,) = [x for x in sys.modules.values() if vars(x).get("__file__") == path]
    new = types.ModuleType(old.__name__)
    sys.modules[old.__name__], new.__file__ = new, path
    try:
        exec(code, vars(new))
    except Exception:  # noqa: BLE001  a module that cannot be imported is noticed by every test
        os._exit(1)
    sys.modules[old.__name__] = old
    fresh = {
        _key(x): x for x in gc.get_objects() if isinstance(x, FunctionType) and x.__code__.co_filename == path
    }
    pairs = [(x, fresh[_key(x)]) for x in live if isinstance(x, FunctionType) and _key(x) in fresh]
    classes = [(name, thing) for name, thing in vars(new).items() if isinstance(thing, type)]
    pairs += [(getattr(old, name).__init__, x.__init__) for name, x in classes if dataclasses.is_dataclass(x)]
    for one, other in pairs:
        one.__defaults__, one.__kwdefaults__ = other.__defaults__, other.__kwdefaults__
    for name, value in vars(new).items():
        if isinstance(value, int | float | str | tuple | dict | np.ndarray) and not name.startswith("__"):
            before = vars(old)[name]
            for module in [x for x in sys.modules.values() if vars(x).get(name) is before]:
                setattr(module, name, value)


def _key(function: FunctionType) -> tuple[str, int]:
    return function.__code__.co_qualname, function.__code__.co_firstlineno


@functools.cache
def _changeable(path: str) -> list[Any]:
    """The functions of an imported module, and all caches of the package."""
    gc.disable()
    functions = [
        x for x in gc.get_objects() if isinstance(x, FunctionType) and x.__code__.co_filename == path
    ]
    caches = [x for x in gc.get_objects() if isinstance(x, functools._lru_cache_wrapper)]
    gc.freeze()
    return functions + [x for x in caches if str(x.__module__).startswith("skewanova")]


class Run:
    """A pytest plugin: the tests against every mutant, in place of the tests."""

    def __init__(self, path: Path, options: argparse.Namespace) -> None:
        self.path, self.options, self.source = str(path), options, path.read_text(encoding="utf-8")
        self.measuring = False
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, list[int]] = {}
        self.killed = self.total = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Examples of hypothesis are the same in every run, and are not made smaller."""
        from hypothesis import Phase, settings  # pytest wants to import it first

        settings.register_profile(
            "mutants", settings.get_profile("ci"), max_examples=30, phases=[Phase.explicit, Phase.generate]
        )
        settings.load_profile("mutants")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Any:
        """End at the first failure, before it is described."""
        try:
            return (yield)
        except (Exception, pytest.fail.Exception):
            if not self.options.show and not self.measuring:
                os._exit(1)
            raise

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            if self.options.show or self.measuring:
                os.write(self.options.err, f"{report.nodeid}\n{report.longreprtext}\n".encode())
            os._exit(1)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        _changeable(self.path)
        self.measure()
        mutants = draw(self.source, self.options.count, self.options.seed)
        self.total = len(mutants)
        for number, mutant in enumerate(mutants):
            if not self.options.only or number in self.options.only:
                self.judge(number, mutant)
        return True

    def run(self, names: list[str]) -> None:
        """Run tests in this process, which ends with the first that fails."""
        for name, after in zip(names, [*names[1:], None], strict=True):
            item = self.items[name]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=self.items[after] if after else None)

    def measure(self) -> None:
        """Seconds of every test, and the lines that it reaches, from a process of its own."""
        with tempfile.NamedTemporaryFile() as notes:
            if self.forked(lambda: self.note(notes.name), 3600):
                pytest.exit("the tests fail without any mutant")
            self.seconds, self.lines = json.loads(Path(notes.name).read_bytes())

    def note(self, file: str) -> None:
        self.measuring = True
        replace_code(self.path, self.source)
        measured = coverage.Coverage(data_file=None, config_file=False, include=[self.path])
        measured.start()
        for name in self.items:
            measured.switch_context(name)
            start = time.process_time()
            self.run([name])
            self.seconds[name] = time.process_time() - start
        measured.stop()
        for line, names in measured.get_data().contexts_by_lineno(self.path).items():
            for name in names:
                self.lines.setdefault(name, []).append(line)
        Path(file).write_text(json.dumps([self.seconds, self.lines]), encoding="utf-8")

    def forked(self, job: Any, seconds: float) -> int:
        """How a copy of this process ends, after a job and at most so many seconds of work; 0 if well."""
        sys.stdout.flush()
        if not (child := os.fork()):
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1), os.dup2(silence, 2)
            signal.setitimer(signal.ITIMER_PROF, seconds)
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            try:
                job()
            except BaseException:  # noqa: BLE001  the copy must not go on as the original
                os.write(self.options.err, traceback.format_exc().encode())
                os._exit(3)
            os._exit(0)
        if (ended := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])) == 3:
            pytest.exit("a mutant could not be tried")
        return ended

    def judge(self, number: int, mutant: Mutant) -> None:
        """Run the tests that reach a mutant; say what was changed if it lives."""
        changed = compile(mutant.source, self.path, "exec", dont_inherit=True)
        at_import = _at_import(changed) != _at_import(
            compile(self.source, self.path, "exec", dont_inherit=True)
        )
        reached = _statement(self.source, mutant.line)
        names = sorted(self.seconds, key=self.seconds.__getitem__)
        names, left = (
            [x for x in names if at_import or reached & {*self.lines.get(x, ())}],
            self.options.seconds,
        )
        names = [x for x in names if (left := left - self.seconds[x]) > 0]
        seconds = 5 + 5 * sum(self.seconds[x] for x in names)
        job = functools.partial(self.mutated, mutant, names)
        ended = names and self.forked(job, seconds)
        self.killed += bool(ended)
        if ended and not self.options.show:
            return
        old, new = self.source.splitlines(), mutant.source.splitlines()
        lines = [(a.strip(), b.strip()) for a, b in zip(old, new, strict=False) if a != b][:1]
        before, after = lines[0] if lines else (old[mutant.line - 1].strip(), "(removed)")
        word = f"dies ({ended})" if ended else f"lives ({len(names)} tests)"
        print(
            f"{number:3d} {word} {Path(self.path).name}:{mutant.line}\n      {before}\n   -> {after}",
            flush=True,
        )

    def mutated(self, mutant: Mutant, names: list[str]) -> None:
        replace_code(self.path, mutant.source)
        self.run(names)


def main() -> int:
    """Draw, run, tell: 0 if at least 90 of 100 mutants are noticed."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("module", help="skewanova/roc.py or skewanova.curves.roc")
    parser.add_argument(
        "--tests", nargs="*", default=[], help="files of tests (default: those of the module)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", type=int, nargs="*", default=[], help="numbers of mutants, as listed")
    parser.add_argument(
        "--seconds", type=float, default=20, help="of tests for each mutant, the quickest first"
    )
    parser.add_argument("--show", action="store_true", help="list those that die as well")
    options = parser.parse_args()
    options.err = os.dup(2)
    module = options.module.removesuffix(".py").replace("/", ".")
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    options.tests = options.tests or [str(file) for file in tests_of(path)]
    run = Run(path, options)
    pytest.main([*options.tests, str(path), "-qqs", "-p", "no:cacheprovider"], plugins=[run])
    judged = len(options.only) or run.total
    print(f"{module}: {run.killed} of {judged} mutants noticed (seed {options.seed})")
    return 0 if judged and run.killed >= 0.9 * judged else 1


def tests_of(path: Path) -> list[Path]:
    """The test files of a module: its own, and for a part of a concept those of the concept."""
    name = path.stem.lstrip("_")
    files = [ROOT / "tests" / f"test_{x}.py" for x in (name, *TESTED_WITH.get(name, ()))]
    return [file for file in files if file.exists()]


if __name__ == "__main__":
    sys.exit(main())
