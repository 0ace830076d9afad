"""Figures are drawn without a screen and closed after every test."""

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from plot_checks import make_result

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def result():
    return make_result()
