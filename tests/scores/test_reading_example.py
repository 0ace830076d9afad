import numpy as np

from skewanova import ScoreTable, load_satellite_scores


def test_satellite_scores():
    table = load_satellite_scores()
    assert isinstance(table, ScoreTable)
    assert (table.models, table.folds, table.has_cases) == (("A", "B", "C"), tuple(range(1, 21)), True)
    assert len(table.frame) == 77_220
    assert (table.counts.sum(axis=2) == 1287).all()
    assert (table.counts == table.counts[:1]).all()
    assert np.isfinite(table.frame["y_score"]).all()


def test_every_model_of_a_hold_out_saw_the_same_cases():
    frame = load_satellite_scores().frame
    cases = {key: frozenset(rows["case"]) for key, rows in frame.groupby(["model", "fold"], observed=True)}
    for fold in range(1, 21):
        assert cases["A", fold] == cases["B", fold] == cases["C", fold]
        assert len(cases["A", fold]) == 1287
    assert len({cases["A", fold] for fold in range(1, 21)}) == 20
    assert frame.groupby("case", observed=True)["y_true"].nunique().max() == 1
