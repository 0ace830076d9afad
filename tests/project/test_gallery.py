"""The gallery shows every plot by code that runs; samples are answered as their page says."""

import re

import pytest
from example_scripts import ROOT, load_example
from matplotlib import pyplot as plt
from PIL import Image

import skewanova as sa

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def gallery():
    return load_example("gallery")


@pytest.fixture(scope="module")
def samples():
    return load_example("samples")


@pytest.fixture(scope="module")
def reports():
    return load_example("report_pictures")


def test_the_page_shows_every_plot_in_a_few_lines_each(gallery):
    text = gallery.PAGE.read_text(encoding="utf-8")
    pictures = gallery.list_pictures(text)
    assert len(pictures) == text.count("```python") == len({picture.name for picture in pictures})
    plots = {re.findall(r"sa\.plotting\.(plot_\w+)\(", picture.code)[0] for picture in pictures}
    assert plots == {name for name in sa.plotting.__all__ if name.startswith("plot_")}
    assert max(len(picture.code.split("\n")) for picture in pictures) <= 7
    shown = gallery.add_pictures(text, "gallery")
    for picture in pictures:
        assert shown.count(f'src="gallery/{picture.name}.png"') == 2


def test_pictures_are_drawn_by_the_code_of_the_page(gallery, tmp_path, capsys):
    line = "from matplotlib import pyplot as plt\nplt.plot([0, 1])\n"
    gallery.draw_pictures(tmp_path / "new", f"## Two points (a, b)\n\nA line.\n\n```python\n{line}```\n")
    with Image.open(tmp_path / "new" / "two-points-a-b.png") as picture:
        assert picture.getcolors(1000) is None or len(picture.getcolors(1000)) > 1
    assert plt.get_fignums() == []


def test_every_sample_has_a_command_a_picture_and_the_answer_of_its_report(samples, tmp_path):
    text = samples.PAGE.read_text(encoding="utf-8")
    names = list(samples.list_commands(text))
    assert names == [table.__name__ for table in samples.TABLES[:8]]
    for name in names:
        assert text.count(f'src="samples/{name}.svg"') == text.count(f"--out {name}\n") == 1
        assert text.count(f'href="samples/{name}/report.html"') == 2
    page = tmp_path / "page.md"
    text = "> Use boosting or forest. logistic is worse than both."
    page.write_text(f"{text}\n\nskewanova compare few.csv --out few")
    samples.write_samples(tmp_path / "new", page)
    report = (tmp_path / "new" / "few" / "report.html").read_text(encoding="utf-8")
    assert "Use boosting or forest" in samples.read_answer(report)
    drawing = (tmp_path / "new" / "few.svg").read_text(encoding="utf-8")
    assert drawing.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="800" height="500" class="wide')
    assert "prefers-color-scheme" not in drawing
    page.write_text("> Use forest.\n\nskewanova compare few.csv --out few")
    with pytest.raises(ValueError, match=r"must quote the verdict on few\.csv: Use boosting or forest"):
        samples.write_samples(tmp_path / "new", page)


@pytest.fixture(scope="module")
def satellite(reports):
    return reports.compared()


@pytest.mark.parametrize("name", ["report", "report-dark", "report-phone", "report-print", "tables"])
def test_no_picture_of_the_report_is_stale(reports, satellite, name):
    with Image.open(DOCS / "images" / f"{name}.png") as found:
        assert found.text["Drawn"] == reports.made_from(satellite, name), "stale: run make gallery"


def test_the_first_picture_is_of_models_that_change_places(reports):
    result = reports.crossing()
    with Image.open(DOCS / "images" / "fraud.png") as found:
        assert found.text["Drawn"] == reports.made_from(result, "fraud"), "stale: run make gallery"
    assert result.verdict.state == "by_prior"
