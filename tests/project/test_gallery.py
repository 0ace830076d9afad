"""The gallery shows every plot; its page is what the script writes, its pictures are there and small."""

import re

import pytest
from example_scripts import ROOT, load_example
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from PIL import Image

import skewanova as sa

PAGE = ROOT / "docs" / "gallery.md"
FOLDER = ROOT / "docs" / "images" / "gallery"


@pytest.fixture(scope="module")
def gallery():
    return load_example("gallery")


@pytest.fixture(scope="module")
def reports():
    return load_example("report_pictures")


def test_the_page_is_what_the_script_writes_of_models_that_cross(gallery):
    assert PAGE.read_text(encoding="utf-8") == gallery.page("images/gallery")
    shown = set(re.findall(r"sa\.plotting\.(plot_\w+)\(", PAGE.read_text(encoding="utf-8")))
    assert shown == {name for name in sa.plotting.__all__ if name.startswith("plot_")}
    linked = re.findall(r"\]\((images/[^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert {(PAGE.parent / link).resolve() for link in linked} == set(FOLDER.iterdir())
    sizes = [path.stat().st_size for path in FOLDER.iterdir()]
    assert max(sizes) < 150_000  # of a surface in space: its colours are not cut down to a few
    assert sum(sizes) < 2_500_000
    assert len(gallery.SIMULATED) >= 8
    scores = gallery.simulated_scores()
    assert scores.groupby(["model", "fold"]).size().eq(gallery.N_POSITIVE + gallery.N_NEGATIVE).all()
    measures = sa.evaluate(scores, at_priors=(0.5, 0.2), deployment_prior=(0.1, 0.2))
    assert sa.decision.find_regions(measures)["model"].nunique() > 1


def test_pictures_are_saved_with_what_they_show_and_none_is_stale(gallery, tmp_path, satellite):
    figure = Figure(figsize=(2, 1))
    figure.subplots().plot([0, 1])
    known = gallery.drawn(figure)
    assert gallery.save(figure, tmp_path / "x.png") == (tmp_path / "x.png").stat().st_size
    with Image.open(tmp_path / "x.png") as picture:
        assert (picture.mode, picture.size, picture.text["Drawn"]) == ("RGBA", (220, 110), known)
    other = Figure(figsize=(2, 1))
    other.subplots().plot([0, 2])
    assert gallery.drawn(other) != known
    # Those of the satellite data; `make gallery` draws all of them anew.
    results = {"satellite": satellite, **gallery.others()}
    for picture, cases in gallery.shown().items():
        with Image.open(FOLDER / f"{cases[0]}_{picture.__name__}.png") as found:
            stamp = found.text["Drawn"]
        figure = picture(results[cases[0]]).figure
        assert stamp == gallery.drawn(figure), f"{picture.__name__} is stale: run make gallery"
        plt.close(figure)


@pytest.fixture(scope="module")
def satellite(reports):
    return reports.compared()


@pytest.mark.parametrize("name", ["report", "report-dark", "report-phone", "report-print", "tables"])
def test_no_picture_of_the_report_is_stale(reports, satellite, name):
    with Image.open(FOLDER.parent / f"{name}.png") as found:
        assert found.text["Drawn"] == reports.made_from(satellite, name), "stale: run make gallery"


def test_main_draws_each_picture_of_each_case(gallery, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gallery, "compared", lambda: {"satellite": 1, "simulated": 2})
    monkeypatch.setattr(gallery, "others", lambda: {"runs": 3})

    def picture(result):
        """A picture."""
        ax = Figure(figsize=(1, 1)).subplots()
        ax.set_title(str(result))
        return ax

    def other(result):
        """Another picture."""
        return picture(result)

    monkeypatch.setattr(gallery, "PICTURES", (picture,))
    monkeypatch.setattr(gallery, "OTHERS", {other: "runs"})
    gallery.main(["--out", str(tmp_path / "a" / "b"), "--page", str(tmp_path / "a" / "page.md")])
    assert {path.name for path in (tmp_path / "a" / "b").iterdir()} == {
        "satellite_picture.png", "simulated_picture.png", "runs_other.png",
    }  # fmt: skip
    assert "](b/simulated_picture.png)" in (tmp_path / "a" / "page.md").read_text(encoding="utf-8")
    assert "together" in capsys.readouterr().out
