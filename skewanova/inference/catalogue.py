"""Every test once: its name, how to read it, how a paper describes it, what it needs and where it holds.

A new test is a record in ``catalogue.toml`` and a function: in `omnibus` for all models at once, in
`pairwise` for pairs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from importlib import resources
from itertools import product
from typing import Any

RESPONSE_NAMES = {
    "iauprec": "IAUPREC",
    "iauprec_supported": "IAUPREC over supported priors",
    "auprec": "AUPREC",
    "auc": "AUC",
    "precision": "precision",
}


#: Designs by how their folds depend on each other.
INDEPENDENT = ("independent",)
OVERLAPPING = ("kfold", "repeated_kfold", "repeated_holdout", "split_half")
SPLIT_HALF = ("split_half",)
TEST_SET = ("test_set",)
RUNS_DESIGN = ("runs",)


@dataclass(frozen=True)
class TestInfo:
    """One test, of all models at once or of pairs.

    Attributes
    ----------
    name, methods, note : str
        What tables, sentences and plots call it; how a paper describes it; how it may be read.
    designs : tuple of str
        Kinds of :class:`~skewanova.FoldDesign` for which it holds its level.
    statistic : str
        Sign of its statistic.
    published : bool
        Whether it is the paper's.
    posthoc_test : str
        The test of pairs on its residual mean square.
    needs_full_rank, needs_draws, needs_control, uses_ranks, needs_adjustment : bool
        Whether it needs differences that vary on their own, random arrangements, a control; whether it looks
        at ranks alone; whether its p-values stand alone until they are adjusted for the family.
    """

    name: str
    methods: str = ""
    note: str = ""
    _: KW_ONLY
    designs: tuple[str, ...] = INDEPENDENT
    statistic: str = "F"
    published: bool = False
    posthoc_test: str = ""
    needs_full_rank: bool = False
    needs_draws: bool = False
    needs_control: bool = False
    uses_ranks: bool = False
    needs_adjustment: bool = False

    @property
    def needs_ratio(self) -> bool:
        """True if it needs the ratio of test to training cases."""
        return self.designs == OVERLAPPING

    @property
    def needs_halvings(self) -> bool:
        """True if it needs halvings of the data set."""
        return self.designs == SPLIT_HALF

    @property
    def sampling_unit(self) -> str:
        """Sampling units: ``folds`` or ``cases``."""
        return "cases" if self.designs in (TEST_SET, RUNS_DESIGN) else "folds"

    def applies_to(self, design: str) -> bool:
        """Return True if the test applies to folds of this kind."""
        return not (self.needs_ratio or self.needs_halvings) or design in self.designs


#: How an interval of one area may be made.
INTERVALS = ("auto", "jackknife", "wilson", "binomial", "logit", "bootstrap", "bca", "cross_validation")


#: Groups of designs by the word that the records have for them.
DESIGN_GROUPS = {
    "independent": INDEPENDENT,
    "overlapping": OVERLAPPING,
    "split_half": SPLIT_HALF,
    "test_set": TEST_SET,
    "runs": RUNS_DESIGN,
    "none": (),
}


def _read_records() -> dict[str, dict[str, TestInfo]]:
    """Read the records of tests of pairs to be adjusted, and of all other tests."""
    text = resources.files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8")
    return {
        table: {
            key: TestInfo(**{**record, "designs": DESIGN_GROUPS[record.get("designs", "independent")]})
            for key, record in records.items()
        }
        for table, records in tomllib.loads(text).items()
    }


_RECORDS = _read_records()
#: Tests of pairs whose p-values are adjusted for the family, by the word for the method.
METHODS: Mapping[str, TestInfo] = _RECORDS["methods"]


#: Adjustments by name, as a title and as a paper describes them.
ADJUSTED = {
    "holm": ("Holm", "adjusted by Holm (1979)"),
    "bonferroni": ("Bonferroni", "adjusted by Bonferroni's inequality"),
    "hochberg": ("Hochberg", "adjusted by the step-up procedure of Hochberg (1988)"),
    "bh": (
        "Benjamini-Hochberg",
        "adjusted so that the expected share of false findings is held (Benjamini and Hochberg 1995)",
    ),
}


def name_family(method: str, p_adjust: str, *, control: bool = False) -> str:
    """Word of the column `test` for a method with its adjustment, of all pairs or of those with a control."""
    return method + (f"_{p_adjust}" if p_adjust else "") + ("_control" if p_adjust and control else "")


def _families() -> dict[str, TestInfo]:
    """Every method with every adjustment, of all pairs and of those with a control."""
    records = {}
    ways = product(METHODS.items(), ADJUSTED.items(), (False, True))
    for (method, test), (p_adjust, (title, words)), control in ways:
        name, methods, note = f"{test.name}, {title}", f"{test.methods}, {words}", test.note
        if control:
            name += ", against the control"
            methods = methods.replace("every pair", "every other model with the control")
            note = f"Against the control. {note}"
        record = replace(test, name=name, methods=methods, note=note, needs_control=control)
        records[name_family(method, p_adjust, control=control)] = record
    return records


#: Every test by the word that the column `test` has for it.
TESTS: Mapping[str, TestInfo] = {**_RECORDS["tests"], **_families()}


#: How the p-values of a family can be adjusted.
ADJUSTMENTS = tuple(ADJUSTED)


#: Families of pairs over folds that can be asked for: that of the design, any other, the paper's.
PAIRS = (
    "auto",
    *(method for method, test in METHODS.items() if test.sampling_unit == "folds"),
    *("max_t", "games_howell", "nemenyi", "dunnett", "tukey"),
)


def get_test(test: str) -> TestInfo:
    """Return the record of a test; a test of somebody else's has but its name."""
    return TESTS.get(test) or METHODS.get(test) or TestInfo(name=test, methods=test)


def response_name(response: str) -> str:
    """Return the name of a measure in tables, sentences and plots."""
    return RESPONSE_NAMES.get(response, response)


def name_test(row: Any) -> str:
    """Return a test and what it tests, of a row of a frame: "2-way ANOVA of IAUPREC"."""
    return f"{get_test(row.test).name} of {response_name(row.response)}"
