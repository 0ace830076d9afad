"""Every test once: its name, how to read it, how a paper describes it, what it needs and where it holds.

A new test is a record here and a function: in `omnibus` for all models at once, in `pairwise` for pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
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
    pairs : str
        The test of pairs on its residual mean square.
    full_rank, draws, control, ranks, adjusted : bool
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
    pairs: str = ""
    full_rank: bool = False
    draws: bool = False
    control: bool = False
    ranks: bool = False
    adjusted: bool = False

    @property
    def corrected(self) -> bool:
        """Whether it needs the ratio of test to training cases."""
        return self.designs == OVERLAPPING

    @property
    def halved(self) -> bool:
        """Whether it needs halvings of the data set."""
        return self.designs == SPLIT_HALF

    @property
    def over(self) -> str:
        """What varies: ``folds`` or ``cases``."""
        return "cases" if self.designs in (TEST_SET, RUNS_DESIGN) else "folds"

    def applies_to(self, design: str) -> bool:
        """Whether it is worth a row for folds of this kind: a correction is for what it corrects."""
        return not (self.corrected or self.halved) or design in self.designs


_TWO_WAY_NOTE = (
    "As published. Valid when folds are independent; on repeated splits of one data set it rejects true "
    "equality far too often (in 67 % of simulated studies at level .05, with 20 hold-outs of 20 %)."
)


_THREE_WAY_NOTE = (
    "As published. Not a valid test of the models: it counts one ROC once for each prior, so p shrinks "
    "as priors are added (it rejects true equality in 44 % of simulated studies at level .05 with 3 "
    "priors and independent folds, in 95 % with 16). Read it as a description."
)


#: How an interval of one area may be made.
INTERVALS = ("auto", "jackknife", "wilson", "binomial", "logit", "bootstrap", "bca", "cross_validation")


#: What records share: adjusted t tests of pairs, the paper's analyses, its analyses of three factors.
_t = partial(TestInfo, statistic="t", adjusted=True)
_published = partial(TestInfo, published=True)
_over_three = partial(_published, note=_THREE_WAY_NOTE, designs=())


#: Tests of pairs whose p-values are adjusted for the family, by the word for the method.
METHODS: Mapping[str, TestInfo] = {
    "paired_t": _t(
        "Paired t",
        "paired t tests of every pair",
        "Valid when folds are independent, whatever the models' spreads.",
    ),
    "corrected_t": _t(
        "corrected paired t",
        "paired t tests of every pair with Nadeau and Bengio's (2003) variance",
        "Allows for folds that share training data (Nadeau and Bengio 2003).",
        designs=OVERLAPPING,
    ),
    "split_half_t": _t(
        "split-half t",
        "t tests of every pair with the split-half variance, on as many degrees of freedom as there are "
        "halvings",
        "By the variance that halves of the data set show, whatever the learner.",
        designs=SPLIT_HALF,
    ),
    "wilcoxon": TestInfo(
        "Wilcoxon",
        "signed ranks of every pair",
        "On signed ranks. Valid when folds are independent.",
        statistic="W",
        ranks=True,
        adjusted=True,
    ),
    "jackknife": _t(
        "paired t over cases of one test set",
        "t tests of every pair with the same covariance",
        "About these fitted models on further cases: t of the differences over cases.",
        designs=TEST_SET,
    ),
    "obuchowski_rockette": _t(
        "Obuchowski-Rockette t over runs and cases",
        "the same test of every pair on its two models alone",
        "t of the differences over runs and cases: about further runs and further cases.",
        designs=RUNS_DESIGN,
    ),
}


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
        record = replace(test, name=name, methods=methods, note=note, control=control)
        records[name_family(method, p_adjust, control=control)] = record
    return records


#: Every test by the word that the column `test` has for it.
TESTS: Mapping[str, TestInfo] = {
    "two_way": _published(
        "2-way ANOVA",
        "2-way analysis of variance of IAUPREC with the factors model and fold, the folds as blocks "
        "(Landgrebe et al. 2006, section 5)",
        _TWO_WAY_NOTE,
        pairs="tukey",
    ),
    "three_way": _over_three(
        "3-way ANOVA",
        "3-way analysis of variance of AUPREC with the factors model, fold and prior (Landgrebe et al. 2006, "
        "sections 5 and 6)",
        pairs="tukey_three_way",
    ),
    "three_way_interaction": _over_three(
        "3-way ANOVA, model x prior",
        "the 3-way analysis with the interaction of model and prior",
    ),
    "three_way_thresholds": _published(
        "3-way ANOVA, thresholds",
        "3-way analysis of variance of precision with the factors model, prior and recall (Landgrebe et al. "
        "2006, section 1)",
        "As the paper's introduction has it. Not a valid test: points of one curve count as observations of "
        "their own.",
        designs=(),
    ),
    "repeated_measures": TestInfo(
        "repeated-measures F (Greenhouse-Geisser)",
        "repeated measures with Greenhouse and Geisser's (1959) degrees of freedom",
        "Models against model:fold with Greenhouse and Geisser's degrees of freedom. Valid when folds are "
        "independent (simulated rate of rejecting true equality at level .05: .04).",
    ),
    "hotelling": TestInfo(
        "Hotelling T2",
        "Hotelling's (1931) T2 of the contrasts between models",
        "Hotelling's T2 on contrasts between models. Valid when folds are independent.",
        full_rank=True,
    ),
    "friedman": TestInfo(
        "Friedman, Iman-Davenport F",
        "Friedman's ranks by the F of Iman and Davenport (1980)",
        "Friedman's ranks with Iman and Davenport's F. Valid when folds are independent.",
        ranks=True,
    ),
    "sign_flip": TestInfo(
        "Sign flips of fold profiles",
        "sign flips of whole fold profiles",
        "Sign flips of whole fold profiles. Valid when folds are independent and symmetric.",
        draws=True,
    ),
    "permutation": TestInfo(
        "Permutation of models within folds",
        "permutation of models within folds",
        "Permutation of models within folds. Valid when folds are independent and models spread alike.",
        draws=True,
    ),
    "mixed": TestInfo(
        "Mixed model",
        "a mixed model with random folds",
        "Mixed model with random folds, for tables with missing cells. Valid when folds are independent.",
    ),
    "corrected_f": TestInfo(
        "corrected 2-way F",
        "the 2-way F divided by 1 + J r, for J folds with r test cases for each training case (Nadeau and "
        "Bengio 2003, extended to several models)",
        "2-way F corrected for shared training data (Nadeau and Bengio 2003).",
        designs=OVERLAPPING,
    ),
    "corrected_gg": TestInfo(
        "corrected Greenhouse-Geisser F",
        "the repeated-measures F with Greenhouse and Geisser's (1959) degrees of freedom, divided by 1 + J r",
        "2-way F with Greenhouse and Geisser's degrees of freedom, corrected for shared training data "
        "(Nadeau and Bengio 2003; simulated rate of rejecting true equality at level .05: .05 or less with "
        "stable learners, up to .11 with unstable ones on 80/20 splits).",
        designs=OVERLAPPING,
    ),
    "corrected_hotelling": TestInfo(
        "corrected Hotelling T2",
        "Hotelling's (1931) T2 of the contrasts between models divided by 1 + J r, for J folds with r test "
        "cases for each training case (Nadeau and Bengio 2003, extended to several models)",
        "Hotelling's T2 on contrasts between models, corrected for shared training data (Nadeau and Bengio "
        "2003; simulated rate of rejecting true equality at level .05: .05 with stable learners, up to .11 "
        "with unstable ones on 80/20 splits).",
        designs=OVERLAPPING,
        full_rank=True,
    ),
    "split_half_gg": TestInfo(
        "split-half Greenhouse-Geisser F",
        "the sum of squares of the contrasts between mean models over its expectation under the split-half "
        "variance, with Greenhouse and Geisser's (1959) epsilon on as many degrees of freedom as there are "
        "halvings",
        "All models by the variance that halves of the data set show, for many models. Holds whatever the "
        "learner, if halving the data doubles the variance.",
        designs=SPLIT_HALF,
    ),
    "split_half_hotelling": TestInfo(
        "split-half Hotelling T2",
        "Hotelling's (1931) T2 of the contrasts between mean models with the split-half variance, V + S/J: V "
        "the mean square of half the difference between models cross-validated in two random halves of the "
        "data set, S the covariance over the J hold-outs, on as many degrees of freedom as there are "
        "halvings",
        "All models by the variance that halves of the data set show. Holds whatever the learner, if halving "
        "the data doubles the variance (docs/tests.md has the measured rates).",
        designs=SPLIT_HALF,
        full_rank=True,
    ),
    "obuchowski_rockette": TestInfo(
        "Obuchowski-Rockette F over runs and cases",
        "Obuchowski and Rockette's (1995) F of models, runs and cases both being random, with the jackknife "
        "covariance of the areas over cases, as Hillis (2007) has it, Greenhouse and Geisser's factor and "
        "degrees of freedom by Banerjee's (1961) bound",
        "F test of the models' mean areas where all runs test the same cases: about further runs and further "
        "cases.",
        designs=RUNS_DESIGN,
    ),
    "jackknife": TestInfo(
        "F over cases of one test set",
        "F test of equal IAUPREC over the cases of the test set, with the jackknife covariance of the areas "
        "on the angular scale (DeLong, DeLong and Clarke-Pearson 1988, carried to AUPREC) and "
        "Satterthwaite's (1946) degrees of freedom",
        "F test of the models' areas on the same cases, with their jackknife covariance on the angular scale "
        "(DeLong's idea carried to AUPREC). It is about these fitted models on further cases, not about "
        "training them again.",
        designs=TEST_SET,
    ),
    "max_t": TestInfo(
        "Step-down max-T, sign flips",
        "step-down max-T under sign flips of whole fold profiles (Westfall and Young 1993)",
        "Valid when folds are independent and their profiles symmetric, whatever the models' spreads.",
        statistic="t",
        draws=True,
    ),
    "games_howell": TestInfo(
        "Games-Howell on paired differences",
        "paired differences with their own standard errors and the studentized range (Games and Howell 1976)",
        "Rejects too often with few folds (.08 at level .05 with 5 folds and 4 models).",
        statistic="t",
    ),
    "nemenyi": TestInfo(
        "Nemenyi",
        "Nemenyi's test of mean ranks (Demsar 2006)",
        "On mean ranks. Valid when folds are independent; a further model changes the others' ranks.",
        statistic="z",
        ranks=True,
    ),
    "dunnett": TestInfo(
        "Dunnett against the control",
        "Dunnett's (1955) comparisons with the control on the 2-way residual mean square",
        "Against the control. Valid when folds are independent and models spread alike.",
        statistic="t",
        control=True,
    ),
    "tukey": _published(
        "Tukey HSD, 2-way mean square",
        "Tukey's honestly significant differences on the residual mean square of the 2-way analysis, so that "
        "the variation between folds is taken out; at each prior likewise (Tukey 1949, Kramer 1956)",
        _TWO_WAY_NOTE,
        statistic="q",
    ),
    "tukey_three_way": _over_three(
        "Tukey HSD, 3-way mean square",
        "the same on the residual mean square of the 3-way analysis",
        statistic="q",
    ),
    **_families(),
}


#: How the p-values of a family can be adjusted.
ADJUSTMENTS = tuple(ADJUSTED)


#: Families of pairs over folds that can be asked for: that of the design, any other, the paper's.
PAIRS = (
    "auto",
    *(method for method, test in METHODS.items() if test.over == "folds"),
    *("max_t", "games_howell", "nemenyi", "dunnett", "tukey"),
)


def get_test(test: str) -> TestInfo:
    """Return the record of a test; a test of somebody else's has but its name."""
    return TESTS.get(test) or METHODS.get(test) or TestInfo(name=test, methods=test)


def response_name(response: str) -> str:
    """What a measure is called in tables, sentences and plots."""
    return RESPONSE_NAMES.get(response, response)


def name_test(row: Any) -> str:
    """A test and what it tests, of a row of a frame: "2-way ANOVA of IAUPREC"."""
    return f"{get_test(row.test).name} of {response_name(row.response)}"
