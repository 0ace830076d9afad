import numpy as np

from skewanova import ScoreTable, load_satellite_scores


def test_every_model_of_a_hold_out_of_the_satellite_data_saw_the_same_cases():
    table = load_satellite_scores()
    assert isinstance(table, ScoreTable)
    assert (table.models, table.folds, table.has_cases) == (("A", "B", "C"), tuple(range(1, 21)), True)
    assert np.isfinite(table.frame["y_score"]).all()
    groups = table.frame.groupby(["model", "fold"], observed=True)
    cases = {key: frozenset(rows["case"]) for key, rows in groups}
    for fold in range(1, 21):
        assert cases["A", fold] == cases["B", fold] == cases["C", fold]
        assert len(cases["A", fold]) == 1287
    assert len({cases["A", fold] for fold in range(1, 21)}) == 20
    assert table.frame.groupby("case", observed=True)["y_true"].nunique().max() == 1
