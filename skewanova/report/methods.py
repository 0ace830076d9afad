"""The methods section for a paper, with references and BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from importlib.metadata import version
from typing import Any

import pandas as pd

from skewanova.base.text import escape_latex, escape_markdown
from skewanova.inference.catalogue import get_test
from skewanova.report.source import ReportSource, fill_template
from skewanova.scores.design import FoldDesign

ESTIMATORS = {
    "trapezoid": "the trapezoid rule (their eq. 4)",
    "exact": "exact segments between the points of the ROC curve (Davis and Goadrich 2006)",
    "average_precision": "average precision, a step at every positive",
    "upper_trapezoid": "the upper trapezoid rule, anchored at precision 1 (Boyd et al. 2013)",
    "interpolated_max": "exact segments through the largest precision at each recall (Boyd et al. 2013)",
    "interpolated_mean": "exact segments through the mean precision at each recall (Boyd et al. 2013)",
    "interpolated_median": "exact segments through the median precision at each recall (Boyd et al. 2013)",
    "convex_hull": "exact segments along the convex hull of the ROC curve",
}


#: BibTeX fields with the place of publication; a reference uses its first.
VENUES = ("journal", "booktitle", "publisher", "howpublished")


@dataclass(frozen=True)
class Reference:
    """A work by its BibTeX entry; a text cites it by the surname of its first author."""

    key: str
    entry: str

    @cached_property
    def fields(self) -> dict[str, str]:
        """Fields of the entry by name, as Unicode text."""
        entry = self.entry
        for command, sign in {"{\\'\\i}": "\u00ed", "{\\v s}": "\u0161", "\\&": "&"}.items():
            entry = entry.replace(command, sign)
        return dict(re.findall(r"^  (\w+) = \{+(.*?)\}+,$", entry, flags=re.MULTILINE))

    @property
    def surname(self) -> str:
        """Surname of the first author."""
        return self.fields["author"].split(",")[0]

    @property
    def year(self) -> int:
        """Year of publication."""
        return int(self.fields["year"])

    def to_text(self) -> str:
        """Return the reference as one line of text."""
        fields = self.fields
        venue = next(fields[name] for name in VENUES if name in fields)
        volume = f" {fields['volume']}" if "volume" in fields else ""
        pages = f", {fields['pages'].replace('--', chr(0x2013))}" if "pages" in fields else ""
        authors = fields["author"].replace(" and ", "; ")
        return f"{authors} ({self.year}). {fields['title']}. {venue}{volume}{pages}."


_BIBLIOGRAPHY = (resources.files("skewanova.report") / "references.bib").read_text(encoding="ascii")


#: Works in ``references.bib``, sorted by key.
REFERENCES = tuple(
    Reference(re.split("[{,]", entry)[1], entry)
    for entry in _BIBLIOGRAPHY.replace("VERSION", version("skewanova")).strip().split("\n\n")
)


_SOFTWARE_YEAR = next(each.year for each in REFERENCES if each.key == "skewanova")


@dataclass(frozen=True)
class Prose:
    """Paragraphs for a paper as text, Markdown or LaTeX, with the works that they cite.

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
        """Works cited, by author."""
        return find_references(self.paragraphs)

    def to_markdown(self) -> str:
        """Return Markdown, with all special characters escaped."""
        return "\n\n".join(map(escape_markdown, self.paragraphs))

    def to_latex(self) -> str:
        r"""Return LaTeX, with a ``\\cite`` after the first mention of each work in `to_bibtex`."""
        text = "\n\n".join(map(escape_latex, self.paragraphs)) + "\n"
        for reference in self.references:
            surname = re.escape(escape_latex(reference.surname)).replace("\u0161", "[\u0161s]")
            mention = rf"{surname}[^.;]{{0,60}}?(?:al\.[^.;]{{0,8}})?{reference.year}\)?"
            text = re.sub(mention, rf"\g<0>~\\cite{{{reference.key}}}", text, count=1)
        return text

    def to_bibtex(self) -> str:
        """Return the works cited as BibTeX."""
        return write_bibtex(self.references)


def write_methods(source: ReportSource) -> list[str]:
    """Write the methods section, with the tests that the conclusions rest on."""
    frames = [frame.loc[frame["role"] == "primary", "test"] for frame in (source.tests, source.pairs)]
    paragraphs = fill_methods(
        source.design,
        pd.concat(frames),
        estimator=str(source.settings["area_estimator"]),
        deployment_prior=str(source.settings["deployment_prior"]),
        alpha=source.alpha,
        trusted=source.verdict.is_trusted,
        state=source.verdict.state,
    )
    return [*paragraphs, _write_setup(source)]


def _write_setup(source: ReportSource) -> str:
    """Write the paragraph on design, sizes of folds, software and seed."""
    sizes = [_format_sizes(source.tables["iauprec"][column]) for column in ("n_positive", "n_negative")]
    each = "It" if source.design.is_test_set else "Each run" if source.design.has_runs else "Each fold"
    seed = source.settings["seed"]
    generator = "a random generator" if seed is None else f"seed {seed}"
    return (
        f"Design: {source.design.describe()}. {each} tests {sizes[0]} positives and {sizes[1]} negatives. "
        f"Software: skewanova {version('skewanova')} (The skewanova developers {_SOFTWARE_YEAR}), "
        f"{generator}."
    )


def _format_sizes(values: pd.Series[float]) -> str:
    """Format the smallest and the largest value, or one if they are equal."""
    low, high = values.min(), values.max()
    return f"{low:,.6g}" if low == high else f"{low:,.6g} to {high:,.6g}"


def fill_methods(design: FoldDesign, tests: Iterable[str], *, estimator: str, **words: Any) -> list[str]:
    """Fill in the paragraphs on curves and on tests; `words` are the others that the template needs."""
    words["estimator"] = ESTIMATORS[estimator]
    words["primary"] = [get_test(test).methods for test in dict.fromkeys(tests)]
    words["fixed_runs"] = design.has_runs and design.runs == "fixed"
    return [fill_template("methods", block, design=design, **words) for block in ("curves", "tests")]


def find_references(paragraphs: Iterable[str]) -> list[Reference]:
    """Return the references whose first author is in the text, sorted by key."""
    text = " ".join(paragraphs).replace("Demsar", "Dem\u0161ar")
    first = re.sub(r"(\b[A-Z]\w+) and [A-Z]\w+", r"\1", text)  # drop second authors
    result = [reference for reference in REFERENCES if reference.surname in first]
    surnames = [reference.surname for reference in result]
    return [each for each in result if surnames.count(each.surname) == 1 or str(each.year) in text]


def write_bibtex(references: Iterable[Reference]) -> str:
    """Write the entries as one BibTeX file."""
    return "\n\n".join(reference.entry for reference in references) + "\n"
