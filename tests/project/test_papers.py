"""The table of the five documents: nothing is missing, every claim holds, and the page is not stale."""

import re
import sys
from pathlib import Path

import pytest
from loops import each
from messages import expect_error

pytestmark = pytest.mark.no_cover  # the package's lines have tests of their own

pytest.importorskip("sklearn")

ROOT = Path(__file__).resolve().parents[2]
# what the documents number or name, by the word that the table must have for it
REQUIRED = {
    "Landgrebe et al. (2006)": [*("skew", "accuracy and error rate", "recall", "precision and NPV", "Posfrac",
                                  "F-measure"), *(f"eq. {n}" for n in range(1, 6)),
                                *("limited range", "figure 1", "figure 2, top", "figure 2, bottom", "surface",
                                  "integrated across"),
                                *("model A", "model B", "model C", "standard deviations", "superior",
                                  "stable"), *("2-way ANOVA", "483.85", "three priors", "priors that differ"),
                                *("Friedman", "thresholds", "sensitive")],
    "Brodersen et al. (2010)": [*(f"eq. {n}" for n in range(1, 9)),
                                *("section II, confusion matrix", "section II, parametric",
                                  "section III, parametric", "1 - FDR"),
                                *("Wilcoxon", "increasing transformation", "FDR curve", "maximum likelihood",
                                  "Box-Cox"), *("figure 1a", "figure 1b", "inset", "figure 1c", "figure 2")],
    "Boyd et al. (2013)": [*("ROC and the precision-recall curve", "difficulty", "PR points",
                             "AUCPR estimators", "set-up"),
                           *("AUCPR estimator results", "results by pi", "binomial interval",
                             "logit interval"), *("cross-validation and bootstrap", "(1 - alpha)"),
                           *("coverage", "widths", "locations", "recommended estimators",
                             "recommended intervals")],
    "Nagy (2016), Julia": ["false positive rate", "auprc", "ties", "first point", "figure 2", "figure 3"],
    "StatisticalMeasures.jl": ["table of points", "figure", "bins", "signature", "average precision"],
}  # fmt: skip


@pytest.fixture(scope="module")
def papers():
    sys.path.insert(0, str(ROOT / "examples"))
    import papers

    return papers


@pytest.fixture(scope="module")
def written(papers):
    return papers.PAGE.read_text(encoding="utf-8")


@each("document", REQUIRED)
def test_no_item_is_missing(papers, document):
    assert {each.document for each in papers.ITEMS} == set(REQUIRED)
    names = [each.item for each in papers.ITEMS if each.document == document]
    assert [word for word in REQUIRED[document] if not any(word in name for name in names)] == []
    assert len(set(names)) == len(names)


def test_claims_hold_on_the_page_and_numbers_of_the_errata_by_hand(papers, written):
    assert papers.page() == written
    named = " ".join(each.where for each in papers.ITEMS)
    paths = set(re.findall(r"(?:docs|examples|studies)/[\w/]+\.\w+", named))
    assert {path for path in paths if not (ROOT / path).is_file()} == set()
    assert len(paths) > 5
    with pytest.raises(SystemExit, match="not so: the areas agree"):
        papers.equal([1.0, 2.0], [1.0, 2.001], "the areas agree")
    expect_error("row A is impossible", papers.sure, False, "row A is impossible", error=SystemExit)
    errata = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    (row,) = [line for line in errata.splitlines() if "F-measure" in line]
    recall, alarms, skew = 0.8, 0.1, 9
    precision = recall / (recall + skew * alarms)
    means = [2 / (1 / precision + 1 / recall), (precision * recall) ** 0.5]
    means.append(2 * recall / (recall + alarms + 1))
    assert numbers(row) == {recall, alarms, *(round(each, 3) for each in means)}


def numbers(text):
    """Numbers with a decimal point, and percentages, wherever they stand."""
    return {float(each) for each in re.findall(r"-?\d*\.\d+|\d+(?=%)", text)}


#: Rows of docs/errata.md by how they begin, and the item whose check measures their numbers.
MEASURED = {
    "logit interval": "logit interval", "before eq. 7": "eq. 7", "section II |": "increasing transformation",
    "section 4 |": "integrated across", 'section 6, "A and C': "very stable",
    'section 6, "B is superior': "is superior", 'section 6, "the 3-way': "more sensitive",
    "Julia, `auprc`": "auprc, ties", "StatisticalMeasures.jl, average": "average precision of the package",
    "section III |": "FDR curve",
}  # fmt: skip
#: Priors, levels and printed numbers of a row: where, not what.
SETTINGS = {0.01, 0.05, 0.5, 21.04, 483.85}


@each("start", MEASURED)
def test_numbers_of_the_errata_are_those_of_the_checks(written, papers, start):
    errata = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    (row,) = [line for line in errata.splitlines() if line.startswith(f"| {start}")]
    (check,) = [line for line in written.splitlines() if MEASURED[start] in line.split(" | ")[0]]
    assert numbers(row) - SETTINGS
    assert numbers(row) - SETTINGS <= numbers(check)
