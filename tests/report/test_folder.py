"""The report and the output folder: complete, exact, self-contained, safe with any name, whole or absent."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import warnings
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hostile_results import HOSTILE, SCRIPT, simulated
from matplotlib import pyplot as plt
from matplotlib import rcParams
from matplotlib.figure import Figure

from skewanova.base import folders
from skewanova.base.checks import InputError, SkewanovaWarning
from skewanova.base.folders import FIGURE_FORMATS, PROVENANCE, OutputError
from skewanova.base.text import Table
from skewanova.comparison.pipeline import compare
from skewanova.decision.verdict import LINES, Verdict, VerdictNumber
from skewanova.report import document as report_document
from skewanova.report import figures as report_figures
from skewanova.report import folder as report_folder
from skewanova.report import methods, rendering
from skewanova.report import source as report_source
from skewanova.report.document import TABLE_PLACES, TEST_ROLES
from skewanova.report.figures import KINDS as EVERY_KIND
from skewanova.report.folder import render_html, write_folder
from skewanova.report.publication import latex_of
from skewanova.report.source import FRAMES

#: Figures of folds.
KINDS = [kind for kind in EVERY_KIND if kind not in {"components", "prior_estimate"}]

CSV_FILES = {f"{name}.csv" for name in FRAMES}


FIGURE_FILES = {f"figures/{kind}.{name}" for kind in EVERY_KIND for name in FIGURE_FORMATS}


FILES = {*CSV_FILES, *FIGURE_FILES, "report.html", "tables.tex", "tables.md", "references.bib", PROVENANCE}

VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}


class Like:
    """A comparison with some attributes replaced."""

    def __init__(self, result, **replaced):
        self._result = result
        self.__dict__.update(replaced)

    def __getattr__(self, name):
        return getattr(self._result, name)


def at_one_prior(result):
    """The same result as if there had been one prior."""
    alone = {name: result.tables[name] for name in ("auprec", "auprec_by_prior", "precision_recall")}
    alone = {name: frame[frame["prior"] == frame["prior"].iloc[0]] for name, frame in alone.items()}
    alone["prior_pairs"] = result.tables["prior_pairs"].iloc[:0]
    return Like(result, tables={**result.tables, **alone})


@pytest.fixture(scope="module")
def plain():
    return simulated(["A", "B"])


@pytest.fixture(scope="module")
def plain_folder(plain, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        return write_folder(plain, tmp_path_factory.mktemp("plain") / "out")


@pytest.fixture(scope="module")
def plain_document(plain_folder):
    return (plain_folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hostile():
    return simulated(HOSTILE, priors=(0.5, 0.1, 0.01))


@pytest.fixture(scope="module")
def folder(hostile, tmp_path_factory):
    place = tmp_path_factory.mktemp("report") / "new" / "out"
    return write_folder(hostile, place, figures=("svg", "png", "pdf"))


@pytest.fixture(scope="module")
def document(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def tree(place):
    """Every name below with its content."""
    return {
        path.relative_to(place).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(place.rglob("*"))
    }


class Outline(HTMLParser):
    """Checks that tags are balanced; keeps ids, references, headings and attributes."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.headings, self.tags, self.words = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if "id" in dict(attrs):
            self.ids.append(dict(attrs)["id"])
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def named(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


# --- the folder ---------------------------------------------------------------------------------------------


def test_folder_holds_every_file_and_nothing_else(folder):
    names = {name for name, content in tree(folder).items() if content is not None}
    absent = {f"figures/{kind}.{name}" for kind in set(EVERY_KIND) - set(KINDS) for name in FIGURE_FORMATS}
    assert names == FILES - absent
    # no models differ; no cases to count once; no runs
    headers = {"differing_priors.csv": 30, "score_bins.csv": 40, "components.csv": 30}
    assert all(c is None or len(c) > headers.get(name, 50) for name, c in tree(folder).items())


@pytest.mark.parametrize("name", [*FRAMES])
def test_csv_gives_back_the_frame_exactly(folder, hostile, name):
    frame = hostile.tables[name]
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == list(frame)
    assert len(rows) == len(frame)
    for column, cells in zip(frame, zip(*rows, strict=True) if rows else [()] * len(header), strict=True):
        for cell, value in zip(cells, frame[column], strict=True):
            if isinstance(value, float | np.floating):
                assert cell == "" if np.isnan(value) else float(cell) == value
            else:
                assert cell == str(value)


def test_pandas_reads_names_with_line_breaks(folder, hostile):
    read = pd.read_csv(folder / "ranking.csv")
    assert read["model"].tolist() == hostile.ranking["model"].tolist()
    assert "\r" in "".join(read["model"])


def test_empty_frame_is_a_file_with_a_header(undrawn, plain, tmp_path):
    text = (write_folder(at_one_prior(plain), tmp_path / "out") / "prior_pairs.csv").read_text()
    assert text == ",".join(plain.tables["prior_pairs"]) + "\n"


def test_provenance_tells_versions_settings_and_input(folder, hostile):
    found = json.loads((folder / "provenance.json").read_text())
    assert found["tool"] == "skewanova"
    assert found["input"] == {"name": None, "sha256": hostile.sha256}
    assert found["settings"] == json.loads(json.dumps(hostile.settings))
    assert found["seed"] == 0
    assert {"python", "numpy", "scipy", "pandas", "statsmodels", "matplotlib", "seaborn"} < set(
        found["versions"]
    )
    assert found["versions"]["numpy"] == np.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["created"])


