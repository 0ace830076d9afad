"""Would the tests notice? Random mutants of a module against its tests: ``make mutants``, docs/mutants.md."""

import argparse
import ast
import dataclasses
import functools
import gc
import inspect
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

import coverage
import numpy as np
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.provider import OperatorProvider

ROOT = Path(__file__).resolve().parents[1]
ENOUGH = 0.9
#: One operator is exchanged for another of its kind: bits of floats and identity of numbers prove nothing.
KINDS = (
    "Add Sub Mul Div FloorDiv Mod Pow", "BitOr BitAnd BitXor", "LShift RShift", "Eq NotEq Lt LtE Gt GtE",
    "Is IsNot"
)  # fmt: skip


def draw(source, count, seed):
    """Random mutants as (line, source), one at each of ``count`` places (or more, if there are fewer)."""
    tree, places = get_ast(source), defaultdict(list)
    for name in OperatorProvider():
        operator = OperatorProvider()[name]
        if operator.arguments() or not _of_a_kind(name):
            continue
        spots = ((node, x) for node in ast_nodes(tree) for x in operator().mutation_positions(node))
        for occurrence, (node, (start, _)) in enumerate(spots):
            if node.parent is None or node.parent.type != "parameters":  # * and / there are no operators
                places[start].append((name, occurrence))
    rng, silent, mutants = random.Random(seed), _silent(source), []
    order = sorted(spot for spot in places if not any(first <= spot < last for first, last in silent))
    rng.shuffle(order)
    for changes in places.values():
        rng.shuffle(changes)
    while len(mutants) < count and any(places[spot] for spot in order):
        for spot in order:
            mutant = _changed(source, places[spot]) if len(mutants) < count else None
            mutants += [(spot[0], mutant)] if mutant else []
    return mutants


def _of_a_kind(name):
    """Whether an operator of cosmic-ray stays within one of the kinds (or exchanges no operators)."""
    exchanges = name.startswith(("ReplaceBinaryOperator", "ReplaceComparisonOperator"))
    return not exchanges or any(set(name.split("_")[1:]) <= set(kind.split()) for kind in KINDS)


def _silent(source):
    """Where tests have nothing to notice: annotations, decorators, strict zips."""
    nodes = list(ast.walk(ast.parse(source)))
    found = [getattr(node, field, None) for node in nodes for field in ("annotation", "returns")]
    found += [x for node in nodes for x in getattr(node, "decorator_list", ())]
    found += [node for node in nodes if isinstance(node, ast.keyword) and node.arg == "strict"]
    return [((x.lineno, x.col_offset - 1), (x.end_lineno, x.end_col_offset)) for x in found if x is not None]


def _changed(source, changes):
    """The module after the next of the changes that Python can read and that changes the program."""
    while changes:
        name, occurrence = changes.pop()
        try:
            mutated = mutate_code(source, OperatorProvider()[name](), occurrence)
            if mutated and ast.dump(ast.parse(mutated)) != ast.dump(ast.parse(source)):
                compile(mutated, "mutant", "exec")
                return mutated
        except (SyntaxError, AttributeError):  # cosmic-ray knows no exceptions with a dot in their name
            continue
    return None


def statement(source, line):
    """Lines of the statement around a line, without those that it holds; None outside functions."""
    nodes = [
        x for x in ast.walk(ast.parse(source)) if isinstance(x, ast.stmt) and x.lineno <= line <= x.end_lineno
    ]
    if not any(isinstance(x, ast.FunctionDef) and line >= x.body[0].lineno for x in nodes):
        return None
    inner = min(nodes, key=lambda x: x.end_lineno - x.lineno)
    last = inner.body[0].lineno if hasattr(inner, "body") else inner.end_lineno + 1
    return {line, *range(inner.lineno, last)}


