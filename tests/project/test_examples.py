"""Examples run, print what fits the screen, draw what they promise, and say what was recorded."""

import gzip
import importlib
import subprocess
import sys
import warnings
from importlib.resources import files
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from example_scripts import ROOT, load_example
from loops import each
from matplotlib.backends.backend_agg import FigureCanvasAgg

import skewanova as sa
from studies.calibration import default_omnibus, default_pairs
from studies.scenarios import SCENARIOS

pytestmark = pytest.mark.no_cover  # the package's lines have tests of their own

FILES = {
    "boyd": "estimators.csv intervals.csv bias.png coverage.png width.png location.png",
    "brodersen": "bias.csv auprec.png auc.png means.png curves.png curves.csv",
    "landgrebe": "figure_1.png figure_2.png", "julia_figures": "figure_2.png figure_3.png",
    "statisticalmeasures": "", "scikit_learn": None,
}  # fmt: skip
FEW = ["--replicates", "2"]


@pytest.mark.parametrize("name", FILES)
def test_example_prints_within_the_screen_and_saves_where_told(name, tmp_path, capsys, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    options = FEW if name in {"boyd", "brodersen"} else []
    load_example(name).main(options if FILES[name] is None else [*options, "--out", str(tmp_path / "new")])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert not list((tmp_path / "here").iterdir())
    if name == "scikit_learn":
        assert {"logistic", "naive", "tree"} <= set(printed.split())
        assert "repeated hold-out, 10 folds" in printed
        balanced, rare = printed.splitlines()[-2:]
        assert int(rare.split()[0]) < int(balanced.split(": ")[1].split()[0])
    else:
        stem = name.removesuffix("_figures")
        expected = {f"{stem}_{end}" for end in FILES[name].split()} or {f"{stem}.png"}
        assert {path.name for path in (tmp_path / "new").iterdir()} == expected


def test_figures_and_curve_of_the_post_show_all():
    module = load_example("julia_figures")
    frames = {setting: module.sampled_curves(setting) for setting in module.SETTINGS}
    for figure in (module.figure_2(), module.figure_3(frames)):
        FigureCanvasAgg(figure).draw()
        inside = figure.bbox
        for ax in figure.axes:
            for text in filter(lambda each: each.get_text(), (ax.title, ax.xaxis.label, ax.yaxis.label)):
                box = text.get_window_extent()
                assert inside.x0 <= box.x0 <= box.x1 <= inside.x1
                assert inside.y0 <= box.y0 <= box.y1 <= inside.y1
            assert not any(legend.get_window_extent().overlaps(ax.bbox) for legend in figure.legends)
            assert ax.get_legend() is None
    module = load_example("statisticalmeasures")
    frame = module.curve()
    assert frame["threshold"].iloc[1:].tolist() == sorted(set(module.X_PROBABILITIES), reverse=True)
    assert frame[["recall", "precision"]].iloc[[0, -1]].to_numpy().tolist() == [[0.0, 1.0], [1.0, 0.6]]
    positive = np.array(module.TRUTH) == "X"
    for row in frame.iloc[1:].itertuples():  # counted by hand
        flagged = np.array(module.X_PROBABILITIES) >= row.threshold
        assert row.recall == pytest.approx((flagged & positive).sum() / 6)
        assert row.precision == pytest.approx((flagged & positive).sum() / flagged.sum())


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


RECORDED = ROOT / "studies" / "records" / "peers.csv"
OURS = ("skewanova", "scikit-learn")
#: Module by which a tool is known to be installed.
FOUND_BY = {"autorank": "autorank", "scikit-posthocs": "scikit_posthocs", "pingouin": "pingouin"}
FOUND_BY["baycomp"] = "baycomp"


@pytest.fixture
def peers(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return importlib.import_module("peers")


def recorded(peers):
    frame = pd.read_csv(RECORDED, dtype={"version": str, "answer": str}, keep_default_na=False)
    return [peers.Cell(*row) for row in frame.drop(columns="replicates").itertuples(index=False)]


@pytest.mark.usefixtures("undrawn")
def test_runs_with_what_is_installed_and_names_what_is_not(peers, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(peers.shutil, "which", lambda _: None)  # no R
    peers.main(["--replicates", "1", "--out", str(tmp_path / "peers.csv")])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert "skipped: emmeans is not installed" in printed
    for tool, module in FOUND_BY.items():
        assert (f"skipped: {tool} is not installed" in printed) == (find_spec(module) is None)
    found = pd.read_csv(tmp_path / "peers.csv", keep_default_na=False)
    assert {*OURS, "precrec", "PRROC"} <= set(found["tool"])
    assert set(found.loc[found["checked"] == "read", "tool"]) == {"precrec", "PRROC"}
    assert found.loc[found["table"].isin(peers.DESIGNS), "answer"].astype(float).isin([0.0, 1.0]).all()


def test_answers_and_rates_are_those_recorded(peers):
    ours = [c for c in recorded(peers) if c.tool in OURS and c.table in {"areas", "comparisons"}]
    expected = {(cell.question, cell.tool): cell.answer for cell in ours}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SkewanovaWarning)  # the samples are small
        cells = peers.python_cells(dict.fromkeys(OURS, ""))
    assert {(cell.question, cell.tool): cell.answer for cell in cells} == expected
    assert not any("not so" in cell.answer for cell in recorded(peers))
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    for table in peers.TITLES:
        assert peers.markdown(recorded(peers), table) in page
    pairs = pd.read_csv(RECORDED.with_name("peers-pairs.csv"))
    assert importlib.import_module("peers_pairs").markdown(pairs) in page
    study = pd.read_csv(RECORDED.with_name("type_one_error.csv")).query("level == 0.05")
    replicates = pd.read_csv(RECORDED)["replicates"].iloc[0]
    for design in peers.DESIGNS:
        scenario = SCENARIOS[design]
        tests = {"default, all models": default_omnibus(scenario), "default, pairs": default_pairs(scenario)}
        for cell in recorded(peers):
            if cell.table == design and cell.tool == "skewanova":
                rows = study[(study["scenario"] == design) & (study["test"] == tests[cell.question])]
                rate = rows["rate"].iloc[0]
                assert abs(float(cell.answer) - rate) < 3 * np.sqrt(rate * (1 - rate) / replicates)


def test_a_no_is_not_said_of_what_is_there_and_r_becomes_cells(peers):
    checks = importlib.import_module("peers_checks")
    named = "see average_precision_score, label_ranking_average_precision_score"
    assert checks.lacks("scikit-learn", "average_precision_s")() == named
    assert "sample_weight" in checks.lacks("scikit-learn", "sample_w")()
    assert checks.lacks("scikit-learn", "skewanova")() == "no"
    assert checks.lacks("skewanova", "compare_cl")() == "see compare_classes"  # loaded when first used
    assert checks.verdict(np.False_, "yes") != "yes"
    p_values = [("S2a", "pairs", 0, 0.01), ("S2a", "pairs", 1, 0.5), ("S1", "joint_tests", 0, 0.2)]
    lines = [
        ["version", "1.8"], ["seconds", "0.031"], *(["p", *map(str, row)] for row in p_values),
        ["cell", "rope", "`delta=`"],
    ]  # fmt: skip
    found, frame = peers._read_r(lines)
    cells = {(cell.table, cell.question): cell.answer for cell in found}
    assert (cells["S2a", "`pairs`, Tukey"], cells["S1", "`joint_tests`, all models"]) == ("0.500", "0.000")
    assert (cells["comparisons", "rope"], cells["seconds", "`pairs`, Tukey"]) == ("`delta=`", "0.031")
    assert frame["p"].tolist() == [0.01, 0.5, 0.2]


def test_defaults_are_those_that_compare_would_choose(peers):
    rates = importlib.import_module("peers_rates")
    checks = importlib.import_module("peers_checks")
    scores = checks.score_table().assign(case=lambda rows: rows.groupby(["model", "fold"]).cumcount())
    with pytest.warns(sa.SkewanovaWarning):
        result = sa.compare(scores, design=sa.FoldDesign("repeated_holdout", 0.2))
    table = result.tables["iauprec"].pivot(index="fold", columns="model", values="iauprec")
    table = table[result.ranking["model"]]
    primary = result.pairs[result.pairs["role"] == "primary"]
    assert set(primary["test"]) == {default_pairs(SCENARIOS["S2a"])}
    assert rates.corrected_pairs(table.to_numpy()) == pytest.approx(primary["p_adjusted"].min())


@each(("shift", "answer"), [(0.0, "F, Tukey"), (0.01, "checked, and not so")])
def test_p_values_of_r_are_held_against_ours(peers, shift, answer):
    rates = importlib.import_module("peers_rates")
    tables = {"S1": rates.draw("S1", 2, 0)}
    by_table = enumerate(zip(peers.R_TESTS, rates.two_way_p(values), strict=True) for values in tables["S1"])
    rows = [("1.8", "S1", test, i, p + shift) for i, found in by_table for test, p in found]
    frame = pd.DataFrame(rows, columns=["version", "scenario", "test", "replicate", "p"])
    assert peers._same_p(frame, tables).answer == answer
