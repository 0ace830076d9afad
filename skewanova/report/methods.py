"""Methods ready to paste, with references and BibTeX."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skewanova.inference.catalogue import known

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


@dataclass(frozen=True)
class Reference:
    """One work; it is cited where the surname of its first author stands in the text."""

    key: str
    kind: str
    author: str
    title: str
    year: int
    where: tuple[tuple[str, str], ...]

    @property
    def surname(self) -> str:
        """Of the first author, as the text has it."""
        return self.author.split(",")[0]

    def to_text(self) -> str:
        """Return the reference as a line."""
        fields = dict(self.where)
        place = fields.get("journal") or fields.get("booktitle") or fields["publisher"]
        volume = f" {fields['volume']}" if "volume" in fields else ""
        pages = f", {fields['pages'].replace('--', chr(0x2013))}" if "pages" in fields else ""
        return f"{self.author.replace(' and ', '; ')} ({self.year}). {self.title}. {place}{volume}{pages}."

    def to_bibtex(self) -> str:
        """Return the entry for BibTeX."""
        head = [("author", self.author), ("title", f"{{{self.title}}}"), ("year", str(self.year))]
        lines = [f"  {name} = {{{_ascii(value)}}}," for name, value in [*head, *self.where]]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


def _article(key: str, author: str, title: str, where: str) -> Reference:
    year, journal, volume, number, pages = where.split("; ")
    fields = (("journal", journal), ("volume", volume), ("number", number), ("pages", pages))
    given = tuple((name, value) for name, value in fields if value)
    return Reference(key, "article", author, title, int(year), given)


def _ascii(text: str) -> str:
    """Accents as TeX writes them, for BibTeX knows no other."""
    for sign, written in {"\u00ed": "{\\'\\i}", "\u0161": "{\\v s}", "&": "\\&"}.items():
        text = text.replace(sign, written)
    return text


REFERENCES = (
    Reference(
        "boyd2013", "inproceedings", "Boyd, Kendrick and Eng, Kevin H. and Page, C. David",
        "Area under the precision-recall curve: point estimates and confidence intervals", 2013,
        (("booktitle", "Machine Learning and Knowledge Discovery in Databases (ECML PKDD 2013)"),
         ("series", "Lecture Notes in Computer Science"), ("volume", "8190"), ("pages", "451--466")),
    ),
    _article(
        "corani2015", "Corani, Giorgio and Benavoli, Alessio",
        "A Bayesian approach for comparing cross-validated algorithms on multiple data sets",
        "2015; Machine Learning; 100; 2--3; 285--304",
    ),
    Reference(
        "davis2006", "inproceedings", "Davis, Jesse and Goadrich, Mark",
        "The relationship between precision-recall and ROC curves", 2006,
        (("booktitle", "Proceedings of the 23rd International Conference on Machine Learning"),
         ("pages", "233--240")),
    ),
    _article(
        "delong1988", "DeLong, Elizabeth R. and DeLong, David M. and Clarke-Pearson, Daniel L.",
        "Comparing the areas under two or more correlated receiver operating characteristic curves: a "
        "nonparametric approach",
        "1988; Biometrics; 44; 3; 837--845",
    ),
    _article(
        "demsar2006", "Dem\u0161ar, Janez", "Statistical comparisons of classifiers over multiple data sets",
        "2006; Journal of Machine Learning Research; 7; ; 1--30",
    ),
    _article(
        "dunnett1955", "Dunnett, Charles W.",
        "A multiple comparison procedure for comparing several treatments with a control",
        "1955; Journal of the American Statistical Association; 50; 272; 1096--1121",
    ),
    _article(
        "friedman1937", "Friedman, Milton",
        "The use of ranks to avoid the assumption of normality implicit in the analysis of variance",
        "1937; Journal of the American Statistical Association; 32; 200; 675--701",
    ),
    _article(
        "games1976", "Games, Paul A. and Howell, John F.",
        "Pairwise multiple comparison procedures with unequal N's and/or variances: a Monte Carlo study",
        "1976; Journal of Educational Statistics; 1; 2; 113--125",
    ),
    _article(
        "greenhouse1959", "Greenhouse, Samuel W. and Geisser, Seymour",
        "On methods in the analysis of profile data",
        "1959; Psychometrika; 24; 2; 95--112",
    ),
    _article(
        "holm1979", "Holm, Sture", "A simple sequentially rejective multiple test procedure",
        "1979; Scandinavian Journal of Statistics; 6; 2; 65--70",
    ),
    _article(
        "hotelling1931", "Hotelling, Harold", "The generalization of Student's ratio",
        "1931; The Annals of Mathematical Statistics; 2; 3; 360--378",
    ),
    _article(
        "iman1980", "Iman, Ronald L. and Davenport, James M.",
        "Approximations of the critical region of the Friedman statistic",
        "1980; Communications in Statistics - Theory and Methods; 9; 6; 571--595",
    ),
    _article(
        "kramer1956", "Kramer, Clyde Young",
        "Extension of multiple range tests to group means with unequal numbers of replications",
        "1956; Biometrics; 12; 3; 307--310",
    ),
    Reference(
        "landgrebe2006", "inproceedings",
        "Landgrebe, Thomas C. W. and Pacl\u00edk, Pavel and Duin, Robert P. W. and Bradley, Andrew P.",
        "Precision-recall operating characteristic (P-ROC) curves in imprecise environments", 2006,
        (("booktitle", "18th International Conference on Pattern Recognition (ICPR 2006)"), ("volume", "4"),
         ("pages", "123--127"), ("doi", "10.1109/ICPR.2006.941")),
    ),
    _article(
        "nadeau2003", "Nadeau, Claude and Bengio, Yoshua", "Inference for the generalization error",
        "2003; Machine Learning; 52; 3; 239--281",
    ),
    _article(
        "piepho2004", "Piepho, Hans-Peter",
        "An algorithm for a letter-based representation of all-pairwise comparisons",
        "2004; Journal of Computational and Graphical Statistics; 13; 2; 456--466",
    ),
    _article(
        "satterthwaite1946", "Satterthwaite, Franklin E.",
        "An approximate distribution of estimates of variance components",
        "1946; Biometrics Bulletin; 2; 6; 110--114",
    ),
    _article(
        "tukey1949", "Tukey, John W.", "Comparing individual means in the analysis of variance",
        "1949; Biometrics; 5; 2; 99--114",
    ),
    Reference(
        "westfall1993", "book", "Westfall, Peter H. and Young, S. Stanley",
        "Resampling-based multiple testing: examples and methods for p-value adjustment", 1993,
        (("publisher", "Wiley"), ("address", "New York")),
    ),
)  # fmt: skip


def methods_text(
    *, area_estimator: str, deployment_prior: str, alpha: float, tests: Iterable[str], one_set: bool = False
) -> list[str]:
    """Return the paragraphs of a section on methods."""
    named = "; ".join(known(test).methods for test in dict.fromkeys(tests))
    scored = _ONE_SET_SCORED if one_set else _FOLDS_SCORED
    ranked = "it" if one_set else "its mean over folds"
    return [
        f"{scored} one ROC curve, tied scores together, and with it the precision at any prior p of "
        "the positive class: p TPR / (p TPR + (1 - p) FPR) (Landgrebe et al. 2006). AUPREC is the area "
        "under that precision against recall (TPR), here by "
        f"{ESTIMATORS.get(area_estimator, area_estimator)}. Ranking at random scores the prior, a perfect "
        "ranking 1.",
        f"IAUPREC is the mean of AUPREC over the deployment prior, here {deployment_prior}. Models are "
        f"ranked by {ranked}.",
        f"Tests, at level {alpha:g}: {named}. {_ONE_SET_REST if one_set else _FOLDS_REST}",
        f"{_ONE_SET_READING if one_set else _FOLDS_READING} Letters follow Piepho (2004).",
    ]


_FOLDS_SCORED = "Every model was scored on the same held-out cases, fold by fold. Each fold's scores give"


_ONE_SET_SCORED = "Every model was scored on the same cases of one test set. Its scores there give"


_FOLDS_REST = (
    "Probabilities of practical equivalence are those of the Bayesian correlated t test (Corani and Benavoli "
    "2015). Bands of difference curves use the joint distribution of all t statistics along the prior."
)


_FOLDS_READING = (
    "The breakdown correlation of a finding is the correlation between folds at which it would be lost: "
    "folds that share training data are correlated, and a test that takes them as independent rejects too "
    "often (Nadeau and Bengio 2003)."
)


_ONE_SET_REST = (
    "Probabilities of practical equivalence are those of a t posterior of each pair's difference under a "
    "flat prior. Bands of difference curves use the joint distribution, over cases, of all statistics along "
    "the prior."
)


_ONE_SET_READING = (
    "The tests are about these fitted models on further cases like those of the test set, not about training "
    "them again."
)


def cited(paragraphs: Iterable[str]) -> list[Reference]:
    """Return the references whose first author stands in the text, by name."""
    text = " ".join(paragraphs).replace("Demsar", "Dem\u0161ar")
    return [reference for reference in REFERENCES if reference.surname in text]


def bibtex(references: Iterable[Reference]) -> str:
    """Return the file for BibTeX."""
    return "\n\n".join(reference.to_bibtex() for reference in references) + "\n"
