"""The study of estimated priors: samples, what is counted, the command."""

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import chi2

from skewanova import InputError, estimate_prior
from skewanova.priors.mixtures import BinCounts
from studies import priors
from studies.__main__ import study
from studies.priors import LEVELS, PRIOR_STUDY_COLUMNS, SETTINGS, Setting, prior_study, sample


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(priors, "DRAWS", 19)


def test_samples_have_the_sizes_and_the_prior_of_their_setting():
    positive, negative, field = sample(Setting(50, 40_000, auc=0.95, prior=0.2), np.random.default_rng(0))
    assert (len(positive), len(negative), len(field)) == (50, 200, 40_000)
    assert field.mean() == pytest.approx(0.2 * np.sqrt(2) * 1.645, abs=0.03)


def test_violations_move_what_they_say():
    drawn = {
        v: sample(Setting(50, 40_000, violation=v), np.random.default_rng(0))[2]
        for v in ("", "negatives", "positives", "subpopulation")
    }
    base = drawn[""].mean()
    assert drawn["negatives"].mean() - base == pytest.approx(0.95 * 0.3, abs=0.02)
    assert drawn["positives"].mean() - base == pytest.approx(0.05 * 0.3, abs=0.01)
    assert drawn["subpopulation"].mean() > base
    assert set(sample(SETTINGS["ties"], np.random.default_rng(0))[0]) <= set(range(-5, 8))


def test_a_replicate_is_what_estimate_prior_says_of_the_sample():
    """The interval of the study holds the prior where that of the public function does."""
    setting = SETTINGS["usual"]
    found = priors._measures(setting, ["8"], np.random.SeedSequence(3), 4)
    counts = BinCounts(*(found[f"8|{name}"] for name in BinCounts._fields))
    usual, _ = priors.judged(counts, found["8|critical"], setting.prior)
    draws = np.random.default_rng(np.random.SeedSequence(3))
    for i in range(4):
        positive, negative, field = sample(setting, draws)
        labels = np.repeat([1, 0], [len(positive), len(negative)])
        one = estimate_prior(labels, np.concatenate([positive, negative]), field)
        assert usual["coverage"][i] == (one.conf_low <= 0.05 <= one.conf_high)
        assert usual["bias"][i] == pytest.approx(one.estimate - 0.05)
        assert usual["width"][i] == pytest.approx(one.conf_high - one.conf_low, abs=1e-4)
        assert usual["shift_rejected"][i] == (one.label_shift.statistic > chi2.ppf(0.95, 6))


def test_empty_bins_that_fill_up_change_nothing():
    """Ties leave samples with fewer bins than were asked for; they are judged beside the others."""
    draws = np.random.default_rng(0)
    one = priors._counted(sample(SETTINGS["ties"], draws), "20", SETTINGS["ties"])
    assert len(one.positive) < 20
    filled = BinCounts(*(priors._padded(part, "20") for part in one))
    critical = np.full((1, 2), 4.0)
    for short, long in zip(
        *(priors.judged(BinCounts(*(part[None] for part in each)), critical, 0.05) for each in (one, filled)),
        strict=True,
    ):
        assert short.keys() == long.keys()
        for key, value in short.items():
            assert long[key] == pytest.approx(value, abs=1e-6), key


def test_frame_has_a_row_for_every_setting_bins_and_level():
    study = prior_study(scenarios=["usual", "ties"], bins=["4", "rule"], replicates=3, progress=False)
    frame = study.to_frame()
    assert tuple(frame.columns) == PRIOR_STUDY_COLUMNS
    assert len(frame) == 2 * 2 * len(LEVELS)
    assert frame["coverage"].between(0, 1).all()
    assert {table.header[0] for table in study.to_tables()} == {"Setting"}


def test_a_setting_has_the_same_numbers_beside_others():
    options = {"bins": ["4"], "replicates": 3, "progress": False}
    alone = prior_study(scenarios=["ties"], **options).to_frame()
    both = prior_study(scenarios=["usual", "ties"], **options).to_frame()
    assert both[both["setting"] == "ties"].reset_index(drop=True).equals(alone)


def test_weak_models_and_few_positives_take_the_bootstrap():
    found = priors._measures(SETTINGS["weak and few"], ["rule", "4"], np.random.SeedSequence(0), 3)
    usual = chi2.ppf(1 - np.array(LEVELS), 1)
    assert (found["4|critical"] == usual).all()
    assert (found["rule|critical"] >= usual).all()
    assert (found["rule|critical"] > usual).any()
    with pytest.raises(InputError, match="`scenarios` must be one of"):
        prior_study(scenarios=["none"])


def test_the_command_runs_the_study(monkeypatch):
    monkeypatch.setattr(priors, "SETTINGS", {"usual": SETTINGS["usual"]})
    done = CliRunner().invoke(study, ["prior", "--replicates", "2"])
    assert done.exit_code == 0, done.output
    assert "Coverage (mean width) of intervals of the prior at level .05" in " ".join(done.stdout.split())
