"""What a comparison costs: the words, and that the size alone decides them. Times are never tested."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import skewanova as sa
from skewanova.base.checks import InputError, SkewanovaWarning
from skewanova.scores import cost as scores_cost
from skewanova.scores.cost import comparison_cost, cost_notes
from skewanova.scores.pairing import describe_table


def table(n_models=2, n_folds=2):
    cells = [(f"m{m}", f) for m in range(n_models) for f in range(n_folds)]
    rows = [(*cell, y, s + 0.1 * y) for cell in cells for y, s in zip([0, 1] * 3, range(6), strict=True)]
    return pd.DataFrame(rows, columns=["model", "fold", "y_true", "y_score"])


def test_ordinary_sizes_need_no_word():
    for size in ((2, 2), (5, 20), (20, 30, 10), (5, 100), (5, 1)):
        assert cost_notes(*size) == []


@pytest.mark.parametrize(
    ("size", "advice"),
    [((5, 100_000), "fewer folds"), ((3000, 20), "cannot win"), ((5, 20, 9000), "a dozen `priors`")],
)
def test_large_sizes_are_told_with_what_to_do(size, advice, monkeypatch):
    monkeypatch.setattr(scores_cost, "available_memory", lambda: None)
    (note,) = cost_notes(*size)
    assert "roughly" in note
    assert " GB of memory" in note
    assert advice in note


def measured():
    """Models, folds and priors, then seconds to compare and save and gigabytes at the peak (docs)."""
    text = (Path(__file__).parents[2] / "docs" / "performance.md").read_text(encoding="utf-8")
    row = r"^\| ([\d,]+) models, ([\d,]+) folds, ([\d,]+) priors \| [\d.]+ \| ([\d.]+) \| ([\d.]+) \|"
    for *size, seconds, gigabytes in re.findall(row, text, flags=re.MULTILINE):
        yield tuple(int(number.replace(",", "")) for number in size), float(seconds), float(gigabytes)


def test_every_large_size_was_measured():
    sizes = [size for size, _, _ in measured()]
    assert sizes == [(3, 20, 3), (5, 1000, 3), (5, 20, 1000), (200, 20, 3)]


@pytest.mark.parametrize(("size", "seconds", "gigabytes"), list(measured()))
def test_no_less_is_promised_than_was_measured_and_no_more_than_twice(size, seconds, gigabytes):
    cost = comparison_cost(*size)
    assert seconds <= cost.seconds <= 2 * seconds
    assert gigabytes <= cost.n_bytes / 1e9 <= 2 * gigabytes


def test_each_size_by_itself_makes_it_longer_and_larger():
    least = comparison_cost(5, 20, 3)
    for size in ((6, 20, 3), (5, 21, 3), (5, 20, 4)):
        more = comparison_cost(*size)
        assert more.seconds > least.seconds
        assert more.n_bytes > least.n_bytes


def test_the_formula_adds_up_units():
    cost = comparison_cost(3, 4, 2)
    units = {"group": 12, "group at a prior": 24, "pair": 3, "pair at a prior": 6, "priors": 1}
    assert cost.seconds == pytest.approx(17 + sum(scores_cost.SECONDS[name] * n for name, n in units.items()))
    assert cost.n_bytes == pytest.approx(
        3.5e8 + sum(scores_cost.BYTES[name] * n for name, n in units.items())
    )


@pytest.mark.parametrize(
    ("seconds", "n_bytes", "words"),
    [(61, 1e9, "61 seconds and 1.0 GB"), (240, 1e9, "4 minutes"), (36_000, 5e10, "10 hours and 50.0 GB")],
)
def test_durations_and_sizes_in_words(seconds, n_bytes, words):
    assert words in scores_cost.Cost(seconds, n_bytes, "x").sentence


def test_what_cannot_fit_is_refused_beforehand(monkeypatch):
    monkeypatch.setattr(scores_cost, "available_memory", lambda: 3 * 10**9)
    with pytest.raises(
        InputError, match=r"5 models, 20 folds and 9,000 priors needs roughly .* but 3.0 GB are free"
    ):
        sa.compare(table(5, 20), priors=np.linspace(0.001, 0.9, 9000))


def test_compare_and_check_say_it_and_go_on(monkeypatch):
    monkeypatch.setattr(scores_cost, "SHORT_SECONDS", 0.0)
    scores = sa.read_scores(table())
    lines = describe_table(scores)
    (told,) = [line for line in lines if "roughly" in line]
    assert told.startswith("warning: a comparison of this size at 3 priors, saved, takes roughly 17 seconds")
    assert lines[-1] == "The table can be compared."
    with pytest.warns(SkewanovaWarning) as caught:
        result = sa.compare(scores, 0.5, priors=(0.5,))
    assert "roughly 17 seconds" in str(caught[0].message)
    assert any("roughly" in note for note in result.warnings)
