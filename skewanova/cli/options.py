"""Options that commands share, the priors that they parse, reading of the tables, and errors in one line."""

from __future__ import annotations

import csv
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import wraps
from inspect import signature
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import skewanova
from skewanova.base import checks
from skewanova.base.checks import (
    DiskFullError,
    InputError,
    InputTypeError,
    MultipleDatasetsError,
    SkewanovaWarning,
)
from skewanova.base.folders import OutputError, check_folder, check_formats, is_closed_pipe
from skewanova.base.text import escape_text
from skewanova.cli.output import DEFERRED, print_lines, print_warnings, to_shell
from skewanova.curves.estimators import ESTIMATORS
from skewanova.inference.catalogue import ADJUSTMENTS, PAIRWISE_CHOICES
from skewanova.priors.weightings import BetaPrior, DeploymentPrior, UniformPrior, UniformSkew
from skewanova.scores.kinds import DESIGNS, VALUES_DESIGNS

if TYPE_CHECKING:
    from skewanova.scores.table import Scores
    from skewanova.scores.unlabelled import UnlabelledScores

# --- priors -------------------------------------------------------------------------------------------------


def parse_deployment_prior(text: str) -> DeploymentPrior:
    """Return the prior of "LOW:HIGH", "PRIOR", "beta:A:B" or a form as below; raise for other text.

    Examples
    --------
    >>> parse_deployment_prior("skew:4:19")
    UniformSkew(low_skew=4.0, high_skew=19.0)
    >>> parse_deployment_prior("quantiles:0.05=0.02:0.95=0.15").describe()
    'beta(2.89163, 36.8129) over priors, mean 0.0728'
    """
    kinds: dict[str, Callable[[float, float], DeploymentPrior]] = {"skew": UniformSkew, "beta": BetaPrior}
    kind, *rest = text.strip().split(":")
    form = (
        "a deployment prior must be LOW:HIGH, one prior, skew:LOW:HIGH, beta:A:B or "
        f"quantiles:SHARE=PRIOR:SHARE=PRIOR, but got {text!r}"
    )
    if "%" in text:
        fractions = re.sub(r"(\d*\.?\d+)\s*%", lambda match: f"{float(match[1]) / 100:g}", text)
        if "%" not in fractions and kind not in kinds:
            with suppress(InputError):
                parse_deployment_prior(fractions)
                form = f"{form}; did you mean {fractions}?"
        raise InputError(form)
    if kind == "quantiles":
        return BetaPrior.from_quantiles(_parse_quantiles(rest, form))
    numbers = _parse_floats(rest if kind in kinds else [kind, *rest], form)
    if len(numbers) > 2 or (kind in kinds and len(numbers) < 2):
        raise InputError(form)
    if kind not in kinds and len(numbers) == 2 and 1 <= min(numbers) <= max(numbers) < 1e300:
        a, b = sorted(numbers)
        percent = f", or {a / 100:g}:{b / 100:g}" * (b < 100)
        raise InputError(f"{form}; did you mean skew:{a:g}:{b:g}{percent}?")
    return kinds[kind](*numbers) if kind in kinds else UniformPrior(numbers[0], numbers[-1])


def parse_priors(text: str) -> tuple[float, ...]:
    """Return the priors in a text, separated by commas; raise `InputError` unless valid by `check_priors`."""
    numbers = _parse_floats(text.split(","), f"priors must be numbers as in 0.5,0.1 but got {text!r}")
    return tuple(checks.check_priors(numbers, "priors").tolist())


def parse_prior(text: str) -> float:
    """Return the one prior in a text; raise `InputError` unless it is one valid by `check_prior`."""
    message = f"`priors` must be one number, as 0.1, but got {text!r}; a range is for --deployment-prior"
    return checks.check_prior(_parse_floats([text], message)[0], "priors")


#: Measures of scores, with the numbers that each takes.
SCORE_MEASURES = (
    "roc_auc", "precision_at_recall:RECALL", "recall_at_precision:PRECISION", "recall_at_alert_rate:SHARE",
    "expected_cost:FP:FN", "net_benefit:PROBABILITY",
)  # fmt: skip


