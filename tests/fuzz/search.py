"""Generators, the search for a case that breaks a rule, and the corpus of cases that once did."""

import ast
import hashlib
import pprint
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.strategies import SearchStrategy

from skewanova import SkewanovaWarning

CORPUS = Path(__file__).with_name("corpus")


@dataclass(frozen=True)
class Generator:
    """Cases of one kind, the rule for each, and how many the ordinary tests try (0: only `make fuzz`).

    What depends on the moment is not `repeatable`: a case that breaks the rule is told as it is.
    """

    name: str
    cases: SearchStrategy[Any]
    rule: Callable[[Any], None]
    examples: int
    repeatable: bool = True

    def check(self, case: Any) -> None:
        """Raise if the case breaks the rule; a warning that is not the package's own breaks every rule."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", SkewanovaWarning)
            self.rule(case)


@dataclass
class Trial:
    """How many cases were tried, and the last that broke the rule: the smallest, once the search is over."""

    tried: int = 0
    case: Any = None


def search(generator: Generator, *, examples: int, seed: int | None = None) -> Trial:
    """Try so many cases; the first that breaks the rule is made small, and its error raised.

    Without a seed the same cases are tried every time.
    """
    trial = Trial()

    def holds(case: Any) -> None:
        trial.tried += 1
        try:
            generator.check(case)
        except hypothesis.errors.UnsatisfiedAssumption:
            raise
        except BaseException:
            trial.case = case
            raise

    test = hypothesis.given(generator.cases)(holds)
    test = settings(
        max_examples=examples,
        derandomize=seed is None,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        phases=[Phase.generate, *([Phase.shrink] if generator.repeatable else [])],
        suppress_health_check=list(HealthCheck),
    )(test)
    if seed is not None:
        test = hypothesis.seed(seed)(test)
    try:
        test()
    except BaseException as error:
        error.__notes__ = [f"the smallest case:\n{ascii_literal(trial.case)}"]  # hypothesis repeats the same
        error.trial = trial
        raise
    return trial


def trial_of(error: BaseException) -> Trial | None:
    """What was tried until the error came up."""
    return getattr(error, "trial", None)


def kept(generator: Generator) -> Iterator[tuple[str, Any]]:
    """Names and cases of the corpus that are the generator's."""
    for path in sorted((CORPUS / generator.name).glob("*.txt")):
        yield path.stem, ast.literal_eval(path.read_text(encoding="ascii"))


def keep(generator: Generator, case: Any, folder: Path = CORPUS) -> Path:
    """Write the case where the ordinary tests will try it again."""
    path = place_of(generator, case, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ascii_literal(case), encoding="ascii")
    return path


def place_of(generator: Generator, case: Any, folder: Path) -> Path:
    """Where the case is kept, or would be."""
    digest = hashlib.sha256(ascii_literal(case).encode()).hexdigest()
    return folder / generator.name / f"{digest[:12]}.txt"


def ascii_literal(case: Any) -> str:
    """The case as Python text in ASCII, which can be kept under version control whatever it holds."""
    pretty = pprint.pformat(case, width=100, sort_dicts=False)
    return pretty.encode("ascii", "backslashreplace").decode() + "\n"
