"""The frames and settings of a comparison, from which sentences, tables and figures are made."""

from __future__ import annotations

import os
import tomllib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from skewanova.base.checks import Floats, check_count, suggest_name
from skewanova.base.folders import Provenance, check_path, make_provenance
from skewanova.base.frames import FrameResult
from skewanova.base.text import escape_text
from skewanova.decision.leads import by_prior_frame
from skewanova.decision.verdict import Judgement, Verdict
from skewanova.evaluation import curve_frames as curves
from skewanova.evaluation.measures import Evaluation
from skewanova.report.verdict_text import write_verdict
from skewanova.scores.design import FoldDesign
from skewanova.scores.table import Scores
from skewanova.scores.unlabelled import score_bins

if TYPE_CHECKING:
    from jinja2 import Environment

#: Priors in a table; the files have all.
MAX_PRIORS = 16


#: Rows of a frame of points; a larger frame has every fourth point of each curve.
MAX_POINTS = 500_000


#: Folder of the templates of pages, of files for LaTeX and, in one file, of captions, notes and other texts.
TEMPLATES = resources.files("skewanova.report") / "templates"
TEXTS: Mapping[str, Any] = tomllib.loads((TEMPLATES / "texts.toml").read_text(encoding="utf-8"))


#: Content of each frame of a comparison by its name, which is also the name of its CSV file.
FRAMES: Mapping[str, str] = MappingProxyType(TEXTS["frames"])


class Tables(Mapping[str, pd.DataFrame]):
    """Frames of a comparison by name; some are computed when they are first read."""

    def __init__(self, frames: Mapping[str, pd.DataFrame], makers: Mapping[str, Callable[[], pd.DataFrame]]):
        """Hold `frames` by name, and the `makers` of others, which are called at the first reading."""
        self._frames, self._makers = dict(frames), makers

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Return the frame, computed at its first reading; raise KeyError if no frame has this name."""
        if name not in FRAMES:
            raise KeyError(f"no table {name!r}{suggest_name(name, FRAMES)}; list(result.tables) names all")
        if name not in self._frames:
            self._frames[name] = self._makers[name]()
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(FRAMES)

    def __len__(self) -> int:
        return len(FRAMES)

    def __repr__(self) -> str:
        """Return a line of text on each frame: its name and what it holds."""
        return "\n".join(f"{name:18}{text}" for name, text in FRAMES.items())


class Result(FrameResult):
    """Base class of the results of comparisons: of one data set, several data sets or several classes."""

    ranking: pd.DataFrame
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        return self.summary()

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the ranking."""
        return self.ranking.copy()

    @property
    @abstractmethod
    def conclusions(self) -> tuple[str, ...]:
        """Results of the tests, a sentence each."""

    @abstractmethod
    def _format_brief(self, width: int) -> str:
        """Return the verdict (or choices) and the ranking as text wrapped to `width`."""

    @abstractmethod
    def _format_details(self, width: int) -> list[str]:
        """Return all other results as sections of text wrapped to `width`."""

    def summary(self, width: int = 80, *, full: bool = False) -> str:
        """Return the verdict and the ranking, or all results if `full`, as text `width` characters wide."""
        width = check_count(width, "width", minimum=1)
        return "\n\n".join([self._format_brief(width), *(self._format_details(width) if full else [])])

    @abstractmethod
    def _write_folder(self, directory: Path, figures: str | Sequence[str] | None) -> Path:
        """Write the report, all tables, and figures in these formats to a folder; return its path."""

    def save(self, directory: str | os.PathLike[str], *, figures: str | Sequence[str] | None = None) -> Path:
        """Write an HTML report, all frames, tables and, if wanted, figures to a folder; return its path.

        ``README.txt`` has a line on each file. Frames are CSV files, and those of curves are Parquet. If
        writing fails, the folder stays as it was. Data sets and classes have numbered subfolders, which
        ``tables/datasets.csv`` and ``tables/classes.csv`` list by name.

        Parameters
        ----------
        directory : path
            Folder to write: a new one, an empty one or an earlier output, which is replaced.
        figures : str or sequence of str, optional
            Formats of the figures for a paper: svg, png and pdf, as in ``"svg,pdf"``. The report has its own.

        Raises
        ------
        ValueError
            If a format is unknown, or the folder has files of the user.
        """
        return self._write_folder(check_path(directory), figures)


