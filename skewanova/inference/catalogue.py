"""Names, descriptions and requirements of all tests.

A new test is a record in ``catalogue.toml``, and a function in `omnibus` (all models) or `pairwise` (pairs).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from importlib import resources
from itertools import product
from typing import Any

RESPONSE_TITLES = {
    "iauprec": "IAUPREC",
    "iauprec_supported": "IAUPREC over supported priors",
    "auprec": "AUPREC",
    "auc": "AUC",
    "precision": "precision",
}


#: Groups of designs, by how their folds depend on each other.
DESIGN_GROUPS = {
    "independent": ("independent",),
    "overlapping": ("kfold", "repeated_kfold", "repeated_holdout", "split_half"),
    "split_half": ("split_half",),
    "test_set": ("test_set",),
    "runs": ("runs",),
    "none": (),
}


@dataclass(frozen=True)
class TestInfo:
    """One test, of all models at once or of pairs.

    Attributes
    ----------
    name, methods, note : str
        Title in tables, sentences and plots; description for a paper; note on interpretation.
    group, statistic : str
        Group of designs for which the test has its nominal level; symbol of the test statistic.
    published : bool
        Whether the test is from the paper.
    posthoc_test : str
        Test of pairs that uses the residual mean square of this test.
    needs_full_rank, needs_draws, needs_control, uses_ranks, needs_adjustment : bool
        Whether the test needs a covariance of full rank, random arrangements, a control, or an adjustment of
        its p-values for the family; whether it uses ranks only.
    """

    name: str
    methods: str = ""
    note: str = ""
    _: KW_ONLY
    group: str = "independent"
    statistic: str = "F"
    published: bool = False
    posthoc_test: str = ""
    needs_full_rank: bool = False
    needs_draws: bool = False
    needs_control: bool = False
    uses_ranks: bool = False
    needs_adjustment: bool = False

    @property
    def designs(self) -> tuple[str, ...]:
        """Kinds of fold design, such as ``kfold``, for which the test has its nominal level."""
        return DESIGN_GROUPS[self.group]

    @property
    def needs_ratio(self) -> bool:
        """True if the test needs the ratio of test to training cases."""
        return self.group == "overlapping"

    @property
    def needs_halvings(self) -> bool:
        """True if the test needs halvings of the data set."""
        return self.group == "split_half"

    @property
    def sampling_unit(self) -> str:
        """Sampling unit of the test, ``folds`` or ``cases``."""
        return "cases" if self.group in ("test_set", "runs") else "folds"

    def applies_to(self, design: str) -> bool:
        """Return True unless the test needs a ratio or halvings and is not meant for this design."""
        return not (self.needs_ratio or self.needs_halvings) or design in self.designs


#: Methods for the intervals of a table, and those for the interval of one area.
TABLE_INTERVALS = ("auto", "jackknife", "wilson", "binomial", "logit", "bootstrap", "bca")
INTERVALS = (*TABLE_INTERVALS, "cross_validation")


_RECORDS = {
    table: {key: TestInfo(**record) for key, record in records.items()}
    for table, records in tomllib.loads(
        resources.files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8")
    ).items()
}


#: Tests of pairs whose p-values are adjusted for the family, by method.
ADJUSTABLE_TESTS: Mapping[str, TestInfo] = _RECORDS["methods"]


#: Titles of the adjustments, and their descriptions for a paper.
ADJUSTMENT_TITLES = {
    "holm": ("Holm", "adjusted by Holm (1979)"),
    "bonferroni": ("Bonferroni", "adjusted by Bonferroni's inequality"),
    "hochberg": ("Hochberg", "adjusted by the step-up procedure of Hochberg (1988)"),
    "bh": (
        "Benjamini-Hochberg",
        "adjusted so that the expected share of false findings is held (Benjamini and Hochberg 1995)",
    ),
}


def name_family(method: str, p_adjust: str, *, control: bool = False) -> str:
    """Return the entry of column `test`, as ``corrected_t_holm_control``; `method` if `p_adjust` is ""."""
    return method + (f"_{p_adjust}" if p_adjust else "") + ("_control" if p_adjust and control else "")


def _make_adjusted_tests() -> dict[str, TestInfo]:
    """Return a dict from `name_family` to the record of each method, adjustment and use of a control."""
    records = {}
    ways = product(ADJUSTABLE_TESTS.items(), ADJUSTMENT_TITLES.items(), (False, True))
    for (method, test), (p_adjust, (title, words)), control in ways:
        name, methods, note = f"{test.name}, {title}", f"{test.methods}, {words}", test.note
        if control:
            name += ", against the control"
            methods = methods.replace("every pair", "every other model with the control")
            note = f"Against the control. {note}"
        record = replace(test, name=name, methods=methods, note=note, needs_control=control)
        records[name_family(method, p_adjust, control=control)] = record
    return records


#: All tests by their value in the column `test`.
TESTS: Mapping[str, TestInfo] = {**_RECORDS["tests"], **_make_adjusted_tests()}


#: Adjustments of the p-values of a family.
ADJUSTMENTS = tuple(ADJUSTMENT_TITLES)


#: Choices for the family of pairs over folds: by the design, any other, the paper's.
PAIRWISE_CHOICES = (
    "auto",
    *(method for method, test in ADJUSTABLE_TESTS.items() if test.sampling_unit == "folds"),
    *("max_t", "games_howell", "nemenyi", "dunnett", "tukey"),
)


def get_test(test: str) -> TestInfo:
    """Return the record of a test or method, else a record of this name and defaults (independent folds)."""
    return TESTS.get(test) or ADJUSTABLE_TESTS.get(test) or TestInfo(name=test, methods=test)


def name_response(response: str) -> str:
    """Return the title of a measure in tables, sentences and plots, such as "IAUPREC"; others unchanged."""
    return RESPONSE_TITLES.get(response, response)


def name_test(row: Any) -> str:
    """Return the title of test and measure, without a prior, of a row, such as "2-way ANOVA of IAUPREC"."""
    return f"{get_test(row.test).name} of {name_response(row.response)}"
