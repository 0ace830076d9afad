"""The scikit-learn example runs, fits the screen, and says what is true."""

import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover  # the package's lines have tests of their own

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "scikit_learn.py"


def test_it_compares_its_models_and_corrects_probabilities(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location("example_scikit_learn", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main([])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    for model in ("logistic", "naive Bayes", "tree"):
        assert model in printed
    assert "repeated hold-out, 10 folds" in printed
    balanced, rare = printed.splitlines()[-2:]
    assert int(rare.split()[0]) < int(balanced.split(": ")[1].split()[0])
    assert not list(tmp_path.iterdir())