@dataclass(frozen=True, eq=False, repr=False)
class TestedResult(Result):
    """Base class of results with tests of pairs over folds or cases, whatever the measure."""

    __test__ = False  # pytest collects classes named Test...

    #: Tables, frames and figures (None: all) by name, and the column of the means in the ranking.
    SPECS: ClassVar[Mapping[str, Any]]
    FRAMES: ClassVar[Mapping[str, str]] = FRAMES
    FIGURES: ClassVar[Sequence[str] | None] = None
    MEAN: ClassVar[str] = "iauprec"

    tables: Mapping[str, pd.DataFrame] = field(repr=False)
    design: FoldDesign
    warnings: tuple[str, ...]
    settings: dict[str, object]

    @property
    def ranking(self) -> pd.DataFrame:  # type: ignore[override]  # a field of the other results
        """A row a model, in ranking order; columns of `rank_models`, for values see `ValuesComparison`."""
        return self.tables["ranking"]

    @property
    def pairs(self) -> pd.DataFrame:
        """A row a pair for each test, response and prior; columns of :func:`~skewanova.inference.posthoc`."""
        return self.tables["pairs"]

    @property
    def tests(self) -> pd.DataFrame:
        """One row for each term of each test of all models; columns of `AnovaResult.to_frame`."""
        return self.tables["tests"]

    @property
    @abstractmethod
    def verdict(self) -> Verdict:
        """The choice, how sure it is, where it changes, and the weakest point."""

    @property
    @abstractmethod
    def methods(self) -> Any:
        """Methods section for a paper, a Prose."""

    @abstractmethod
    def _render_page(self, provenance: Mapping[str, Any]) -> str:
        """Return the report as an HTML document."""

    @property
    @abstractmethod
    def source(self) -> Path | None:
        """Path of the input; None if it was read from memory."""

    @property
    @abstractmethod
    def sha256(self) -> str:
        """SHA-256 of the input as hexadecimal text."""

    @property
    def measure(self) -> str:
        """Title of the measure whose means are compared, in tables and sentences; here "IAUPREC"."""
        return "IAUPREC"

    @property
    def unit(self) -> str:
        """Unit over which values vary: "test set", "run" or "fold"."""
        return "test set" if self.design.is_test_set else "run" if self.design.has_runs else "fold"

    @property
    def population(self) -> str:
        """Phrase for the population that tests and intervals are about."""
        return self.design.population

    @property
    def alpha(self) -> float:
        """Level of the tests; the intervals have the level ``1 - alpha``."""
        return float(str(self.settings["alpha"]))


@dataclass(frozen=True, eq=False, repr=False)
class ReportSource(TestedResult):
    """Base class of :class:`~skewanova.Comparison`, with all that sentences, tables and figures use."""

    evaluation: Evaluation = field(repr=False)
    scores: Scores = field(repr=False)

    def __post_init__(self) -> None:
        """Make `tables` a Tables that computes COMPUTED_FRAMES, anew for a copy of another comparison."""
        makers = {name: partial(make, self) for name, make in COMPUTED_FRAMES.items()}
        # dataclasses.replace() passes the tables of the other comparison: these frames are computed anew
        computed = makers if isinstance(self.tables, Tables) else {}
        frames = {name: self.tables[name] for name in self.tables if name not in computed}
        object.__setattr__(self, "tables", Tables(frames, makers))

    @property
    def by_prior(self) -> pd.DataFrame:
        """Columns prior, model, rank, auprec, conf_low, conf_high, contender (bool), regret."""
        return self.tables["by_prior"]

    @cached_property
    def verdict(self) -> Verdict:
        """The model to deploy, how sure that is, where the choice changes, and the weakest point."""
        rope = float(str(self.settings["rope"]))
        return write_verdict(Judgement(self.tables, self.evaluation, rope=rope, control=get_control(self)))

    @property
    def source(self) -> Path | None:
        """Path of the file or folder of the scores; None if they were read from memory."""
        return self.scores.source

    @cached_property
    def sha256(self) -> str:
        """SHA-256, hexadecimal: of the file or folder of scores if it exists, else of table or curves."""
        return self.scores.sha256()

    @cached_property
    def prior_frames(self) -> dict[str, pd.DataFrame]:
        """Frames `prior` and `bins` of an estimated deployment prior; empty for any other."""
        estimate: Any = self.evaluation.deployment_prior
        if not hasattr(estimate, "bins_frame"):
            return {}
        return {"prior": estimate.to_frame(), "bins": estimate.bins_frame()}


def build_provenance(source: TestedResult) -> Provenance:
    """Return the provenance of a comparison: versions, time, settings, seed, input and its SHA-256."""
    seed, path = source.settings.get("seed"), source.source
    return make_provenance("comparison", source.settings, seed=seed, source=path, sha256=source.sha256)