def parse_score_measure(text: str) -> tuple[str, list[float]]:
    """Return name and numbers of a measure such as "expected_cost:1:20"; raise if not of SCORE_MEASURES."""
    (name, *numbers), forms = text.split(":"), {form.split(":")[0]: form for form in SCORE_MEASURES}
    message = f"`score_measure` must be one of {', '.join(SCORE_MEASURES)}, but got {text!r}"
    if name not in forms or len(numbers) != forms[name].count(":"):
        raise InputError(message)
    return name, list(_parse_floats(numbers, message))


def parse_priors_or_range(text: str) -> tuple[float, ...] | DeploymentPrior:
    """Return the priors separated by commas or, if the text has a colon, the deployment prior."""
    return parse_deployment_prior(text) if ":" in text else parse_priors(text)


def _parse_quantiles(texts: Sequence[str], form: str) -> dict[float, float]:
    """Return {share: prior} of texts SHARE=PRIOR; raise with `form` on others, and raise on equal shares."""
    sides = [text.split("=") for text in texts]
    if any(len(side) != 2 for side in sides):
        raise InputError(form)
    shares, priors = (_parse_floats([side[i] for side in sides], form) for i in (0, 1))
    if len(set(shares)) < len(shares):
        raise InputError(f"the shares of `quantiles` must be different, but got {':'.join(texts)}")
    return dict(zip(shares, priors, strict=True))


def _parse_floats(texts: Sequence[str], message: str) -> list[float]:
    """Return the numbers in the texts, or raise `InputError` with the message."""
    try:
        return [float(text) for text in texts]
    except ValueError as error:
        raise InputError(message) from error


# --- tables and options ------------------------------------------------------------------------------------


T = TypeVar("T")


#: Words that options have for the columns of a score table, and the columns that are called otherwise.
COLUMN_WORDS = ("model", "fold", "label", "score", "case", "cluster", "weight", "part", "halving")
COLUMN_NAMES = {"label": "y_true", "score": "y_score"}


#: Options that name a column, which the help lists in one line.
COLUMN_OPTIONS = tuple(f"{word}_column" for word in COLUMN_WORDS)


# --- errors and signals -------------------------------------------------------------------------------------


class Failure(click.ClickException):
    """One line on what went wrong; white space becomes spaces, and invisible characters are escaped."""

    def __init__(self, message: str) -> None:
        super().__init__(escape_text(message))

    def show(self, file: Any = None) -> None:
        """Print "Error: MESSAGE" to `file`, by default standard error, if somebody still reads."""
        with suppress(OSError):
            click.echo(f"{click.style('Error:', fg='red', bold=True)} {self.message}", err=True, file=file)


class Refusal(Failure):
    """Failure where the input is at fault."""

    exit_code = 2


#: Options by heading of the help; all others stand between the two.
HEADINGS = {
    "Input": (*COLUMN_OPTIONS, "batch_column", "positive", "wide", "classes", "missing", "models", "fold"),
    "Output": ("out", "paper", "figures", "full", "as_json", "quiet", "help"),
}


class Command(click.Command):
    """Command whose help groups the options by input, analysis and output."""

    # rich-click and cloup would each add a dependency for these few lines

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings; one line stands for all that name a column."""
        groups: dict[str, list[tuple[str, str]]] = {"Input": [], "Analysis": [], "Output": []}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is None or isinstance(option, click.Argument) or option.name in COLUMN_OPTIONS[1:]:
                continue
            name = "help" if option is self.get_help_option(ctx) else option.name
            heading = next((title for title, names in HEADINGS.items() if name in names), "Analysis")
            groups[heading].append(record)
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


class Group(click.Group):
    """Commands that print what the operating system refuses as one line, wherever it happens."""

    command_class = Command

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command and exit; a system error is one line and status 1, a closed pipe only the status."""
        try:
            return super().main(*args, **extra)
        except (OSError, MemoryError) as error:
            if not (isinstance(error, OSError) and is_closed_pipe(error)):
                Failure(_failure_text(error)).show()
            with suppress(OSError, ValueError):  # the unprinted rest must not fail again when Python ends
                null_device = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null_device, sys.stdout.fileno())
                os.close(null_device)
            sys.exit(Failure.exit_code)


