"""Pages run as tests: what a page draws itself is drawn, a folder that it saves has blank figures."""

import pytest
from blank_figures import undrawn as undrawn


@pytest.fixture(autouse=True)
def without_figures_in_folders(undrawn: None) -> None:
    """Every page."""
