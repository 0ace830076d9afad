"""The table of the five documents: nothing is missing, every claim holds, and the page is not stale."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover  # the package's lines have tests of their own

pytest.importorskip("sklearn")

ROOT = Path(__file__).resolve().parents[2]
# what the documents number or name, by the word that the table must have for it
REQUIRED = {
    "Landgrebe et al. (2006)": [
        *("error rate", "recall", "precision", "Posfrac", "F-measure"),
        *(f"eq. {n}" for n in range(1, 6)),
        *("limited range", "figure 1", "figure 2", "model A", "model B", "model C"),
        *(
            "2-way ANOVA",
            "483.85",
            "three priors",
            "priors that differ",
            "Friedman",
            "thresholds",
            "sensitive",
        ),
    ],
    "Brodersen et al. (2010)": [
        *(f"eq. {n}" for n in range(1, 9)),
        *("confusion matrix", "FDR", "maximum likelihood", "Box-Cox"),
        *("figure 1a", "figure 1b", "inset", "figure 1c", "figure 2"),
    ],
    "Boyd et al. (2013)": [
        *("PR points", "AUCPR estimators", "set-up", "AUCPR estimator results", "results by pi"),
        *("binomial and logit", "cross-validation and bootstrap", "(1 - alpha)"),
        *("coverage", "widths", "locations", "recommended estimators", "recommended intervals"),
    ],
    "Nagy (2016), Julia": ["auprc", "ties", "first point", "figure 2", "figure 3"],
    "StatisticalMeasures.jl": ["table of points", "figure", "bins", "signature"],
}


@pytest.fixture(scope="module")
def papers():
    sys.path.insert(0, str(ROOT / "examples"))
    import papers

    return papers


@pytest.fixture(scope="module")
def written(papers):
    return papers.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("document", REQUIRED)
def test_no_item_is_missing(papers, document):
    names = [each.item for each in papers.ITEMS if each.document == document]
    missing = [word for word in REQUIRED[document] if not any(word in name for name in names)]
    assert missing == []
    assert len(set(names)) == len(names)


def test_the_table_has_the_five_documents_and_no_other(papers):
    assert {each.document for each in papers.ITEMS} == set(REQUIRED)


def test_every_claim_holds_and_the_page_is_not_stale(papers, written):
    assert papers.page() == written


def test_places_named_are_there(papers):
    paths = {
        path for each in papers.ITEMS for path in re.findall(r"(?:docs|examples)/[\w/]+\.\w+", each.where)
    }
    assert {path for path in paths if not (ROOT / path).is_file()} == set()
    assert len(paths) > 5


def test_a_claim_that_does_not_hold_stops_the_table(papers):
    with pytest.raises(SystemExit, match="not so: the areas agree"):
        papers.equal([1.0, 2.0], [1.0, 2.001], "the areas agree")
    with pytest.raises(SystemExit, match="row A is impossible"):
        papers.sure(False, "row A is impossible")
