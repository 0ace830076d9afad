"""Methods ready to paste, with references and BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from importlib.metadata import version

import pandas as pd

from skewanova.base.text import latex_escape, markdown_escape
from skewanova.inference.catalogue import RUNS_DESIGN, get_test
from skewanova.report.source import ReportSource
from skewanova.scores.design import FoldDesign

ESTIMATORS = {
    "trapezoid": "the trapezoid rule on the points of the curve (Landgrebe et al. 2006, eq. 4)",
    "exact": "exact segments between the points of the ROC curve (Davis and Goadrich 2006)",
    "average_precision": "average precision, a step at every positive",
    "upper_trapezoid": "the upper trapezoid rule, anchored at precision 1 (Boyd et al. 2013)",
    "interpolated_max": "exact segments through the largest precision at each recall (Boyd et al. 2013)",
    "interpolated_mean": "exact segments through the mean precision at each recall (Boyd et al. 2013)",
    "interpolated_median": "exact segments through the median precision at each recall (Boyd et al. 2013)",
    "convex_hull": "exact segments along the convex hull of the ROC curve",
}


#: Fields that say where a work came out, the first that there is.
PLACES = ("journal", "booktitle", "publisher", "howpublished")


@dataclass(frozen=True)
class Reference:
    """One work, by its entry for BibTeX; it is cited where the surname of its first author is in the text."""

    key: str
    entry: str

    @cached_property
    def fields(self) -> dict[str, str]:
        """Fields of the entry by name, as a page shows them."""
        result = re.findall(r"^  (\w+) = \{+(.*?)\}+,$", self.entry, flags=re.MULTILINE)
        return {name: _shown(value) for name, value in result}

    @property
    def surname(self) -> str:
        """Of the first author, as the text has it."""
        return self.fields["author"].split(",")[0]

    @property
    def year(self) -> int:
        """When it came out."""
        return int(self.fields["year"])

    def to_text(self) -> str:
        """Return the reference as a line."""
        fields = self.fields
        venue = next(fields[name] for name in PLACES if name in fields)
        volume = f" {fields['volume']}" if "volume" in fields else ""
        pages = f", {fields['pages'].replace('--', chr(0x2013))}" if "pages" in fields else ""
        authors = fields["author"].replace(" and ", "; ")
        return f"{authors} ({self.year}). {fields['title']}. {venue}{volume}{pages}."


def _shown(value: str) -> str:
    """A value of BibTeX without its commands."""
    for written, sign in {"{\\'\\i}": "\u00ed", "{\\v s}": "\u0161", "\\&": "&"}.items():
        value = value.replace(written, sign)
    return value


def _read_references() -> tuple[Reference, ...]:
    """The works in ``references.bib``, which are in the order of their keys."""
    text = (resources.files("skewanova.report") / "references.bib").read_text(encoding="ascii")
    text = text.replace("VERSION", version("skewanova"))
    return tuple(Reference(re.split("[{,]", each)[1], each) for each in text.strip().split("\n\n"))


REFERENCES = _read_references()


_SOFTWARE_YEAR = next(each.year for each in REFERENCES if each.key == "skewanova")


@dataclass(frozen=True)
class Prose:
    """Paragraphs for a paper, in several renderings, with the works they cite.

    Attributes
    ----------
    paragraphs : tuple of str
        Plain text.

    Examples
    --------
    >>> from skewanova import compare, load_satellite_scores
    >>> result = compare(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> print(result.methods.paragraphs[1])
    IAUPREC is the mean of AUPREC over the deployment prior, here uniform over priors 0.05 to 0.2. Models are
    ranked by its mean over folds.
    >>> [reference.key for reference in result.methods.references][:2]
    ['corani2015', 'demsar2006']
    """

    paragraphs: tuple[str, ...]

    def __str__(self) -> str:
        """Return plain text."""
        return "\n\n".join(self.paragraphs)

    @property
    def references(self) -> list[Reference]:
        """Works cited, by name."""
        return cited(self.paragraphs)

    def to_markdown(self) -> str:
        """Return Markdown, names from outside escaped."""
        return "\n\n".join(map(markdown_escape, self.paragraphs))

    def to_latex(self) -> str:
        r"""Return LaTeX, with a ``\\cite`` behind the first mention of each work in `to_bibtex`."""
        text = "\n\n".join(map(latex_escape, self.paragraphs)) + "\n"
        for reference in self.references:
            text = _with_citation(text, reference)
        return text

    def to_bibtex(self) -> str:
        """Return the works cited as a file for BibTeX."""
        return bibtex(self.references)


def _with_citation(text: str, reference: Reference) -> str:
    """The text with a command for the citation where the work is first named with its year."""
    named = re.escape(latex_escape(reference.surname)).replace("\u0161", "[\u0161s]")
    mention = re.search(rf"{named}[^.;]{{0,60}}?(?:al\.[^.;]{{0,8}})?{reference.year}\)?", text)
    if mention is None:
        return text
    return rf"{text[: mention.end()]}~\cite{{{reference.key}}}{text[mention.end() :]}"


def methods_of(source: ReportSource) -> list[str]:
    """The section on methods, in paragraphs; the tests that the conclusions rest on come first."""
    roles = pd.concat([frame[["test", "role"]] for frame in (source.tests, source.pairs)])
    tests = {role: rows["test"].unique().tolist() for role, rows in roles.groupby("role", observed=True)}
    first = tests.get("primary", [])
    rest = [test for role in ("published", "secondary") for test in tests.get(role, []) if test not in first]
    return [
        *methods_text(
            area_estimator=str(source.settings.get("area_estimator", "")),
            deployment_prior=str(source.settings.get("deployment_prior", "")),
            alpha=source.alpha,
            tests=rest,
            primary=first,
            test_set=source.design.is_test_set,
            fixed_runs=source.design.has_runs and source.design.runs == "fixed",
            design=source.design,
        ),
        _made(source),
    ]


def _made(source: ReportSource) -> str:
    """Design, sizes of folds, software and seed."""
    sizes = [_range(source.tables["iauprec"][column]) for column in ("n_positive", "n_negative")]
    each = "It" if source.design.is_test_set else "Each run" if source.design.has_runs else "Each fold"
    seed = source.settings.get("seed")
    seeded = "a random generator" if seed is None else f"seed {seed}"
    return (
        f"Design: {source.design.describe()}. {each} tests {sizes[0]} positives and {sizes[1]} negatives. "
        f"Computed by skewanova {version('skewanova')} (The skewanova developers {_SOFTWARE_YEAR}) with "
        f"{seeded}."
    )


def _range(values: pd.Series[float]) -> str:
    """Smallest and largest, once where they are the same."""
    low, high = values.min(), values.max()
    return f"{low:,.6g}" if low == high else f"{low:,.6g} to {high:,.6g}"


def methods_text(
    *,
    area_estimator: str,
    deployment_prior: str,
    alpha: float,
    tests: Iterable[str],
    primary: Iterable[str] = (),
    test_set: bool = False,
    fixed_runs: bool = False,
    design: FoldDesign | None = None,
) -> list[str]:
    """Return the paragraphs of a section on methods; the design tells of clusters, weights and the claim."""
    first = list(dict.fromkeys(primary))
    done = list(dict.fromkeys([*first, *tests]))
    over_folds = _HALVED_REST if any(get_test(test).halved for test in done) else _FOLDS_REST
    shared = fixed_runs or any(get_test(test).designs == RUNS_DESIGN for test in done)
    over_folds = _FIXED_REST if fixed_runs else _RUNS_REST if shared else over_folds
    scored = _TEST_SET_SCORED if test_set else _RUNS_SCORED if shared else _FOLDS_SCORED
    ranked = "it" if test_set else "its mean over runs" if shared else "its mean over folds"
    return [
        f"{scored} one ROC curve, tied scores together, and with it the precision at any prior p of "
        "the positive class: p TPR / (p TPR + (1 - p) FPR) (Landgrebe et al. 2006). AUPREC is the area "
        "under that precision against recall (TPR), here by "
        f"{ESTIMATORS.get(area_estimator, area_estimator)}. Ranking at random scores the prior, a perfect "
        "ranking 1.",
        f"IAUPREC is the mean of AUPREC over the deployment prior, here {deployment_prior}. Models are "
        f"ranked by {ranked}.",
        f"{_tests(first, done, alpha)} {_EQUIVALENCE} {_TEST_SET_REST if test_set else over_folds}",
        " ".join([*_sampling(design), *_reading(design, fitted=test_set or fixed_runs), _LETTERS]),
    ]


def _tests(first: list[str], done: list[str], alpha: float) -> str:
    """The tests that the conclusions rest on, then the others."""
    named = "; ".join(get_test(test).methods for test in first or done)
    if not first:
        return f"Tests, at level {alpha:g}: {named}."
    others = [get_test(test).methods for test in done if test not in first]
    beside = f" Reported beside them: {'; '.join(others)}." if others else ""
    return f"The conclusions rest on these tests, each at level {alpha:g}: {named}.{beside}"


_LETTERS = "Letters follow Piepho (2004)."


_EQUIVALENCE = (
    "Practical equivalence is tested by two one-sided t tests (Schuirmann 1987), adjusted over the same "
    "pairs."
)


def _reading(design: FoldDesign | None, *, fitted: bool) -> list[str]:
    """What the tests are about."""
    about = [] if design is None else [f"Tests and intervals are about {design.population}."]
    return [*about, _TEST_SET_READING if fitted else _FOLDS_READING]


def _sampling(design: FoldDesign | None) -> list[str]:
    """How clusters and weights were honoured."""
    if design is None:
        return []
    told = []
    if design.n_clusters:
        over_cases = not design.over_folds
        done = _CLUSTERS_LEFT_OUT if over_cases else _CLUSTERS_IN_FOLDS
        told.append(f"Cases came in {design.n_clusters:,} clusters: {done}.")
    return [*told, *([_WEIGHTED] if design.weighted else [])]


_CLUSTERS_LEFT_OUT = (
    "whole clusters were left out by the jackknife and drawn by bootstraps, and degrees of freedom and "
    "numbers of cases count clusters (Obuchowski 1997)"
)


_CLUSTERS_IN_FOLDS = "every fold tested all cases of a cluster or none"


_WEIGHTED = (
    "Cases counted by their weights, and numbers of cases are those of as many equally weighted ones (Kish "
    "1965)."
)


_FOLDS_SCORED = "Every model was scored on the same held-out cases, fold by fold. Each fold's scores give"


_TEST_SET_SCORED = "Every model was scored on the same cases of one test set. Its scores there give"


_RUNS_SCORED = "Every model was scored on the same cases in every run. Each run's scores there give"


_RUNS_REST = (
    "Intervals of means, bands, probabilities of practical equivalence and of being the best, and plans go "
    "by the variance over runs and cases together. Bands of difference curves use the joint distribution of "
    "all statistics along the prior."
)


_FIXED_REST = (
    "The runs are taken as fixed: a model is the mean of its runs, and tests, intervals, bands, "
    "probabilities and plans go by the variance over cases alone, so nothing is said about further runs."
)


_FOLDS_REST = (
    "Probabilities of practical equivalence are those of the Bayesian correlated t test (Corani and Benavoli "
    "2015). Bands of difference curves use the joint distribution of all t statistics along the prior."
)


_HALVED_REST = (
    "Intervals of means, bands, probabilities of practical equivalence and of being the best, and plans go "
    "by the same split-half variance; tests called corrected, and intervals at thresholds, by Nadeau and "
    "Bengio's (2003). Bands of difference curves use the joint distribution of all t statistics along the "
    "prior."
)


_FOLDS_READING = (
    "The breakdown correlation of a finding is the correlation between folds at which it would be lost: "
    "folds that share training data are correlated, and a test that takes them as independent rejects too "
    "often (Nadeau and Bengio 2003)."
)


_TEST_SET_REST = (
    "Probabilities of practical equivalence are those of a t posterior of each pair's difference under a "
    "flat prior. Bands of difference curves use the joint distribution, over cases, of all statistics along "
    "the prior."
)


_TEST_SET_READING = (
    "The tests are about these fitted models on further cases like those of the test set, not about training "
    "them again."
)


def cited(paragraphs: Iterable[str]) -> list[Reference]:
    """Return the references whose first author stands in the text, by name."""
    text = " ".join(paragraphs).replace("Demsar", "Dem\u0161ar")
    first = re.sub(r"(\b[A-Z]\w+) and [A-Z]\w+", r"\1", text)  # second authors have no entry of their own
    result = [reference for reference in REFERENCES if reference.surname in first]
    surnames = [reference.surname for reference in result]
    return [each for each in result if surnames.count(each.surname) == 1 or str(each.year) in text]


def bibtex(references: Iterable[Reference]) -> str:
    """Return the file for BibTeX."""
    return "\n\n".join(reference.entry for reference in references) + "\n"