def subsample(values: Sequence[float] | Floats, max_size: int) -> Floats:
    """Return at most `max_size` values, evenly spaced by index, with the first and the last."""
    indices = np.linspace(0, len(values) - 1, min(max_size, len(values))).round().astype(int)
    return np.asarray(values, dtype=np.float64).take(indices)


def _choose_step(n_rows: int) -> int:
    """Return 1 up to MAX_POINTS rows, else 4: every how many-th point of a curve is kept."""
    return 1 if n_rows <= MAX_POINTS else 4


def _compute_roc(source: ReportSource) -> pd.DataFrame:
    """Return ROC curves (model, fold, fpr, tpr) at 201 false positive rates, or 51 if over MAX_POINTS."""
    step = _choose_step(len(source.evaluation.curves) * len(curves.RATE_GRID))
    return curves.roc(source.evaluation, fpr=curves.RATE_GRID[::step])


def _compute_precision_recall(source: ReportSource) -> pd.DataFrame:
    """Return precision by model, fold, up to 16 priors and 200 recalls, or 50 recalls if over MAX_POINTS."""
    priors = subsample(source.evaluation.priors, MAX_PRIORS)
    step = _choose_step(len(source.evaluation.curves) * len(priors) * len(curves.RECALL_GRID))
    recall = curves.RECALL_GRID[step - 1 :: step]
    return curves.precision_recall(source.evaluation, priors, recall=recall)


def _compute_by_prior(source: ReportSource) -> pd.DataFrame:
    """Return the frame `by_prior`; its bands are drawn by the seed of the settings, or else by 0."""
    seed = source.settings["seed"]
    rng = seed if isinstance(seed, int) else 0
    return by_prior_frame(source.evaluation, source.tables["leaders"], alpha=source.alpha, rng=rng)


#: Frames that are computed when they are first read.
COMPUTED_FRAMES: Mapping[str, Callable[[ReportSource], pd.DataFrame]] = MappingProxyType(
    {
        "roc": _compute_roc,
        "precision_recall": _compute_precision_recall,
        "by_prior": _compute_by_prior,
        "auprec_by_prior": lambda source: curves.auprec_by_prior(source.evaluation),
        "auprec_intervals": lambda source: curves.auprec_intervals(source.evaluation, alpha=source.alpha),
        "regret": lambda source: curves.regret(source.evaluation),
        "surface": lambda source: curves.surface(source.evaluation),
        "skew": lambda source: curves.skew(source.evaluation),
        "score_bins": lambda source: score_bins(source.scores),
    }
)


def format_level(alpha: float) -> str:
    """Return the confidence level 1 - alpha as text, such as "95 %"."""
    return f"{100 * (1 - alpha):g} %"


def get_control(source: TestedResult) -> str | None:
    """Return the name of the control model, or None."""
    control = source.settings["control"]
    return None if control is None else str(control)


def select_primary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows of IAUPREC, if any, of those the primary ones, if any, and of those the first test's."""
    for column, value in (("response", "iauprec"), ("role", "primary")):
        result = frame[frame[column] == value]
        frame = frame if result.empty else result
    rows: pd.DataFrame = frame[frame["test"] == frame["test"].iloc[0]]
    return rows


def orient_pairs(pairs: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return pairs of `reference` with it as `model_b`; estimates and limits are turned, statistics not."""
    swapped = pairs.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    swapped[["estimate", "conf_low", "conf_high"]] = -pairs[["estimate", "conf_high", "conf_low"]].to_numpy()
    frame = pd.concat([pairs, swapped], ignore_index=True)
    return frame[frame["model_b"] == reference]


def fill_template(document: str, block: str, **words: Any) -> str:
    """Return a block of the text template of a document, with its words filled in, as one line."""
    template = load_templates().get_template(f"{document}.txt.j2")
    return " ".join("".join(template.blocks[block](template.new_context(words))).split())


@cache
def load_templates() -> Environment:
    """Return the jinja2 environment of the templates; it escapes control characters, and HTML in pages."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def escape_controls(value: object) -> object:
        """Return a text with control characters escaped; Markup and values of other types as they are."""
        return escape_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    return Environment(
        loader=PackageLoader("skewanova.report", "templates"),
        autoescape=lambda name: str(name).endswith(".html.j2"),
        undefined=StrictUndefined,
        finalize=escape_controls,
        trim_blocks=True,
        lstrip_blocks=True,
    )
