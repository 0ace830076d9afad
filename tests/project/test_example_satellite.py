"""The example behind the bundled scores: what it remakes, and what its argument rests on."""

import gzip
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from example_scripts import ROOT, load_example
from loops import each

import skewanova as sa

pytestmark = pytest.mark.no_cover  # the package's lines have tests of their own

pytest.importorskip("sklearn")

SCRIPT = ROOT / "examples" / "satellite.py"
BUNDLE = files("skewanova.scores") / "data" / "satellite_scores.csv.gz"


@pytest.fixture(scope="module")
def example():
    return load_example("satellite")


@pytest.fixture(scope="module")
def pixels(example):
    return example.load_pixels()


@pytest.fixture(scope="module")
def bundled():
    with BUNDLE.open("rb") as raw:
        return pd.read_csv(raw, compression="gzip", converters=dict.fromkeys("ABC", float))


@pytest.fixture(scope="module")
def remade(example, pixels):
    return example.score_table(*pixels, seed=0, folds=(1, 13))


def test_the_bundle_holds_20_hold_outs_which_retrained_folds_give(remade, bundled, example, pixels):
    stored = bundled[bundled["fold"].isin([1, 13])].reset_index(drop=True)
    exact = ["fold", "case", "y_true", "B", "C"]  # distances between integers: the same on every machine
    pd.testing.assert_frame_equal(remade[exact], stored[exact], check_exact=True)
    np.testing.assert_allclose(remade["A"], stored["A"], rtol=1e-5, atol=1e-5)
    text = gzip.decompress(BUNDLE.read_bytes()).decode()
    assert example.to_csv(bundled) == text
    _, positive = pixels
    assert list(bundled) == ["fold", "case", "y_true", "A", "B", "C"]
    assert bundled["fold"].value_counts().to_dict() == dict.fromkeys(range(1, 21), 1287)
    assert not bundled.duplicated(["fold", "case"]).any()
    assert (bundled["y_true"] == positive[bundled["case"]]).all()