def _failure_text(error: OSError | MemoryError) -> str:
    """Return one line on an error of the system or of memory: its reason and file, or advice."""
    if isinstance(error, MemoryError):
        return "not enough memory; keep fewer rows, or compare them with Dask (pip install 'skewanova[dask]')"
    if isinstance(error, OutputError) or not error.strerror:
        return str(error)
    return f"{error.strerror}: {error.filename!r}" if error.filename is not None else error.strerror


@contextmanager
def _raised_signals() -> Iterator[None]:
    """Raise SystemExit on SIGTERM and SIGHUP in a block of the main thread, unless ignored or handled."""

    def exit_on_signal(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    main_thread = threading.current_thread() is threading.main_thread()  # Python allows handlers there only
    default = [n for n in numbers if main_thread and signal.getsignal(n) == signal.SIG_DFL]
    for number in default:
        signal.signal(number, exit_on_signal)
    try:
        yield
    finally:
        for number in default:
            signal.signal(number, signal.SIG_DFL)


def _refuse_nested_folders(out: Path | None, paper: Path | None) -> None:
    """Raise `InputError` if --out and --paper name one folder, or one in the other, which replaces it."""
    places = [path.resolve() for path in (out, paper) if path is not None]
    if len(places) == 2 and (places[0].is_relative_to(places[1]) or places[1].is_relative_to(places[0])):
        names = f"{str(out)!r} and {str(paper)!r}"
        raise InputError(f"--out and --paper must be two folders side by side, but are {names}")


def handle_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command: folders checked first, warnings last; bad input 1 line, status 2 (full disk: 1)."""

    @wraps(command)
    def run_or_refuse(*args: Any, **options: Any) -> None:
        for stream in (sys.stdout, sys.stderr):  # a name that it cannot encode must not stop the command
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        deferred = click.get_current_context().meta[DEFERRED] = []
        try:
            with _raised_signals(), warnings.catch_warnings(action="ignore", category=SkewanovaWarning):
                for folder in ("out", "paper"):  # refused before the work begins
                    if options.get(folder) is not None:
                        inputs = [options.get(name) for name in ("scores", "directory")]
                        check_folder(options[folder], inputs=inputs)
                folder = "out"
                _refuse_nested_folders(options.get("out"), options.get("paper"))
                command(*args, **options)
        except (InputError, InputTypeError) as error:
            deferred.clear()
            kind = Failure if isinstance(error, DiskFullError) else Refusal
            raise kind(to_shell(str(error).replace("`directory`", f"--{folder}"))) from error
        finally:
            print_lines(deferred)

    return run_or_refuse


# --- deployment priors that are estimated -------------------------------------------------------------------

#: Prefix of a deployment prior that is estimated from a file.
ESTIMATE = "estimate:"


def accept_estimate(parse: Callable[[str], T]) -> Callable[[str], T | Path]:
    """Return a parser like `parse`, which returns the (unread) path for the text ``estimate:PATH``."""

    def parse_or_path(text: str) -> T | Path:
        before, prefix, name = text.strip().partition(ESTIMATE)
        if before or not prefix:
            return parse(text)
        if not name:
            raise InputError("estimate: needs a file of unlabelled scores, such as estimate:field.csv")
        return Path(name)

    return parse_or_path


def resolve_prior(prior: T | Path, table: Scores) -> T | DeploymentPrior:
    """Return the prior or, if it is the path of unlabelled scores, that estimated from them and `table`."""
    if not isinstance(prior, Path):
        return prior
    from skewanova.comparison.estimated_prior import estimate_prior_from_tables

    return estimate_prior_from_tables(table, prior)


# --- options ------------------------------------------------------------------------------------------------


def parsed_option(
    flag: str, parse: Callable[[str], Any], text: str, *, metavar: str = "LIST", **settings: Any
) -> click.Parameter:
    """Return an option whose text is read by `parse`; its input errors are errors of usage."""

    def parse_or_refuse(value: str) -> Any:
        try:
            with print_warnings():
                return parse(value)
        except (InputError, InputTypeError) as error:
            raise click.BadParameter(to_shell(str(error)).replace("`priors`", flag)) from error

    return click.Option([flag], metavar=metavar, type=parse_or_refuse, help=text, **settings)


def choice_option(
    flag: str, names: Sequence[str], text: str, remark: str = "", *, default: str | None = "auto"
) -> click.Parameter:
    """Return an option that takes one of several names; its help is the text, the names and the remark."""
    text = f"{text}: {', '.join(names)}{remark}."
    return click.Option([flag], type=click.Choice(names), metavar="NAME", default=default, help=text)


def path_argument(name: str, **settings: Any) -> click.Parameter:
    """Return a required positional argument that takes a path, which need not exist."""
    return click.Argument([name], type=click.Path(path_type=Path), **settings)


def count_option(flag: str, text: str, default: int) -> click.Parameter:
    """Return an option that takes an integer of 0 or more."""
    return click.Option([flag], type=click.IntRange(min=0), default=default, help=text)


def seed_option(use: str) -> click.Parameter:
    """Return the option --seed, by default 0."""
    return count_option("--seed", f"Seed of {use}.", 0)


def number_option(flag: str, text: str, default: float | None = None) -> click.Parameter:
    """Return an option that takes a float."""
    return click.Option([flag], type=float, default=default, help=text)


def level_option(text: str) -> click.Parameter:
    """Return the option --confidence-level, by default 0.95, with this help text."""
    return number_option("--confidence-level", text, 0.95)


def range_option(text: str) -> click.Parameter:
    """Return the option --deployment-prior, without a default."""
    return parsed_option("--deployment-prior", parse_deployment_prior, text, metavar="RANGE")


def deployment_option(text: str) -> click.Parameter:
    """Return the option --deployment-prior of a prior, by default 0.05:0.20, or Path of ``estimate:FILE``."""
    parse = accept_estimate(parse_deployment_prior)
    return parsed_option("--deployment-prior", parse, text, metavar="RANGE", default="0.05:0.20")


def out_option(content: str) -> click.Parameter:
    """Return the option --out, the folder that a command writes."""
    return folder_option("--out", f"Write {content} to this folder.")


def folder_option(flag: str, text: str, **settings: Any) -> click.Parameter:
    """Return an option that takes a Path; with file_okay=False in `settings` of `click.Path`, no file."""
    return click.Option([flag], type=click.Path(path_type=Path, **settings), metavar="DIR", help=text)


def split_names(text: str) -> list[str]:
    """Return names separated by commas, as in a row of CSV, without empty ones or spaces around a name."""
    rows = csv.reader(text.splitlines(keepends=True), skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]


def _join_names(_context: object, _option: object, value: Sequence[Sequence[str]]) -> list[str] | None:
    """Return the names of all uses of an option in one list, or None if it was not used."""
    return [name for names in value for name in names] if value else None


SCORES, UNLABELLED = path_argument("scores"), path_argument("unlabelled")


BATCH_COLUMN = click.Option(["--batch-column"], metavar="NAME", help="Column of UNLABELLED that holds batch.")


TEST_FRACTION_OPTION = number_option("--test-fraction", "Share of the cases tested by a fold.")


DESIGN_OPTIONS = (
    choice_option("--design", DESIGNS, "How the folds were made", "; auto infers it from the cases"),
    TEST_FRACTION_OPTION,
)


AT_PRIORS = "0.5,0.1,0.01"


#: Options of the tests, and of the outputs of a comparison.
ALPHA_OPTION = number_option("--alpha", "Significance level.", 0.05)
MODELS_OPTION = parsed_option(
    "--models", split_names, "Models to compare, separated by commas.", multiple=True, callback=_join_names
)
PAIRS_OPTIONS = (
    choice_option(
        "--pairwise", PAIRWISE_CHOICES, "Test of pairs of models", "; auto takes the one valid for the design"
    ),
    choice_option("--p-adjust", ADJUSTMENTS, "Adjustment", "; else holm", default=None),
    click.Option(["--control"], metavar="MODEL", help="Compare every other model with this one only."),
)
REPORT_OPTIONS = (
    seed_option("the resampling"),
    click.Option(["--full/--brief"], default=False, help="Print all results or only the verdict."),
    out_option("report.html and tables"),
    folder_option("--paper", "Write results, methods, table, figure as LaTeX.", file_okay=False),
    parsed_option("--figures", check_formats, "Also draw figures: svg,png,pdf.", default="none"),
)


COMPARISON_OPTIONS = (
    deployment_option(
        "Prior in deployment: LOW:HIGH, one prior, skew:LOW:HIGH (negatives per positive), "
        "beta:A:B, quantiles:0.05=LOW:0.95=HIGH or estimate:FILE (of unlabelled scores)."
    ),
    parsed_option("--at-priors", parse_priors, "Further priors to report.", default=AT_PRIORS),
    ALPHA_OPTION,
    choice_option("--area-estimator", ESTIMATORS, "Area", default="trapezoid"),
    *DESIGN_OPTIONS,
    MODELS_OPTION,
    *PAIRS_OPTIONS,
    number_option("--rope", "Negligible difference in IAUPREC.", 0.01),
    *REPORT_OPTIONS,
)


VALUES_OPTIONS = (
    click.Option(["--measure"], metavar="NAME", help="Column of the values; name of the measure."),
    click.Option(["--lower-is-better"], is_flag=True, help="Values are losses, such as Brier scores."),
    parsed_option(
        "--score-measure",
        parse_score_measure,
        f"VALUES has scores: compare {', '.join(SCORE_MEASURES[:-1])} or {SCORE_MEASURES[-1]}.",
        metavar="MEASURE",
    ),
    range_option("Prior where --score-measure applies."),
    number_option("--threshold", "Threshold of a cost or net benefit; by default the best of each fold."),
    ALPHA_OPTION,
    choice_option(
        "--design",
        ("auto", *VALUES_DESIGNS),
        "How the folds were made",
        "; auto needs a column run beside fold, a column dataset, or scores",
    ),
    TEST_FRACTION_OPTION,
    MODELS_OPTION,
    *PAIRS_OPTIONS,
    number_option("--rope", "Negligible difference; with it practical equivalence is tested."),
    *REPORT_OPTIONS,
)


CLASSES_OPTION = parsed_option(
    "--classes",
    split_names,
    "Columns of class scores, named by the labels in y_true; each class is tested against the rest.",
)


OUTPUT_OPTIONS = (
    click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object."),
    click.Option(
        ["--quiet", "-q"], is_flag=True, is_eager=True, help="Print errors only (and the JSON of --json)."
    ),
)


def column_option(word: str) -> click.Parameter:
    """Return the option that names a column; its help lists the options for the other columns."""
    others = ", ".join(f"--{other}-column" for other in COLUMN_WORDS if other != word)
    text = f"Column that holds the {word}; likewise {others}."
    return click.Option([f"--{word}-column"], metavar="NAME", help=text)


TABLE_OPTIONS = (
    *map(column_option, COLUMN_WORDS),
    click.Option(["--positive"], metavar="LABEL", help="Label of the positive class, if it is not 1."),
    click.Option(["--wide"], is_flag=True, help="Each model has its own score column, named after it."),
)


def merge_design_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as keywords, any --test-fraction put in `design`; raise if with "datasets"."""
    keywords = dict(options)
    fraction = keywords.pop("test_fraction")
    if fraction is not None and keywords["design"] == "datasets":
        raise InputError("--test-fraction is for folds of one data set: leave it out with --design datasets")
    if fraction is not None:
        from skewanova.scores.design import as_design

        keywords["design"] = replace(as_design(keywords["design"]), test_fraction=fraction)
    return keywords


def make_score_measure(options: dict[str, Any]) -> Any:
    """Pop score_measure, deployment_prior, threshold; return Measure or None; raise if one is not taken."""
    measure, names = options.pop("score_measure"), ("deployment_prior", "threshold")
    used = {name: value for name in names if (value := options.pop(name)) is not None}
    if measure is None and used:
        remedy = "leave that out or, for a file of scores, replace --measure, if any, by --score-measure FORM"
        raise InputError(f"{_join_flags(used)} can be given with a measure of scores only: {remedy}")
    if measure is None:
        return None
    from skewanova.decision import Measure

    name, numbers = measure
    make = getattr(Measure, name)
    if useless := sorted(used.keys() - signature(make).parameters.keys()):
        raise InputError(f"--score-measure {name} takes no {_join_flags(useless)}: leave that out")
    with checks.prefix_errors(f"--score-measure {name}"):
        return make(*numbers, **used)


def _join_flags(names: Iterable[str]) -> str:
    """Return the options of these names, as "--threshold, --measure"."""
    return ", ".join(f"--{name.replace('_', '-')}" for name in names)


# --- tables -------------------------------------------------------------------------------------------------


@contextmanager
def explain_read_errors(path: Path) -> Iterator[None]:
    """Print our warnings of the block; turn OSError (no closed pipe) and MemoryError into `InputError`."""
    try:
        with print_warnings():
            yield
    except OSError as error:
        if is_closed_pipe(error):  # a failure of printing, not of reading
            raise
        raise InputError(f"{path.name!r} cannot be read ({error.strerror or error}); give a copy") from error
    except MemoryError as error:
        raise InputError(
            f"{path.name!r} does not fit in memory; keep fewer rows, or take more memory"
        ) from error


#: Columns that a table in the wide form cannot name, and why.
WIDE_REFUSALS = {
    ("model", "y_score"): "takes every other column as a model: leave out --model-column, --score-column",
    ("part", "halving"): (
        "finds the columns part and halving by these names: leave out --part-column, --halving-column"
    ),
}


def read_table(
    path: Path, options: dict[str, Any], read: Callable[..., Any] | None = None, refusal: str = ""
) -> Any:
    """Return the scores of a file as one table, or as `read` (of a long table) makes them.

    The options about the file are removed from `options`; --wide raises `refusal` if there is one.
    """
    named = {COLUMN_NAMES.get(word, word): options.pop(f"{word}_column") for word in COLUMN_WORDS}
    columns = {column: name for column, name in named.items() if name is not None}
    positive, wide = options.pop("positive"), options.pop("wide")
    with explain_read_errors(path):
        if not wide:
            return (read or skewanova.read_scores)(path, columns=columns, pos_label=positive)
        if refusal:
            raise InputError(refusal)
        for names, reason in WIDE_REFUSALS.items():
            if columns.keys() & names:
                raise InputError(f"--wide {reason}")
        return skewanova.scores_from_wide(path, models=options.get("models"), pos_label=positive, **columns)


def read_values_table(path: Path, options: dict[str, Any], measure: str | None) -> Any:
    """Return the ValueTable of a file; remove options that describe scores, but raise if one is set."""
    used = [name for name in (*COLUMN_OPTIONS, "positive", "wide") if options.pop(name)]
    if used:
        remedy = "leave that out (name columns model, value, fold) or, of scores, add --score-measure roc_auc"
        raise InputError(f"{_join_flags(used)} can be given with held-out scores only: {remedy}")
    with explain_read_errors(path):
        return skewanova.scores.read_values(path, measure=measure)


def read_tables(path: Path, options: dict[str, Any]) -> Any:
    """Return one score table or, by name, those of several data sets; with --classes, scores of classes."""
    classes, settings = options.pop("classes"), dict(options)
    if classes is None:
        try:
            return read_table(path, options)
        except MultipleDatasetsError:
            return read_table(path, settings, skewanova.read_datasets)  # which are never wide

    def read_classes(path: Path, *, columns: Mapping[str, str], pos_label: object) -> Any:
        """Return the scores of the classes of --classes; raise if there is a `pos_label`."""
        if pos_label is not None:
            raise InputError("--classes takes each class as the positive one in turn: leave out --positive")
        return skewanova.scores.read_multiclass(path, classes, columns=columns)

    refusal = "--classes needs a row for each model and case: leave out --wide"
    return read_table(path, options, read_classes, refusal)


def read_unlabelled_table(path: Path, columns: Mapping[str, str | None]) -> UnlabelledScores:
    """Return the scores of cases without labels; columns without a name have the usual one."""
    from skewanova.scores.unlabelled import read_unlabelled

    with explain_read_errors(path), checks.prefix_errors("`unlabelled`"):
        return read_unlabelled(path, columns={key: name for key, name in columns.items() if name is not None})