def test_provenance_names_the_file_but_not_its_place(plain, undrawn, tmp_path):
    named = Like(
        plain, source=tmp_path / "secret" / "scores.csv", settings={**plain.settings, "n": np.int64(3)}
    )
    write_folder(named, tmp_path / "out")
    text = (tmp_path / "out" / "provenance.json").read_text()
    assert json.loads(text)["input"]["name"] == "scores.csv"
    assert json.loads(text)["settings"]["n"] == 3
    assert "secret" not in text


@pytest.mark.no_cover
def test_two_runs_are_alike_to_the_byte(plain_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    second = write_folder(simulated(["A", "B"]), tmp_path / "second")
    assert tree(plain_folder) == tree(second)
    assert json.loads((second / "provenance.json").read_text())["created"] == "2023-11-14T22:13:20Z"


def test_figures_are_what_their_names_say(folder):
    for kind in KINDS:
        png, svg, pdf = (
            (folder / "figures" / f"{kind}.{name}").read_bytes() for name in ("png", "svg", "pdf")
        )
        assert png.startswith(b"\x89PNG")
        width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
        assert width >= 6 * 150
        assert height >= 2 * 150
        assert b"<svg" in svg[:400]
        assert svg.rstrip().endswith(b"</svg>")
        assert pdf.startswith(b"%PDF")


def test_figures_are_vectors_unless_others_are_asked_for(plain_folder):
    assert {path.suffix for path in (plain_folder / "figures").iterdir()} == {".svg"}


@pytest.mark.parametrize(
    ("asked", "suffixes"),
    [("png", {".png"}), ("pdf, svg", {".pdf", ".svg"}), ("none", set()), ((), set())],
)
@pytest.mark.usefixtures("undrawn")
def test_figures_have_the_formats_asked_for(plain, tmp_path, asked, suffixes):
    folder = write_folder(plain, tmp_path / "out", figures=asked)
    assert {path.suffix for path in (folder / "figures").glob("*")} == suffixes
    document = (folder / "report.html").read_text(encoding="utf-8")
    assert ("<figure" in document) == bool(suffixes)  # the page shows them whatever the files are


def test_unknown_format_of_figures_is_refused(plain, tmp_path):
    with pytest.raises(InputError, match=r"`figures` must be some of svg, png, pdf, or none, but got 'gif'"):
        write_folder(plain, tmp_path / "out", figures="svg,gif")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.no_cover
def test_drawing_leaves_pyplot_and_its_settings_alone(plain, plain_document):
    before, figures = dict(rcParams), plt.get_fignums()
    with plt.rc_context({"axes.facecolor": "black", "font.size": 30}):
        styled = render_html(plain)
    assert dict(rcParams) == before
    assert plt.get_fignums() == figures
    assert inline_of(styled) == inline_of(plain_document)


def inline_of(document):
    return re.findall(r"<svg.*?</svg>", document, flags=re.DOTALL)


def test_folder_has_the_rights_of_any_new_folder(folder, tmp_path):
    (tmp_path / "usual").mkdir()
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE((tmp_path / "usual").stat().st_mode)


# --- whole or not at all ------------------------------------------------------------------------------------


def broken(source, formats):
    yield "iauprec", dict.fromkeys(formats, b"picture")
    raise RuntimeError("no more ink")


def test_failure_in_the_middle_leaves_no_trace(plain, tmp_path, monkeypatch):
    monkeypatch.setattr(report_folder, "draw_figures", broken)
    with pytest.raises(RuntimeError, match="no more ink"):
        write_folder(plain, tmp_path / "deep" / "out")
    assert tree(tmp_path) == {}


def test_interrupt_leaves_no_trace(plain, undrawn, tmp_path, monkeypatch):
    monkeypatch.setattr(report_folder, "render", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_folder(plain, tmp_path / "out")
    assert tree(tmp_path) == {}


def test_failure_keeps_the_earlier_output(plain, undrawn, tmp_path, monkeypatch):
    target = write_folder(plain, tmp_path / "out")
    before = tree(tmp_path)
    monkeypatch.setattr(report_folder, "draw_figures", broken)
    with pytest.raises(RuntimeError, match="no more ink"):
        write_folder(simulated(["C", "D"]), target)
    assert tree(tmp_path) == before


@pytest.mark.slow
def test_failing_second_rename_brings_the_earlier_output_back(plain, undrawn, tmp_path, monkeypatch):
    target = write_folder(plain, tmp_path / "out")
    before, rename = tree(tmp_path), Path.rename

    def failing(path, new):
        if Path(new) == target and (path / "report.html").is_file() and not failing.done:
            failing.done = True
            raise OSError("disk on fire")
        return rename(path, new)

    failing.done = False
    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="disk on fire"):
        write_folder(simulated(["C", "D"]), target)
    assert tree(tmp_path) == before


def test_name_that_is_not_utf8_is_refused_whole(plain, undrawn, tmp_path):
    regions = plain.tables["regions"].assign(
        model=pd.Series(["B\ud800"] * len(plain.tables["regions"]), dtype=object)
    )
    result = Like(plain, tables={**plain.tables, "regions": regions})
    with pytest.raises(InputError, match=r"names must be text .* one holds '\\ud800'; rename it"):
        write_folder(result, tmp_path / "out")
    assert tree(tmp_path) == {}


@pytest.mark.slow
def test_earlier_output_is_replaced(undrawn, tmp_path, plain):
    target = write_folder(simulated(["Old", "Older"]), tmp_path / "out")
    assert write_folder(plain, str(target)) == target
    assert pd.read_csv(target / "ranking.csv")["model"].tolist() == plain.ranking["model"].tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_empty_folder_is_replaced(undrawn, plain, tmp_path):
    (tmp_path / "out").mkdir()
    assert (write_folder(plain, tmp_path / "out") / "report.html").is_file()


def test_link_stays_a_link(undrawn, plain, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_folder(plain, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "report.html").is_file()


def test_file_in_the_way_is_refused(plain, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(
        InputError, match=r"`directory` must be a folder, but 'out' is a file; choose another"
    ):
        write_folder(plain, tmp_path / "out")
    with pytest.raises(InputError, match="cannot be written"):
        write_folder(plain, tmp_path / "out" / "below")
    assert (tmp_path / "out").read_text() == "mine"


def test_folder_with_other_files_is_refused(plain, tmp_path):
    for name in ("thesis.tex", "a.csv", "b.csv", "c.csv"):
        (tmp_path / name).write_text("mine")
    before = tree(tmp_path)
    place = tmp_path.name
    with pytest.raises(
        InputError, match=rf"'{place}' holds 'a.csv', 'b.csv', 'c.csv', \.\.\.; move that away"
    ):
        write_folder(plain, tmp_path)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("text", ["", "[]", "{", '{"tool": "other"}', "\ud800"])
def test_output_of_another_tool_is_refused(plain, tmp_path, text):
    (tmp_path / "provenance.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(
        InputError, match=r"holds 'provenance\.json'; move that away or choose another folder"
    ):
        write_folder(plain, tmp_path)


def test_earlier_output_with_a_foreign_file_is_refused(undrawn, plain, tmp_path):
    target = write_folder(plain, tmp_path / "out")
    (target / "figures" / "mine.png").write_text("mine")
    (target / "empty").mkdir()
    (target / "elsewhere").symlink_to(tmp_path)
    with pytest.raises(InputError, match=r"holds 'elsewhere', 'empty', 'figures/mine\.png'; move"):
        write_folder(plain, target)
    assert (target / "figures" / "mine.png").read_text() == "mine"


def test_file_that_comes_in_meanwhile_is_kept(plain, tmp_path, monkeypatch):
    target = tmp_path / "out"
    target.mkdir()

    def intruded(source, formats):
        (target / "mine.txt").write_text("mine")
        return iter(())

    monkeypatch.setattr(report_folder, "draw_figures", intruded)
    with pytest.raises(InputError, match=r"holds 'mine\.txt'"):
        write_folder(plain, target)
    assert tree(tmp_path) == {"out": None, "out/mine.txt": b"mine"}


def test_current_and_mounted_folders_are_refused(plain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="must not be the current folder"):
        write_folder(plain, ".")
    monkeypatch.setattr(folders.os.path, "ismount", lambda path: True)
    with pytest.raises(InputError, match="or a mounted one"):
        write_folder(plain, tmp_path / "mounted")


def test_place_that_may_not_be_written_is_refused(plain, tmp_path, monkeypatch):
    def forbidden(path, *args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", forbidden)
    with pytest.raises(OutputError, match=r"'out' cannot be written \(Permission denied\); choose another"):
        write_folder(plain, tmp_path / "out")


# --- the document -------------------------------------------------------------------------------------------


def test_document_is_balanced_with_unique_ids_and_ordered_headings(document):
    outline = Outline(document)
    assert document.startswith("<!DOCTYPE html>")
    assert outline.named("html") == [{"lang": "en"}]
    assert len(outline.ids) == len(set(outline.ids))
    assert outline.headings[0] == 1
    assert outline.headings.count(1) == 1
    steps = np.diff(outline.headings)
    assert steps.max() == 1
    assert all("scope" in attrs for attrs in outline.named("th"))


def test_document_refers_only_to_itself(document):
    outline = Outline(document)
    targets = [v for _, attrs in outline.tags for k, v in attrs.items() if k.endswith(("href", "src"))]
    targets += [f"#{name}" for name in re.findall(r"url\(#([^)]*)\)", document)]
    assert targets
    inside = [target for target in targets if target.startswith("#")]
    assert {target[1:] for target in inside} <= set(outline.ids)
    files = {target for target in targets if not target.startswith("#")}
    assert files == ({*CSV_FILES, "references.bib"} - {"components.csv", "score_bins.csv"}) < FILES
    assert not re.search(r"""(src|href)=["']https?:|url\((?!#)|@import|@font-face""", document)


def test_document_has_one_script_whatever_the_names(document):
    outline = Outline(document)
    assert outline.named("script") == [{}]
    assert not any(name.startswith("on") for _, attrs in outline.tags for name in attrs)
    assert document.lower().count("<script") == 1
    assert "<!--" not in document
    assert SCRIPT in "".join(outline.words)
    (policy,) = (a["content"] for a in outline.named("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    script = re.search(r"<script>(.*)</script>", document, flags=re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.endswith(f"script-src 'sha256-{digest}'")


def test_every_figure_is_inline_and_described(document):
    outline = Outline(document)
    assert [attrs["id"] for attrs in outline.named("figure")] == [f"figure-{kind}" for kind in KINDS]
    described = [attrs["aria-label"] for attrs in outline.named("div") if attrs.get("role") == "img"]
    assert len(described) == len(KINDS)
    assert "<script>" in described[KINDS.index("iauprec")]
    assert len(outline.named("svg")) == len(KINDS)
    assert outline.named("style") == [{}]


def test_every_table_and_figure_names_its_file(document):
    notes = re.findall(r'<(p|span) class="files">(.*?)</\1>', document, flags=re.DOTALL)
    named = [re.findall(r"<code>(.*?)</code>", note) for _, note in notes]
    outline = Outline(document)
    assert len(named) == len(outline.named("table")) + len(outline.named("figure")) + 1  # references.bib
    assert all(named)
    known = {*CSV_FILES, "references.bib"} - {"components.csv", "score_bins.csv"}
    assert {name for names in named for name in names} == known


def test_document_opens_with_the_verdict_and_its_figure(plain, plain_document, undrawn):
    number = VerdictNumber("choose", "p_adjusted", 0.01, "0.01", "pairs")
    said = Verdict("choose", ("A",), "Deploy <A> & be glad.", "Very.", "Nowhere.", "None.", numbers=(number,))
    document = render_html(Like(plain, verdict=said))
    verdict, figure = document.index("Deploy &lt;A&gt; &amp; be glad."), document.index('id="figure-regions"')
    assert document.index("<h1>") < verdict < figure < document.index("<table")
    assert '<a href="#pairs">pairs</a>' in document
    words = " ".join("".join(Outline(plain_document).words).split())
    assert all(text in words for _, text, _ in plain.verdict.lines())
    targets = {name for _, _, names in plain.verdict.lines() for name in names}
    assert all(f'id="{TABLE_PLACES[name]}"' in plain_document for name in targets)


def test_calibrated_tests_stand_before_the_published(document):
    roles = [attrs["class"] for attrs in Outline(document).named("div") if attrs.get("class") in TEST_ROLES]
    assert roles == ["primary", "published", "secondary"]


def test_methods_cite_what_the_references_list(folder, document):
    text = (folder / "references.bib").read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{(\w+),$", text, flags=re.MULTILINE)
    assert len(keys) == len(set(keys)) >= 10
    assert text.isascii()
    assert {"landgrebe2006", "nadeau2003", "holm1979", "demsar2006"} <= set(keys)
    shown = " ".join("".join(Outline(document).words).split())
    start, end = shown.index("Ready to paste"), shown.index("References for BibTeX")
    for reference in methods.REFERENCES:
        assert (reference.key in keys) == (reference.to_text() in shown[start:end])
        assert (reference.key in keys) == (f"{{{reference.key}," in shown[end:])


def test_sections_stand_in_order_and_the_contents_list_them(document):
    outline = Outline(document)
    assert [attrs["id"] for attrs in outline.named("section")] == ["findings", "ranking"]
    parts = {attrs["id"]: "open" in attrs for attrs in outline.named("details")}
    contents = document[document.index("<nav") : document.index("</nav>")]
    assert re.findall(r'href="#(.*?)"', contents) == ["findings", "ranking", *parts]
    assert {name for name, is_open in parts.items() if is_open} == report_document.OPEN
    assert list(parts) == [name for name in report_document.CONTENTS if name in parts]


def test_findings_come_with_how_to_read_them(document, hostile):
    findings, rest = (" ".join("".join(Outline(part).words).split()) for part in parted(document))
    assert all(title in findings for title in LINES.values())
    assert hostile.labels[report_source.primary_rows(hostile.tests)["test"].iloc[0]] in findings
    shown = hostile.conclusions[: report_document.MOST_CONCLUSIONS]
    more = len(hostile.conclusions) - len(shown)
    assert (f"{more} more in the tables of pairwise differences." in findings) == (more > 0)
    assert all(" ".join(sentence.split()) in findings for sentence in shown)
    assert f"{len(hostile.warnings)} warnings to keep in mind" in findings
    tests = {*hostile.tests["test"], *hostile.pairs["test"]}
    labels = [label for test, label in hostile.labels.items() if test in tests]
    assert all(" ".join(text.split()) in rest for text in (*labels, *hostile.warnings))
    assert rest.count(report_document.ROLES["primary"]) == (hostile.pairs["role"] == "primary").any()


def parted(document):
    """The section of findings, and all that follows."""
    start, end = (
        document.index('<section id="findings"'),
        document.index('<details class="part" id="compared"'),
    )
    return document[start:end], document[end : document.index("</main>")]


def test_numbers_are_those_of_the_tables(plain, plain_document):
    text = " ".join("".join(Outline(plain_document).words).split())
    assert "uniform over priors 0.05 to 0.2" in text
    assert plain.sha256 in text


def test_one_prior_goes_without_the_figures_along_priors(plain, undrawn):
    document = render_html(at_one_prior(plain))
    drawn = [attrs["id"].removeprefix("figure-") for attrs in Outline(document).named("figure")]
    assert set(drawn) == {kind for kind in KINDS if kind not in report_figures.ALONG_PRIORS}
    assert drawn[0] == "iauprec"  # carries the verdict where there is nothing along the prior
    sections = [attrs["id"] for attrs in Outline(document).named("section")]
    assert not {"surface", "differences", "prior-pairs"} & set(sections)


@pytest.mark.slow
def test_one_test_set_is_not_said_to_be_folds(undrawn):
    document = render_html(one_set())
    text = " ".join("".join(Outline(document).words).split())
    text = text[: text.rindex("Provenance")]
    assert "over folds" not in text
    assert "one fold" not in text
    assert "correlated t test" not in text
    assert "one test set" in text
    assert "Satterthwaite, Franklin E. (1946)" in text
    absent = {"prior-pairs", "figure-residuals", "figure-interaction", "figure-critical_difference"}
    assert not absent & set(Outline(document).ids)


def one_set():
    rng = np.random.default_rng(3)
    positive = np.repeat([True, False], [60, 240])
    parts = [
        pd.DataFrame(
            {
                "model": name,
                "fold": 1,
                "case": range(300),
                "y_true": positive,
                "y_score": rng.normal(positive * d),
            }
        )
        for name, d in {"A": 1.5, "B": 1.0, "C": 0.5}.items()
    ]
    return compare(pd.concat(parts), (0.2, 0.4), at_priors=(0.5, 0.2))


def test_no_warnings_have_no_part(plain, undrawn):
    document = render_html(Like(plain, warnings=()))
    assert "to keep in mind" not in document
    assert "warnings" not in Outline(document).ids
    assert 'href="#warnings"' not in document


def test_page_without_a_folder_links_no_files(plain, undrawn):
    targets = [attrs["href"] for attrs in Outline(render_html(plain)).named("a")]
    assert targets
    assert all(target.startswith("#") for target in targets)


def test_slider_moves_over_the_rows_of_the_file(document, hostile):
    outline = Outline(document)
    (given,) = (attrs for attrs in outline.named("div") if attrs.get("id") == "slider")
    (bar,) = outline.named("input")
    steps, frame = json.loads(given["data-steps"]), hostile.by_prior
    assert not any(name in given["data-steps"] for name in HOSTILE)
    assert steps["priors"] == pytest.approx(sorted(set(frame["prior"])), rel=1e-8)
    assert int(bar["max"]) == len(steps["priors"]) - 1 == len(steps["rows"]) - 1
    assert set(steps["priors"]) >= {0.05, 0.1, 0.2, 0.5}  # of the table and of the deployment
    assert steps["priors"][int(bar["value"])] == pytest.approx(0.1, rel=0.1)  # amid the deployment prior
    for (_, rows), cells in zip(frame.groupby("prior"), steps["rows"], strict=True):
        for row, cell in zip(rows.itertuples(), cells, strict=True):
            rank, auprec, band, contender, regret = cell.split("|")
            assert int(rank) == row.rank
            assert [float(auprec), float(regret)] == pytest.approx([row.auprec, row.regret], abs=5e-4)
            assert list(map(float, band.split(" to "))) == pytest.approx(
                [row.conf_low, row.conf_high], abs=5e-4
            )
            assert contender == ("yes" if row.contender else "no")
    assert steps["captions"][0] == (
        "At prior 0.01 (negatives for each positive: 99), outside of the deployment prior"
    )
    assert steps["captions"][-1] == (
        "At prior 0.5 (negatives for each positive: 1), outside of the deployment prior"
    )


def test_slider_says_nothing_of_bands_that_are_not_known(plain):
    unknown = plain.by_prior.assign(conf_low=np.nan, conf_high=np.nan)
    slider = report_document._slider(Like(plain, by_prior=unknown))
    assert "95 % band" not in slider["at_prior"].table.header
    assert all(row.count("|") == 3 for rows in json.loads(slider["slider"]["steps"])["rows"] for row in rows)


def test_deployment_limits_shade_the_range(plain):
    limits = {**plain.settings, "deployment_limits": (0.2, 0.3)}
    shaded = report_figures.FIGURES["regions"].draw(Like(plain, settings=limits))
    bare = report_figures.FIGURES["regions"].draw(Like(plain, settings={"alpha": 0.05}))
    assert len(shaded.axes[0].patches) == len(bare.axes[0].patches) + 1


@pytest.mark.slow
def test_many_models_stay_readable():
    result = simulated([f"model {k}" for k in range(12)], n_folds=2)
    pairs = report_figures.FIGURES["pairs"].draw(result)
    assert len(pairs.axes[0].get_yticks()) == 11  # the first of the ranking against the rest
    surfaces = report_figures.FIGURES["surface"].draw(result)
    assert sum("model" in ax.get_title(loc="left") for ax in surfaces.axes) == report_figures.MOST_PANELS
    curves = report_figures.FIGURES["precision_recall"].draw(result)
    assert len(curves.axes) == 2  # one a prior
    captions = report_document._pictures(result, {"pairs": b"<svg/>", "surface": b"<svg/>"})
    assert "Drawn is the first of the ranking with those behind it" in captions["pairs"].caption
    assert captions["surface"].caption.endswith("The first 6.")


def test_pairs_left_out_of_the_panels_are_told():
    told = {
        n: report_figures.caption("difference_curves", simulated([f"model {k}" for k in range(n)], n_folds=2))
        for n in (4, 5)
    }
    drawn = "Drawn is the first of the ranking with 4 of those behind it."
    assert [told[n].endswith(drawn) for n in (4, 5)] == [False, True]  # 6 pairs, 10 pairs


@pytest.mark.parametrize(
    ("rows", "chosen"),
    [
        ([("x", "published", "iauprec"), ("y", "primary", "iauprec")], "y"),
        ([("x", "primary", "auprec"), ("y", "published", "iauprec")], "y"),
        ([("x", "check", "auprec"), ("y", "primary", "auprec")], "y"),
        ([("x", "check", "auprec"), ("y", "check", "auprec")], "x"),
    ],
)
def test_conclusions_rest_on_the_primary_test_of_iauprec(rows, chosen):
    frame = pd.DataFrame(rows, columns=["test", "role", "response"])
    assert report_source.primary_rows(frame)["test"].tolist() == [chosen]


def test_inline_svg_keeps_the_ids_of_figures_apart():
    svg = b"""<?xml version="1.0"?><!DOCTYPE svg>
    <svg xmlns="u" xmlns:xlink="v"><style>*{x:y}</style><!-- a -->
    <path id="p"/><use xlink:href="#p" clip-path="url(#p)"/></svg>"""
    inline = str(rendering.inline_svg(svg, "roc"))
    assert inline.startswith('<svg aria-hidden="true" focusable="false">')
    assert '<path id="roc-p"/><use href="#roc-p" clip-path="url(#roc-p)"/>' in inline


def test_inline_svg_leaves_words_alone_and_has_the_colours_of_the_page():
    name = 'id="p" href="#p" url(#p) #ffffff'
    svg = f'<svg><g id="text_1"><text style="fill: #ffffff">{name}</text></g></svg>'
    inline = str(rendering.inline_svg(svg.encode(), "roc"))
    assert f'<g><text style="fill: var(--paper)">{name}</text></g>' in inline


def test_words_of_figures_can_be_searched(plain_document):
    words = re.findall(r"<text[^>]*>([^<]*)</text>", plain_document)
    assert {"A", "B", "AUPREC", "IAUPREC"} <= set(words)


# --- tables for papers --------------------------------------------------------------------------------------


def test_latex_is_balanced_and_holds_every_table(folder):
    text = (folder / "tables.tex").read_text(encoding="utf-8")
    bare = re.sub(r"\\\\|\\[{}%]", "", text)
    code = "\n".join(line.split("%")[0] for line in bare.splitlines())
    depth = np.cumsum([{"{": 1, "}": -1}.get(sign, 0) for sign in code])
    assert depth.min() >= 0
    assert depth[-1] == 0
    assert text.count(r"\begin{skewanovatable}") == text.count(r"\end{skewanovatable}") >= 6
    assert r"\begin{table}" not in text  # LaTeX holds only so many floats
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels))
    assert text.startswith("% ")
    for package in ("{array}", "{booktabs}", "{longtable}", "[T1]{fontenc}"):
        assert package in text[: text.index(r"\begin")]


def test_latex_compiles_where_there_is_latex(folder, tmp_path):
    latex = shutil.which("pdflatex")
    if latex is None:
        return  # the structure is checked above
    shutil.copy(folder / "tables.tex", tmp_path)
    (tmp_path / "main.tex").write_text(
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{array}\usepackage{booktabs}\usepackage{longtable}"
        r"\begin{document}\input{tables.tex}\end{document}"
    )
    run = subprocess.run(
        [latex, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "main.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=300,
        env={**os.environ, "TEXMFVAR": str(tmp_path / "var")},
    )
    log = run.stdout.decode("latin-1")
    assert run.returncode == 0, log[-2000:]
    assert "Overfull" not in log
    assert "Float too large" not in log


def test_long_tables_go_over_pages_with_their_bold_cells():
    rows = tuple((str(i), "x") for i in range(80))
    table = Table("t", "Long", ("a", "b"), rows, bold=frozenset({(0, 1), (40, 1), (79, 1)}))
    text = latex_of(table, siunitx=False)
    assert text.count(r"\begin{longtable}") == text.count(r"\label{tab:t}") == 1
    assert text.count(r"\caption{Long}") == text.count(r"\caption[]{Long (continued)}") == 1
    assert re.findall(r"(?m)^(\d+) & \\textbf\{x\}", text) == ["0", "40", "79"]
    assert len(re.findall(r"(?m)^\d+ & ", text)) == 80


def test_markdown_holds_every_table_with_names_escaped(folder):
    text = (folder / "tables.md").read_text(encoding="utf-8")
    assert text.startswith("# Comparison of 5 classifiers\n")
    assert sum(line.startswith("| ---") for line in text.splitlines()) == 15
    assert not re.search(r"(?<!\\)[<>]", text)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) > 40


def test_numpy_values_and_paths_become_json():
    assert folders._plain(np.float64(0.5)) == 0.5
    assert folders._plain(np.arange(2)) == [0, 1]
    assert folders._plain(Path("a")) == "a"


# --- signs that the font lacks ------------------------------------------------------------------------------


def drawn_with_titles(source, titles, monkeypatch):
    """Two figures of a title each, in two formats."""

    def titled(text):
        figure = Figure()
        figure.suptitle(text)
        return figure

    kinds = dict(zip(["roc", "regret"], titles, strict=True))
    monkeypatch.setattr(report_figures, "kinds_of", lambda source: list(kinds))
    for kind, text in kinds.items():
        figure = replace(report_figures.FIGURES[kind], draw=lambda _, text=text: titled(text))
        monkeypatch.setitem(report_figures.FIGURES, kind, figure)
    return dict(report_figures.draw_figures(source, ("png", "svg")))


def test_signs_that_the_font_lacks_are_told_once(plain, monkeypatch):
    with pytest.warns(SkewanovaWarning) as told:
        drawn = drawn_with_titles(plain, ["\u6a21\u578b", "\u578b \u4e00\u4e8c\u4e09\u56db"], monkeypatch)
    assert [str(warning.message) for warning in told] == [
        "figures show boxes where their font lacks a sign ('\u4e00', '\u4e09', '\u4e8c', '\u56db', "
        "'\u578b' and 1 more); tables show them all"
    ]
    assert list(drawn) == ["roc", "regret"]


def test_other_warnings_of_figures_pass(plain, monkeypatch):
    monkeypatch.setattr(
        rendering, "_render_figure", lambda *_: warnings.warn("mine", UserWarning, stacklevel=1)
    )
    with pytest.warns(UserWarning, match=r"^mine$"):
        drawn_with_titles(plain, ["a", "b"], monkeypatch)