def test_same_scores_give_the_same_bytes_and_wrong_data_are_refused(example, remade, tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        example.write_scores(remade, tmp_path / name)
    example.write_scores(remade, tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").read_bytes().decode() == example.to_csv(remade)
    content = (tmp_path / "a.csv.gz").read_bytes()
    assert content == (tmp_path / "b.csv.gz").read_bytes()
    assert content[3:8] == bytes(5)  # no file name, no time
    pd.DataFrame({"x1": [1, 2], "class": ["cotton crop", "red soil"]}).to_csv(tmp_path / "few.csv")
    with pytest.raises(SystemExit, match="1329 positives among 6435 pixels"):
        example.load_pixels(tmp_path / "few.csv")
    code = f"import runpy, sys; sys.modules['sklearn'] = None; runpy.run_path({str(SCRIPT)!r})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == 'This example needs scikit-learn: pip install "skewanova[sklearn]"\n'


def test_distance_scores_equation_4_and_saturated_posteriors_by_hand(example, bundled):
    prototypes, positive = np.array([[0.0], [10.0], [4.0]]), np.array([True, False, False])
    scores = example.distance_scores(prototypes, positive, np.array([[0.0], [1.0], [10.0], [2.0]]))
    assert scores.tolist() == [1.0, 0.75, 0.0, 0.5]
    both = np.array([[3.0], [3.0]])  # a pixel on both classes is undecided
    assert example.distance_scores(both, np.array([True, False]), both[:1]).tolist() == [0.5]
    y, score = [1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 5, 4, 3, 1]
    roc = sa.roc_curve(y, score)
    for prior in (0.5, 0.1):
        skew, total = (1 - prior) / prior, 0.0
        for i in range(2, len(roc.tpr)):
            precision = [roc.tpr[j] / (roc.tpr[j] + skew * roc.fpr[j]) for j in (i - 1, i)]
            total += 0.5 * (roc.tpr[i] - roc.tpr[i - 1]) * sum(precision)
        assert example.printed_equation_4(roc, prior) == pytest.approx(total, rel=1e-12)
    y, score = np.repeat([1, 0], 10), np.concatenate((np.linspace(2, 3, 10), np.linspace(0, 1, 10)))
    assert example.printed_equation_4(sa.roc_curve(y, score), 0.1) == pytest.approx(0.9)
    tied = np.where(score > 2.5, 3.0, score)  # the 5 best positives tie
    assert example.printed_equation_4(sa.roc_curve(y, tied), 0.1) == pytest.approx(0.5)
    assert sa.auprec(sa.roc_curve(y, tied), 0.1) == pytest.approx(1.0)
    figures = example.row_a_figures(bundled)
    tied = figures["tied_recall"][0]
    assert 0.1 < tied < 0.25
    lost = figures["saturated"][0] - figures["saturated_printed"][0]
    assert lost == pytest.approx(tied, abs=0.01)  # their precision at prior 0.5 is nearly 1
    assert figures["saturated"][-1] == pytest.approx(figures["complete"][-1], abs=1e-3)


@pytest.fixture(scope="module")
def tests(example, bundled):
    return {one.name: one for one in example.paper_tests(example.long_table(bundled))}


def test_the_printed_f_is_beside_the_16_priors(tests, example):
    many, few = tests["3-way, 16 priors"], tests["3-way, 3 priors"]
    assert (many.printed, few.printed) == ("483.85", "-")
    assert many.apart == many.printed_apart == "A-B A-C B-C"
    two = tests["2-way, IAUPREC"].statistic
    assert many.statistic / two == pytest.approx(483.85 / 21.04, rel=0.05)
    assert few.statistic / two < 4
    assert tests["Friedman, IAUPREC"].statistic == pytest.approx(20.6, abs=0.1)


def test_no_three_priors_and_no_printed_row_are_possible(example, printed_rows):
    rng = np.random.default_rng(0)
    largest = example.largest_f()
    assert example.largest_f(folds=False) < largest < 100 < 483.85
    columns = [example.PAPER[name] for name in example.ROW_A_COLUMNS]
    common = rng.normal(size=20)
    for share in (0, 0.5, 1):  # folds that move together, with the table's means and deviations
        cells = []
        for prior, column in zip(example.PRIORS, columns, strict=True):
            for model, (mean, deviation) in zip("ABC", column, strict=True):
                noise = share * common + (1 - share) * rng.normal(size=20)
                value = mean + deviation * (noise - noise.mean()) / noise.std(ddof=1)
                cells += [(model, fold, prior, x) for fold, x in enumerate(value)]
        frame = pd.DataFrame(cells, columns=["model", "fold", "prior", "auprec"])
        assert sa.inference.three_way_anova(frame).row("model")["statistic"] <= largest * (1 + 1e-9)
    assert sa.inference.three_way_anova(frame).row("model")["statistic"] == pytest.approx(largest)
    text = example.table_possible(printed_rows)
    assert "A         .554           .832            .674            none             .435" in text
    assert not any(row.possible for row in printed_rows.values())


@pytest.fixture(scope="module")
def printed_rows(example):
    return example.printed_rows()


@each("model", "ABC")
def test_bundled_scores_are_possible(example, bundled, model):
    folds = [sa.roc_curve(fold["y_true"], fold[model]) for _, fold in bundled.groupby("fold")]
    areas = np.mean([sa.auprec(roc, list(example.PRIORS)) for roc in folds], axis=0)
    printed = dict(zip(example.PRIORS, areas.round(3), strict=True))
    assert sa.curves.check_reported_areas(
        printed, auc=round(np.mean([sa.auc(roc) for roc in folds]), 3)
    ).possible


@pytest.fixture
def quick(request, example, printed_rows, monkeypatch):
    """The example with what other tests have computed already."""
    tests, bundled = (request.getfixturevalue(name) for name in ("tests", "bundled"))
    monkeypatch.setattr(example, "printed_rows", lambda: printed_rows)
    monkeypatch.setattr(example, "paper_tests", lambda _: list(tests.values()))
    monkeypatch.setattr(example, "score_table", lambda *_, seed: bundled)
    return example


def test_report_fits_80_columns_and_puts_both_sides_by_side(quick, tmp_path, capsys):
    quick.main(["--scores", str(tmp_path / "scores.csv.gz")])
    assert (tmp_path / "scores.csv.gz").is_file()
    text = capsys.readouterr().out
    assert text.startswith("Satellite: 6435 pixels, 1329 positive; 20 random hold-outs")
    assert max(map(len, text.splitlines())) <= 80
    assert "IAUPREC      .772(.021)|.554(.013) .597(.178)|.642(.177) .749(.046)|.783(.082)" in text
    assert "2-way, IAUPREC               15.3   21.04  A-B B-C            A-C B-C" in text
    assert "3-way, 16 priors            363.2  483.85  A-B A-C B-C        A-B A-C B-C" in text
    assert "3-way, 3 priors: priors     360.8       -  .5-.1 .5-.01 .1-.01 .5-.01" in text
    assert "81 for a 3-way ANOVA of three priors, and 45.7 without an" in " ".join(text.split())
    assert "lowest possible with that AUC         .833" in text