class Module:
    """An imported module, whose functions, defaults and constants can be those of another source."""

    def __init__(self, path):
        self.path, self.source = str(path), path.read_text(encoding="utf-8")
        (self.module,) = [x for x in sys.modules.values() if vars(x).get("__file__") == self.path]
        gc.disable()
        caches = [x for x in gc.get_objects() if isinstance(x, functools._lru_cache_wrapper)]
        self.caches = [x for x in caches if str(x.__module__).startswith("skewanova")]
        self.functions = self.all_functions()
        gc.freeze()  # so that all_functions() then sees new ones only

    def all_functions(self):
        functions = [x for x in gc.get_objects() if isinstance(x, types.FunctionType)]
        return {_key(x): x for x in functions if x.__code__.co_filename == self.path}

    def become(self, source):
        """Take everything over from another source, in this process, and empty all caches."""
        code, new = compile(source, self.path, "exec"), types.ModuleType(self.module.__name__)
        sys.modules[new.__name__], new.__file__ = new, self.path
        exec(code, vars(new))
        sys.modules[new.__name__] = self.module
        pairs = [(self.functions[key], x) for key, x in self.all_functions().items() if key in self.functions]
        classes = [
            (name, x) for name, x in vars(new).items() if isinstance(x, type) and dataclasses.is_dataclass(x)
        ]
        pairs += [(getattr(self.module, name).__init__, x.__init__) for name, x in classes]
        for old, fresh in pairs:
            old.__defaults__, old.__kwdefaults__ = fresh.__defaults__, fresh.__kwdefaults__
        for name, x in classes:
            for method in vars(x).keys() & {"__repr__", "__eq__"}:
                old, fresh = (inspect.unwrap(vars(y)[method]) for y in (getattr(self.module, name), x))
                old.__code__ = fresh.__code__
        codes = _codes(code)
        for key, function in self.functions.items():
            function.__code__ = codes[key]
        for name, value in vars(new).items():
            if isinstance(value, int | float | str | tuple | dict | np.ndarray) and not name.startswith("__"):
                before = vars(self.module)[name]
                for holder in [x for x in sys.modules.values() if vars(x).get(name) is before]:
                    setattr(holder, name, value)
        self.forget()

    def forget(self):
        """Empty all caches."""
        for cache in self.caches:
            cache.cache_clear()


def _key(function):
    return function.__code__.co_qualname, function.__code__.co_firstlineno


def _codes(code):
    """All code within a module, by name and line."""
    inner = [_codes(x) for x in code.co_consts if isinstance(x, types.CodeType)]
    return functools.reduce(dict.__or__, inner, {(code.co_qualname, code.co_firstlineno): code})


