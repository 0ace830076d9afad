"""Crossings and leaders: in closed form of straight curves, against loops and against simulated truth."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fold_tables import designed
from messages import expect_error
from numpy.polynomial import Chebyshev
from scipy import stats
from scipy.special import expit, logit

from skewanova import decision, evaluate, load_satellite_scores, read_scores
from skewanova.curves.chebyshev import panel_priors
from skewanova.decision import auprec_bands, leads
from skewanova.decision.joint_curves import JointCurves, PanelCurves, joint_curves
from skewanova.decision.leads import CROSSING_COLUMNS, LEADER_COLUMNS, interpolate_crossings
from skewanova.evaluation import auprec_by_prior, regret
from skewanova.inference import compare_test_set
from studies.decisions import Model, SampleSizes, crossing_pair, draw_scores

LOW, HIGH = 0.02, 0.5  # log-odds -3.89 to 0


def panel_of(slopes, means, *, errors=0.01, df=np.inf, low=LOW, high=HIGH):
    """Models mean + slope (x + 2), each with an error of its own that is the same at all priors."""
    edges, priors = panel_priors(low, high)
    x = logit(priors)
    estimate = np.array([m + s * (x + 2) for s, m in zip(slopes, means, strict=True)])
    n = len(estimate)
    deviations = np.zeros((n, n, len(x)))
    deviations[range(n), range(n)] = errors
    return PanelCurves(low, high, edges, JointCurves(priors, estimate, deviations, df))


def test_a_crossing_of_straight_lines_has_a_symmetric_interval():
    # The difference is 0.04 (x + 2), its standard error 0.01 sqrt(2).
    (found,) = leads.locate_crossings(panel_of([0.04, 0.0], [0.5, 0.5]), 2.0)
    assert (found.model_below, found.model_above, logit(found.prior)) == (1, 0, pytest.approx(-2))
    reach = 2 * 0.01 * np.sqrt(2) / 0.04
    assert logit([found.conf_low, found.conf_high]) == pytest.approx([-2 - reach, -2 + reach])
    assert (found.open_low, found.open_high) == (False, False)
    at = expit(-2.0)
    assert found.std_error == pytest.approx(0.01 * np.sqrt(2) / 0.04 * at * (1 - at))
    (turned,) = leads.locate_crossings(panel_of([0.0, 0.04], [0.5, 0.5]), 2.0)
    assert (turned.model_below, turned.model_above) == (0, 1)
    assert turned[:3] + turned[5:] == pytest.approx(found[:3] + found[5:])


@pytest.mark.parametrize(
    ("critical", "open_low", "open_high"), [(5.0, False, False), (5.5, True, False), (6.0, True, True)]
)
def test_an_interval_may_reach_the_limits_of_the_range(critical, open_low, open_high):
    # Half-widths 1.77, 1.94, 2.12 against 1.89 to the low end and 2 to the high end.
    (found,) = leads.locate_crossings(panel_of([0.04, 0.0], [0.5, 0.5]), critical)
    assert (found.open_low, found.open_high) == (open_low, open_high)
    assert (found.conf_low == pytest.approx(LOW)) == open_low
    assert (found.conf_high == pytest.approx(HIGH)) == open_high


def test_crossings_without_limits_and_none_at_all():
    (found,) = leads.locate_crossings(panel_of([0.04, 0.0], [0.5, 0.5]), np.nan)
    assert logit(found.prior) == pytest.approx(-2)
    assert np.isnan([found.conf_low, found.conf_high]).all()
    assert (found.open_low, found.open_high) == (False, False)
    assert found.std_error > 0
    stretches = leads.leader_intervals(panel_of([0.04, 0.0], [0.5, 0.5]), np.nan)
    assert [(leader, inside) for leader, inside, _, _ in stretches] == [(1, (0, 1)), (0, (0, 1))]
    (exact,) = leads.locate_crossings(panel_of([0.04, 0.0], [0.5, 0.5], errors=0.0), 2.0)
    assert logit([exact.conf_low, exact.prior, exact.conf_high]) == pytest.approx([-2] * 3, abs=1e-4)
    assert exact.std_error == pytest.approx(0.0, abs=1e-12)
    assert leads.locate_crossings(panel_of([0.04, 0.0], [0.5, 0.5], low=0.1, high=0.1), 2.0) == []
    assert leads.locate_crossings(panel_of([0.04, 0.04], [0.5, 0.6]), 2.0) == []
    assert leads.locate_crossings(panel_of([0.04, 0.04], [0.5, 0.5]), 2.0) == []
    assert leads.locate_crossings(panel_of([0.04], [0.5]), 2.0) == []


def test_the_frame_is_in_the_order_of_priors_and_marks_the_lead():
    # A leads below -3, B between -3 and -1, C above; A and C cross at -2, out of the lead.
    panel = panel_of([-0.02, 0.0, 0.02], [0.5, 0.52, 0.5], df=7)
    found = leads.crossings_frame(panel, ("A", "B", "C"), 0.1)
    assert logit(found["prior"]).to_numpy() == pytest.approx([-3, -2, -1])
    assert found[["model_below", "model_above"]].to_numpy().tolist() == [["A", "B"], ["A", "C"], ["B", "C"]]
    assert (found["lead"].tolist(), found["df"].tolist()) == ([True, False, True], [7, 7, 7])
    x, panel = logit(panel.joint.priors), panel_of([0, 0, 0], [0.5, 0.5, 0.45])
    panel.joint.estimate[:] = [0.5 + (x + 3) * (x + 2) * (x + 1) / 50, 0 * x + 0.5, 0.5 + (x + 1.5) / 10]
    again = leads.crossings_frame(panel, ("A", "B", "C"), 0.1)  # A passes B twice, and leads after the first
    assert logit(again["prior"]).to_numpy()[[0, -1]] == pytest.approx([-3, -1])
    passes = again[(again["model_below"] == "B") & (again["model_above"] == "A")]
    assert passes["lead"].tolist() == [True, False]
    empty = leads.crossings_frame(panel_of([0, 0], [0.5, 0.6]), ("A", "B"), 0.1)
    assert (len(empty), empty["lead"].dtype) == (0, bool)


def covering_zero(edges, difference, half_width):
    (ranges,) = leads.list_separated_ranges(edges, difference[None], half_width[None])
    return [(low, high) for sign, low, high in ranges if sign <= 0]


def test_undecided_stretches_and_the_interval_that_holds_the_crossing():
    edges, priors = panel_priors(LOW, HIGH)
    x = logit(priors)
    assert covering_zero(edges, x + 2, np.full(x.shape, 0.3)) == [pytest.approx((-2.3, -1.7))]
    assert covering_zero(edges, 0 * x, 0 * x) == [(edges[0], edges[-1])]
    assert covering_zero(edges, 0 * x + 1, np.full(x.shape, 0.3)) == []
    assert covering_zero(edges, 0 * x + 1, np.full(x.shape, 3.0)) == [(edges[0], edges[-1])]
    edges, stretches = np.array([-5.0, 0.0]), [(-4.0, -3.0), (-2.5, -1.5), (-1.0, -0.5)]
    for root in (
        -2.0, -1.5 + leads.ROOT_TOLERANCE / 2, -2.5 - leads.ROOT_TOLERANCE / 2, -2.5 - leads.ROOT_TOLERANCE
    ):  # fmt: skip
        assert logit(leads._crossing_limits(edges, stretches, root)[:2]) == pytest.approx([-2.5, -1.5])
    assert logit(leads._crossing_limits(edges, stretches, -1.2)[:2]) == pytest.approx([-1.2, -1.2])
    assert leads._crossing_limits(edges, stretches, -2.0)[2:] == (False, False)


def test_contenders_are_all_that_no_band_puts_behind():
    # A - B = 0.04 (x + 2); decided beyond 2 * 0.01 sqrt(2) / 0.04 = 0.707 from the crossing.
    panel = panel_of([0.04, 0.0], [0.5, 0.5])
    reach = 2 * 0.01 * np.sqrt(2) / 0.04
    check(
        leads.leader_intervals(panel, 2.0),
        [(1, (1,)), (1, (0, 1)), (0, (0, 1)), (0, (0,))],
        [-2 - reach, -2, -2 + reach],
    )
    # A - B = 0.04 (x + 2), A - C = 0.04 (x + 1.75), C - B = 0.01: neighbours that are the same are one
    check(
        leads.leader_intervals(panel_of([0.04, 0.0, 0.0], [0.5, 0.5, 0.51]), 2.0),
        [(2, (1, 2)), (2, (0, 1, 2)), (0, (0, 1, 2)), (0, (0, 2)), (0, (0,))],
        [-1.75 - reach, -1.75, -2 + reach, -1.75 + reach],
    )
    panel = panel_of([0.04, 0.0], [0.5, 0.5])
    found = leads.leader_intervals(replace(panel, rarest=float(expit(-3.0))), 2.0)
    assert [inside for _, inside, _, _ in found] == [(0, 1), (1,), (0, 1), (0, 1), (0,)]
    assert found[0][3] == pytest.approx(-3.0)
    late = leads.leader_intervals(replace(panel, rarest=0.45), 2.0)
    assert [inside for _, inside, _, _ in late][:-1] == [(0, 1), (0, 1)]
    never = leads.leader_intervals(replace(panel, rarest=0.9), 2.0)
    assert [inside for _, inside, _, _ in never] == [(0, 1), (0, 1)]


def check(found, members, between):
    """Leaders and contenders of neighbouring stretches, and the log-odds between them."""
    ends = [logit(LOW), *between, logit(HIGH)]
    assert [(leader, inside) for leader, inside, _, _ in found] == members
    assert [low for _, _, low, _ in found] == pytest.approx(ends[:-1], abs=1e-8)
    assert [high for _, _, _, high in found] == pytest.approx(ends[1:], abs=1e-8)


def test_stretches_at_one_prior_and_mean_shortfalls():
    (found,) = leads.leader_intervals(panel_of([0, 0, 0], [0.5, 0.6, 0.599], low=0.1, high=0.1), 2.0)
    assert (found[:2], found[2:]) == ((1, (1, 2)), pytest.approx((logit(0.1), logit(0.1))))
    frame = leads.leaders_frame(panel_of([0, 0], [0.5, 0.6], low=0.1, high=0.1), ("A", "B"), np.nan)
    assert frame[["prior_low", "prior_high"]].to_numpy().tolist() == [[0.1, 0.1]] * 2
    assert frame["shortfall"].tolist() == pytest.approx([0.0, 0.1])
    panel = panel_of([0.0, 0.02, -0.02], [0.6, 0.5, 0.55], errors=0.2)
    found = leads.leaders_frame(panel, ("A", "B", "C"), 2.0)
    assert found["contender"].tolist() == ["A", "C", "B"]
    assert (found["leader"] == "A").all()
    middle = (logit(LOW) + logit(HIGH)) / 2 + 2  # a straight line has its mean in the middle
    assert found["shortfall"].to_numpy() == pytest.approx([0, 0.05 + 0.02 * middle, 0.1 - 0.02 * middle])
    assert found[["prior_low", "prior_high"]].to_numpy().tolist() == [[LOW, HIGH]] * 3


@pytest.mark.parametrize("slope", [-0.4, 0.4])
def test_bands_beside_a_single_prior_do_not_count(slope):
    """A band that excludes 0 only at priors near the single one puts no model above another at it."""
    crossing = panel_of([slope, 0.0], [0.5 - slope * (logit(0.1) + 2), 0.5], low=0.1, high=0.1)
    assert leads.differing_priors_frame(crossing, ("A", "B"), 2.0).empty
    ahead = panel_of([slope, 0.0], [0.6 - slope * (logit(0.1) + 2), 0.5], low=0.1, high=0.1)
    frame = leads.differing_priors_frame(ahead, ("A", "B"), 2.0)
    assert frame.to_numpy().tolist() == [["A", "B", 0.1, 0.1]]
    assert leads.differing_priors_frame(replace(ahead, rarest=0.11), ("A", "B"), 2.0).empty


def test_unknown_crossings_stretches_that_touch_and_gaps_of_rounding(monkeypatch):
    edges, priors = panel_priors(LOW, HIGH)
    known, rising = np.full(priors.shape, 0.04), [Chebyshev([1.0, 0.5])] * (len(edges) - 1)
    assert leads._delta_error(edges, rising, known, -2.0) > 0
    at = expit(edges[-1])  # a crossing at the end of the range
    assert leads._delta_error(edges, rising, known, edges[-1]) == pytest.approx(0.2 / 0.5 * at * (1 - at))
    assert np.isnan(leads._delta_error(edges, [Chebyshev([1.0])] * (len(edges) - 1), known, -2.0))
    assert np.isnan(leads._delta_error(edges, rising, np.inf * known, -2.0))
    behind = [(-3.5, -3.0), (-2.5, -2.0), (-2.0 + leads.MIN_WIDTH / 2, -1.0)]
    monkeypatch.setattr(leads, "band_intervals", lambda *_: [(0, 1, *limits) for limits in behind])
    found = leads.leader_intervals(panel_of([0.0, 0.0], [0.6, 0.5]), 2.0)
    assert [inside for _, inside, _, _ in found] == [(0, 1), (0,), (0, 1), (0,), (0, 1)]
    assert [low for _, _, low, _ in found[1:]] == [-3.5, -3.0, -2.5, -1.0]
    assert [high for _, _, _, high in found[:-1]] == [-3.5, -3.0, -2.5, -1.0]
    behind[:] = [(-5.0, logit(LOW) + leads.MIN_WIDTH / 2)]
    assert len(leads.leader_intervals(panel_of([0.0, 0.0], [0.6, 0.5]), 2.0)) == 1


@pytest.mark.parametrize(
    ("control", "pairs"), [(None, ["AB", "AC", "BC"]), ("A", ["AB", "AC"]), ("C", ["AC", "BC"])]
)
def test_differing_pairs_of_all_or_with_the_control(control, pairs):
    panel = panel_of([0.0, 0.0, 0.0], [0.7, 0.6, 0.5])
    found = leads.differing_priors_frame(panel, ("A", "B", "C"), 2.0, control=control)
    assert (found["better"] + found["worse"]).tolist() == pairs
    assert found[["prior_low", "prior_high"]].to_numpy().tolist() == [[LOW, HIGH]] * len(pairs)


def test_rows_and_contenders_by_prior_are_those_of_bands_and_stretches():
    measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2), deployment_prior=(0.06, 0.11))
    rows = leads.tabulate_by_prior(measures)
    grid = rows["prior"].unique()
    assert set(grid) >= {0.5, 0.2, 0.06, 0.11}
    assert np.all(np.diff(grid) > 0)
    assert rows["model"].tolist() == [*measures.models] * len(grid)
    bands = auprec_bands(measures, grid)
    for model in measures.models:
        ours, theirs = (f[f["model"] == model].reset_index(drop=True) for f in (rows, bands))
        assert ours[list(theirs)].equals(theirs)
        means = regret(measures, grid)
        assert ours["regret"].tolist() == means.loc[means["model"] == model, "regret"].tolist()
    for _, there in rows.groupby("prior"):
        assert (there.sort_values("rank")["auprec"].diff().dropna() <= 0).all()
        assert sorted(there["rank"]) == [1, 2, 3]
    measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))
    rows = [(0.05, 0.2, "A"), (0.05, 0.2, "B"), (0.2, 0.5, "C"), (0.2, 0.5, "B")]
    leading = pd.DataFrame(rows, columns=["prior_low", "prior_high", "contender"])
    rows = leads.by_prior_frame(measures, leading, alpha=0.05, rng=0)
    found = {prior: set(there["model"][there["contender"]]) for prior, there in rows.groupby("prior")}
    assert all(found[prior] == {"A", "B"} for prior in found if prior < 0.2)
    assert all(found[prior] == {"B", "C"} for prior in found if prior > 0.2)
    assert found[0.2] == {"A", "B", "C"}  # the limit is of both stretches


PRIORS = (0.6, 0.1, 0.004)
RATIO = 0.25


def simulated(design, models=None, *, seed=5, **options):
    """Evaluation and scores of a narrow and a wide model (and others), whose curves cross at prior 0.05."""
    models = models or crossing_pair(0.05, design.jitter, 1.8)
    positive, scores = draw_scores(models, design, np.random.default_rng(seed))
    frame = pd.concat(
        pd.DataFrame({"model": f"M{k}", "fold": f, "y_true": positive.astype(int), "y_score": scores[f, k]})
        for f in range(design.n_folds)
        for k in range(len(models))
    )
    table = read_scores(frame)
    with warnings.catch_warnings(action="ignore"):
        stated = "independent" if design.n_folds > 1 else "auto"
        return evaluate(table, at_priors=PRIORS, design=stated, **options), table


@pytest.fixture(scope="module")
def folds():
    return simulated(SampleSizes(10, 100, 900, 0.1), (*crossing_pair(0.05, 0.1, 1.8), Model(1.2)))


@pytest.fixture(scope="module")
def one_set():
    return simulated(SampleSizes(1, 300, 2700))


def t_along(evaluation, pair, priors, *, ratio):
    """Mean difference of a pair over folds, and its standard error."""
    frame = auprec_by_prior(evaluation, priors)
    wide = frame.pivot(index="fold", columns=["model", "prior"], values="auprec")
    d = wide[pair[0]].to_numpy() - wide[pair[1]].to_numpy()
    return d.mean(axis=0), d.std(axis=0, ddof=1) * np.sqrt(1 / len(d) + ratio)


@pytest.mark.no_cover
@pytest.mark.parametrize(("ratio", "alpha"), [(0.0, 0.3), (RATIO, 0.05)])
def test_intervals_are_where_the_t_test_does_not_reject(folds, ratio, alpha):
    measures, _ = folds
    found = decision.find_crossings(designed(measures, ratio), alpha=alpha)
    assert tuple(found) == CROSSING_COLUMNS
    assert found["prior"].is_monotonic_increasing
    assert {"M0", "M1"} <= {*found["model_below"], *found["model_above"]}
    grid = expit(np.linspace(logit(0.004), logit(0.6), 4001))
    step = np.diff(logit(grid))[0]
    critical = stats.t.isf(alpha / 2, 9)
    for row in found.itertuples():
        difference, error = t_along(measures, (row.model_above, row.model_below), grid, ratio=ratio)
        here = np.searchsorted(grid, row.prior)
        assert difference[here - 1] <= 0 <= difference[here]  # the better one changes at this prior
        inside = np.abs(difference) <= critical * error
        low = high = here
        while low > 0 and inside[low - 1]:
            low -= 1
        while high < len(grid) - 1 and inside[high + 1]:
            high += 1
        assert abs(logit(row.conf_low) - logit(grid[low])) <= 1.01 * step
        assert abs(logit(row.conf_high) - logit(grid[high])) <= 1.01 * step
        assert (row.open_low, row.open_high) == (low == 0, high == len(grid) - 1)
        slope = (difference[here] - difference[here - 1]) / (grid[here] - grid[here - 1])
        assert (row.std_error, row.df) == (pytest.approx(error[here] / slope, rel=0.01), 9)


def test_crossings_on_a_grid_are_near_the_roots(folds):
    measures = designed(folds[0], RATIO)
    expected = decision.find_crossings(measures)
    joint = joint_curves(measures, expit(np.linspace(logit(0.004), logit(0.6), 801)))
    found = interpolate_crossings(joint, measures.models, 0.05)
    assert len(expected)
    pd.testing.assert_frame_equal(found, expected, rtol=2e-3, check_dtype=False)


def t_of_difference(table, prior):
    """The t of the difference of both models at a prior, on the angular scale, as a normal deviate."""
    positive = table.frame["y_true"].to_numpy()[:3000] == 1
    found = compare_test_set(positive, table.frame["y_score"].to_numpy().reshape(2, -1).T, prior=prior)
    return stats.norm.isf(found.p_value[0] / 2)


def test_one_set_leaves_out_its_cases(one_set):
    measures, table = one_set
    found = decision.find_crossings(measures)
    row = found.iloc[0]
    for limit in (row.conf_low, row.conf_high):
        if not (row.open_low if limit == row.conf_low else row.open_high):
            assert t_of_difference(table, limit) == pytest.approx(stats.norm.isf(0.025), rel=1e-6)
    assert np.isinf(row.df)
    unknown = decision.find_crossings(replace(measures, scores=None))
    assert unknown["prior"].tolist() == found["prior"].tolist()
    assert unknown[["conf_low", "conf_high", "std_error", "df"]].isna().all(axis=None)


def test_contenders_follow_the_simultaneous_bands(folds):
    measures, _ = folds
    grid = expit(np.linspace(logit(0.004), logit(0.6), 41))
    found = decision.find_leaders(measures)
    assert tuple(found) == LEADER_COLUMNS
    bands = decision.difference_curves(measures, grid)  # the same draws, so the same critical value
    means = auprec_by_prior(measures, grid).groupby(["prior", "model"])["auprec"].mean()
    for prior in grid[1:-1]:
        here = found[(found["prior_low"] <= prior) & (prior <= found["prior_high"])]
        rows = bands[(bands["prior"] == prior) & bands["reject"]]
        # below the smallest supported prior all are in
        assert rows.empty or prior >= measures.support.smallest_prior
        out = {*rows.loc[rows["conf_low"] > 0, "model_b"], *rows.loc[rows["conf_high"] < 0, "model_a"]}
        assert set(here["contender"]) == set(measures.models) - out
        assert here["leader"].unique().tolist() == [means.loc[prior].idxmax()]
    stretches = found.drop_duplicates(["prior_low", "prior_high"])
    assert (stretches["prior_low"].iloc[0], stretches["prior_high"].iloc[-1]) == (0.004, 0.6)
    assert stretches["prior_low"].tolist()[1:] == stretches["prior_high"].tolist()[:-1]


def test_without_scores_one_fold_leaves_everyone_in(one_set):
    measures, _ = one_set
    leads, found = decision.find_regions(measures), decision.find_leaders(measures)
    assert len(decision.find_leaders(replace(measures, scores=None))) == 2 * len(leads)
    assert len(found.drop_duplicates(["prior_low"])) > len(leads)
    below = found[found["prior_low"] < 100 / 2800 * (1 - 1e-9)]  # too few effective negatives
    assert len(below) == 2 * below["prior_low"].nunique()
    for function in (decision.find_crossings, decision.find_leaders):
        expect_error("`alpha` must lie above 0 and at most 0.5, but got 2", function, measures, alpha=2)
