"""Table and charts of the first screen hold the numbers of the frames and say what the verdict says."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hostile_results import HOSTILE, simulated

from skewanova.decision.verdict import contender_ranges
from skewanova.report import screen as report_screen
from skewanova.report.screen import MAY_BE_BEST, build_screen, color_models, list_drawn_models


@pytest.fixture(scope="module")
def hostile():
    return simulated(HOSTILE, priors=(0.5, 0.1, 0.01))


@pytest.fixture(scope="module")
def screen(hostile):
    return build_screen(hostile)


@pytest.fixture(scope="module")
def many():
    return simulated([f"m{i}" for i in range(12)], n_folds=5)


def untrusted(result):
    """The result with a verdict that trusts no test."""
    verdict = replace(result.verdict, state="untrusted", models=(), part_state="")
    changed = replace(result)
    changed.__dict__["verdict"] = verdict
    return changed


def test_the_slider_moves_over_the_rows_of_the_file(hostile, screen):
    data, frame = json.loads(screen.data), hostile.by_prior
    assert not any(name in screen.data for name in HOSTILE)
    assert data["priors"] == pytest.approx(sorted(set(frame["prior"])), rel=1e-8)
    assert set(data["priors"]) >= {0.05, 0.1, 0.2, 0.5}
    models = list_drawn_models(hostile)
    supported = hostile.tables["support"].set_index("prior")["supported"]
    limit = supported[supported].index.min()
    for (prior, rows), cells in zip(frame.groupby("prior"), data["rows"], strict=True):
        ordered = rows.sort_values("rank")
        assert [models[number] for number, *_ in cells] == ordered["model"].tolist()
        for row, (_, auprec, band, shortfall, mark) in zip(ordered.itertuples(), cells, strict=True):
            assert float(auprec) == pytest.approx(row.auprec, abs=5e-4)
            regret = 0 if shortfall == "highest" else -float(shortfall.replace("\u2212", "-"))
            assert regret == pytest.approx(row.regret, abs=5e-4)
            assert bool(mark) == (row.contender and prior >= limit)
            if prior >= limit:
                limits = [float(x) for x in band.split(" to ")]
                assert limits == pytest.approx([row.conf_low, row.conf_high], abs=5e-4)
    assert data["heads"][0] == ["At a prior of 0.01", "1 in 100 positive, not supported"]
    assert data["heads"][-1] == ["At a prior of 0.5", "1 in 2 positive"]


def test_the_static_table_and_the_strip_of_the_leaders(hostile, screen):
    data = json.loads(screen.data)
    step = data["heads"].index([screen.title, screen.fraction])
    low, high = max(0.05, hostile.tables["support"].query("supported")["prior"].min()), 0.2
    assert data["priors"][step] == pytest.approx(np.sqrt(low * high), rel=0.1)
    assert [[row.number, *row.cells] for row in screen.rows] == data["rows"][step]
    span = np.log(data["priors"][-1] / data["priors"][0])
    assert screen.start == pytest.approx(np.log(data["priors"][step] / data["priors"][0]) / span)
    dots = {line["index"]: line["dot"][1] for line in screen.charts[0].lines}
    for row in screen.rows:
        height = float(screen.charts[0].scale.y(float(row.cells[0])))
        assert dots[row.number] == pytest.approx(height, abs=0.3)
    data, strip = json.loads(screen.data), screen.charts[0].strip
    limit = hostile.tables["support"].query("supported")["prior"].min()
    assert strip[0]["title"] == "not supported"
    ranges = contender_ranges(hostile.tables["leaders"], limit, data["priors"][-1])
    used = {each["title"] for each in strip if each["title"].startswith("use ")}
    assert len(used) == len({models for models, *_ in ranges if len(models) == 1})
    assert [each["title"].startswith("open: ") for each in strip[1:]].count(True) >= 1
    expected = screen.charts[0].scale.right - screen.charts[0].scale.left
    assert sum(each["width"] for each in strip) == pytest.approx(expected)


def test_marks_leave_out_whoever_a_band_or_a_pair_puts_behind(hostile, screen):
    """A twin from the frames of differences and pairs alone, prior by prior."""
    data, models = json.loads(screen.data), list_drawn_models(hostile)
    weighting = hostile.evaluation.deployment_prior
    pairs = hostile.pairs[(hostile.pairs["role"] == "primary") & hostile.pairs["reject"].astype(bool)]
    behind_on_average = {r.model_b if r.estimate > 0 else r.model_a for r in pairs.itertuples()}
    curves = hostile.tables["difference_curves"]
    limit = hostile.tables["support"].query("supported")["prior"].min()
    checked = 0
    for prior, rows in zip(data["priors"], data["rows"], strict=True):
        at = curves[np.isclose(curves["prior"], prior, rtol=1e-6)]
        if prior < limit or at.empty:
            continue
        behind = {r.model_b if r.estimate > 0 else r.model_a for r in at[at["reject"]].itertuples()}
        left = set(models) - behind
        if weighting.low <= prior <= weighting.high:
            left = left - behind_on_average or left
        assert {models[number] for number, *cells in rows if cells[-1]} == left
        checked += 1
    assert checked > 10


def test_differences_and_precision_recall_curves_follow_the_choice(hostile, screen):
    assert screen.reference == hostile.verdict.models[0]
    frame = hostile.tables["difference_curves"]
    others = [model for model in list_drawn_models(hostile) if model != screen.reference][:4]
    chart = screen.differences[0]
    assert len(chart.lines) == len(others)
    colors = color_models(list_drawn_models(hostile), hostile.verdict)
    for model in others:
        rows = frame[(frame["model_a"] == screen.reference) & (frame["model_b"] == model)]
        sign = -1
        if rows.empty:
            rows, sign = frame[(frame["model_b"] == screen.reference) & (frame["model_a"] == model)], 1
        last = sign * rows.sort_values("prior")["estimate"].iloc[-1]
        (name,) = (each for each in chart.names if each["color"] == colors[model])
        assert name["end"] == pytest.approx(float(chart.scale.y(last)), abs=0.1)
    data = json.loads(screen.data)
    models = list_drawn_models(hostile)
    for step in (0, len(data["priors"]) - 1):
        at = [data["priors"][step]]
        frame = report_screen.precision_recall(hostile.evaluation, at, recall=report_screen.RECALLS)
        for model, text in zip(models, data["curves"][step], strict=True):
            means = frame[frame["model"] == model].groupby("recall")["precision"].mean()
            np.testing.assert_allclose(np.array(text.split(), float) / 1000, means, atol=6e-4)


def test_without_a_reliable_test_or_a_band_there_are_values_alone(hostile):
    screen = build_screen(untrusted(hostile))
    assert screen.heads == ["Model", "AUPREC"]
    assert [row.model for row in screen.rows] == [str(model) for model in hostile.scores.models]
    assert screen.differences == []
    chart = screen.charts[0]
    assert {line["color"] for line in chart.lines} == {0}
    assert not any(line["band"] for line in chart.lines)
    assert len(chart.names) == len(HOSTILE)
    assert [each["title"] for each in chart.strip] == ["not supported", "no choice"]
    assert chart.crossings == []
    unknown = hostile.by_prior.assign(conf_low=np.nan, conf_high=np.nan)
    screen = build_screen(replace(hostile, tables={**hostile.tables, "by_prior": unknown}))
    assert screen.heads == ["Model", "AUPREC", "To best", MAY_BE_BEST]
    assert {len(row.cells) for row in screen.rows} == {3}
    assert not any(line["band"] for line in screen.charts[0].lines)


def test_of_many_models_some_have_colours_and_all_have_differences(many, screen):
    drawn = build_screen(many)
    models = list_drawn_models(many)
    colored = [models[row.number] for row in drawn.rows if row.color]
    assert set(colored) == {*many.verdict.models[:5], models[0]}
    chart = drawn.charts[0]
    assert sum(bool(line["band"]) for line in chart.lines) == 1
    assert len(chart.names) == len(colored) < len(chart.lines) == 12
    low, high = chart.scale.y_limits
    assert low <= many.by_prior["auprec"].min() <= many.by_prior["auprec"].max() <= high
    last = list_drawn_models(many)[-1]
    warnings = (f"worse than chance: {last!r}",)
    verdict = replace(many.verdict, models=many.verdict.models[:1], warnings=warnings)
    colors = color_models(list_drawn_models(many), verdict)
    assert [model for model, color in colors.items() if color] == [*many.verdict.models[:1], last]
    assert screen.distances == []
    wide = build_screen(many).distances[0]
    models, groups = list_drawn_models(many), dict(tuple(many.by_prior.groupby("model", observed=True)))
    for line in wide.lines:
        regret = groups[models[line["index"]]].sort_values("prior")["regret"].to_numpy()
        assert not line["band"]
        height = float(line["path"].split("L")[-1].split(" ")[1])
        assert height == pytest.approx(float(wide.scale.y(-regret[-1])), abs=0.06)