class Run:
    """A pytest plugin: the tests against every mutant, in place of the tests."""

    def __init__(self, path, options):
        self.path, self.options, self.killed, self.judged, self.measuring = path, options, 0, 0, False
        self.errors = os.dup(2)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self):
        """Examples of hypothesis are the same in every run, fewer, and are not made smaller."""
        from hypothesis import Phase, settings  # pytest wants to import it first

        few = {"max_examples": 30, "phases": [Phase.explicit, Phase.generate]}
        settings.register_profile("mutants", settings.get_profile("ci"), **few)
        settings.load_profile("mutants")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self):
        """End at the first failure, before it is described."""
        try:
            return (yield)
        except (Exception, pytest.fail.Exception):
            if not self.measuring:
                os._exit(1)
            raise

    def pytest_runtest_logreport(self, report):
        if report.failed:
            os.write(
                self.errors, f"{report.nodeid}\n{report.longreprtext}\n".encode() if self.measuring else b""
            )
            os._exit(1)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        self.items = {item.nodeid: item for item in session.items}
        self.module = Module(self.path)
        with tempfile.NamedTemporaryFile() as notes:
            if self.forked(lambda: self.measure(notes.name), 3600):
                pytest.exit("the tests fail without any mutant")
            self.seconds, self.lines = json.loads(Path(notes.name).read_bytes())
        mutants = draw(self.module.source, self.options.count, self.options.seed)
        for number, (line, source) in enumerate(mutants):
            if not self.options.only or number in self.options.only:
                self.judge(number, line, source)
        return True

    def run(self, names):
        """Run tests in this process, which ends with the first that fails."""
        for name, after in zip(names, [*names[1:], None], strict=True):
            item = self.items[name]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=self.items.get(after))

    def measure(self, file):
        """Note the seconds of every test, and the lines that it reaches."""
        self.measuring, seconds, lines = True, {}, defaultdict(list)
        self.module.become(self.module.source)
        measured = coverage.Coverage(data_file=None, config_file=False, include=[self.module.path])
        measured.start()
        for name in self.items:
            self.module.forget()  # so that a test reaches what an earlier one has left in a cache
            measured.switch_context(name)
            start = time.process_time()
            self.run([name])
            seconds[name] = time.process_time() - start
        measured.stop()
        for line, names in measured.get_data().contexts_by_lineno(self.module.path).items():
            for name in names:
                lines[name].append(line)
        Path(file).write_text(json.dumps([seconds, lines]), encoding="utf-8")

    def forked(self, job, seconds):
        """How a copy of this process ends, after a job and at most so many seconds of work; 0 if well."""
        sys.stdout.flush()
        if not (child := os.fork()):
            try:
                silence = os.open(os.devnull, os.O_WRONLY)
                os.dup2(silence, 1), os.dup2(silence, 2)
                signal.setitimer(signal.ITIMER_PROF, seconds)
                job()
            except BaseException:  # noqa: BLE001  the copy must not go on as the original
                os.write(self.errors, traceback.format_exc().encode())
                os._exit(3)
            os._exit(0)
        if (ended := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])) == 3:
            pytest.exit("a mutant could not be tried")
        return ended

    def judge(self, number, line, source):
        """Run the tests that reach a mutant; say what was changed if it lives."""
        reached, left, names = statement(self.module.source, line), self.options.seconds, []
        for name in sorted(self.seconds, key=self.seconds.get):
            if reached is None or reached & set(self.lines.get(name, ())):
                left -= self.seconds[name]
                names += [name] if left > 0 else []

        def tried():
            try:
                self.module.become(source)
            except Exception:  # noqa: BLE001  a module that cannot be imported is noticed by every test
                os._exit(1)
            self.run(names)

        ended = bool(names) and self.forked(tried, 5 + 5 * sum(map(self.seconds.get, names)))
        self.killed, self.judged = self.killed + bool(ended), self.judged + 1
        if not ended:
            pairs = zip(self.module.source.splitlines(), source.splitlines(), strict=False)
            before, after = next((a.strip(), b.strip()) for a, b in pairs if a != b)
            place = f"{number:3d} lives ({len(names)} tests) {self.path.name}:{line}"
            print(f"{place}\n      {before}\n   -> {after}", flush=True)


def main():
    """Draw, run, tell: 0 if at least 90 of 100 mutants are noticed."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("module", help="skewanova/curves/roc.py or skewanova.curves.roc")
    parser.add_argument("--tests", nargs="*", help="files of tests (default: those of the module)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutants, as listed")
    parser.add_argument(
        "--seconds", type=float, default=20, help="of tests for each mutant, the quickest first"
    )
    options = parser.parse_args()
    module = options.module.removesuffix(".py").replace("/", ".")
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    own = sorted((ROOT / "tests" / path.parent.name).glob(f"test_{path.stem}*.py"))
    run = Run(path, options)
    pytest.main(
        [*(options.tests or map(str, own)), str(path), "-qqs", "-p", "no:cacheprovider"], plugins=[run]
    )
    print(f"{module}: {run.killed} of {run.judged} mutants noticed (seed {options.seed})")
    return 0 if run.judged and run.killed >= ENOUGH * run.judged else 1


if __name__ == "__main__":
    sys.exit(main())
