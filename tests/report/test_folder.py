"""The report and the output folder: complete, exact, self-contained, safe with any name."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hostile_results import HOSTILE, SCRIPT, render_html, simulated
from loops import each
from matplotlib import pyplot as plt
from matplotlib import rcParams

from skewanova.base.folders import FIGURE_FORMATS, PROVENANCE
from skewanova.base.text import Table
from skewanova.decision.verdict import LINE_TITLES, Verdict, VerdictNumber
from skewanova.report import document as report_document
from skewanova.report import figures as report_figures
from skewanova.report import methods, rendering
from skewanova.report import source as report_source
from skewanova.report.document import TABLE_ANCHORS, TEST_ROLES
from skewanova.report.figures import KINDS as EVERY_KIND
from skewanova.report.folder import write_folder
from skewanova.report.publication import write_latex
from skewanova.report.source import FRAMES

#: Figures of folds.
KINDS = [kind for kind in EVERY_KIND if kind not in {"components", "prior_estimate"}]

CSV_FILES = {f"{name}.csv" for name in FRAMES}
FIGURE_FILES = {f"figures/{kind}.{name}" for kind in KINDS for name in FIGURE_FORMATS}
FILES = {*CSV_FILES, *FIGURE_FILES, "report.html", "tables.tex", "tables.md", "references.bib", PROVENANCE}
VOID = {"meta", "br", "hr", "img", "input", "link", "wbr"}


class Like:
    """A comparison with some attributes replaced."""

    def __init__(self, result, **replaced):
        self._result = result
        self.__dict__.update(replaced)

    def __getattr__(self, name):
        return getattr(self._result, name)


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


@pytest.fixture(scope="module")
def outline(document):
    return Outline(document)


def tree(place):
    """Every name below with its content."""
    return {
        path.relative_to(place).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(place.rglob("*"))
    }


class Outline(HTMLParser):
    """Checks that tags are balanced; keeps ids, references, headings, attributes and words."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.headings, self.tags, self.parts = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []
        self.words = " ".join("".join(self.parts).split())

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
        self.parts.append(data)

    def named(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


# --- the folder ---------------------------------------------------------------------------------------------


def test_folder_holds_every_file_and_figures_are_what_their_names_say(folder):
    names = {name for name, content in tree(folder).items() if content is not None}
    assert names == FILES
    # no models differ; no cases to count once; no runs
    headers = {"differing_priors.csv": 30, "score_bins.csv": 40, "components.csv": 30}
    assert all(c is None or len(c) > headers.get(name, 50) for name, c in tree(folder).items())
    for kind in KINDS:
        png, svg, pdf = ((folder / f"figures/{kind}.{name}").read_bytes() for name in ("png", "svg", "pdf"))
        width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
        assert (png[:4], width >= 6 * 150, height >= 2 * 150) == (b"\x89PNG", True, True)
        assert (b"<svg" in svg[:400], svg.rstrip()[-6:], pdf[:4]) == (True, b"</svg>", b"%PDF")


@each("name", FRAMES)
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
    if name == "ranking":
        assert pd.read_csv(folder / "ranking.csv")["model"].tolist() == frame["model"].tolist()


def test_provenance_tells_versions_settings_and_input(folder, hostile, plain, tmp_path):
    found = json.loads((folder / "provenance.json").read_text())
    assert (found["tool"], found["seed"]) == ("skewanova", 0)
    assert found["input"] == {"name": None, "sha256": hostile.sha256}
    assert found["settings"] == json.loads(json.dumps(hostile.settings))
    assert {"python", "scipy", "pandas", "statsmodels", "matplotlib", "seaborn"} < set(found["versions"])
    assert found["versions"]["numpy"] == np.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["created"])
    settings = {**plain.settings, "n": np.int64(3), "a": np.arange(2), "p": Path("x")}
    named = Like(plain, source=tmp_path / "secret" / "scores.csv", settings=settings)
    text = (write_folder(named, tmp_path / "out", figures="none") / "provenance.json").read_text()
    assert json.loads(text)["input"]["name"] == "scores.csv"  # but not its place
    assert {**json.loads(text)["settings"], "n": 3, "a": [0, 1], "p": "x"} == json.loads(text)["settings"]
    assert "secret" not in text


@pytest.mark.no_cover
def test_two_runs_are_alike_to_the_byte(plain_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    second = write_folder(simulated(["A", "B"]), tmp_path / "second")
    assert tree(plain_folder) == tree(second)
    assert json.loads((second / "provenance.json").read_text())["created"] == "2023-11-14T22:13:20Z"


@pytest.mark.usefixtures("undrawn")
def test_figures_have_the_formats_asked_for(plain, plain_folder, tmp_path):
    assert {path.suffix for path in (plain_folder / "figures").iterdir()} == {".svg"}
    for asked, suffixes in (("png", {".png"}), ("pdf, svg", {".pdf", ".svg"}), ("none", set()), ((), set())):
        folder = write_folder(plain, tmp_path / "out", figures=asked)
        assert {path.suffix for path in (folder / "figures").glob("*")} == suffixes
        document = (folder / "report.html").read_text(encoding="utf-8")
        assert ("<figure" in document) == bool(suffixes)  # the page shows them whatever the files are


@pytest.mark.slow
@pytest.mark.no_cover
def test_drawing_leaves_pyplot_and_its_settings_alone(plain, plain_document):
    before, figures = dict(rcParams), plt.get_fignums()
    with plt.rc_context({"axes.facecolor": "black", "font.size": 30}):
        styled = render_html(plain)
    assert (dict(rcParams), plt.get_fignums()) == (before, figures)
    drawn, usual = (re.findall(r"(?s)<svg.*?</svg>", page) for page in (styled, plain_document))
    assert drawn == usual


# --- the document -------------------------------------------------------------------------------------------


def test_document_is_balanced_and_its_figures_and_tables_are_described(document, outline):
    assert document.startswith("<!DOCTYPE html>")
    assert outline.named("html") == [{"lang": "en"}]
    assert len(outline.ids) == len(set(outline.ids))
    assert outline.headings[0] == outline.headings.count(1) == np.diff(outline.headings).max() == 1
    assert all("scope" in attrs for attrs in outline.named("th"))
    assert [attrs["id"] for attrs in outline.named("figure")] == [f"figure-{kind}" for kind in KINDS]
    described = [attrs["aria-label"] for attrs in outline.named("div") if attrs.get("role") == "img"]
    assert len(described) == len(outline.named("svg")) == len(KINDS)
    assert "<script>" in described[KINDS.index("iauprec")]
    assert outline.named("style") == [{}]
    notes = re.findall(r'<(p|span) class="files">(.*?)</\1>', document, flags=re.DOTALL)
    named = [re.findall(r"<code>(.*?)</code>", note) for _, note in notes]
    assert len(named) == len(outline.named("table")) + len(outline.named("figure")) + 1  # references.bib
    assert all(named)
    known = {*CSV_FILES, "references.bib"} - {"components.csv", "score_bins.csv"}
    assert {name for names in named for name in names} == known


def test_page_refers_only_to_itself_and_its_folder_and_has_one_script_whatever_the_names(
    document, outline, plain, undrawn
):
    targets = [v for _, attrs in outline.tags for k, v in attrs.items() if k.endswith(("href", "src"))]
    targets += [f"#{name}" for name in re.findall(r"url\(#([^)]*)\)", document)]
    assert {target[1:] for target in targets if target.startswith("#")} <= set(outline.ids)
    files = {target for target in targets if not target.startswith("#")}
    assert files == ({*CSV_FILES, "references.bib"} - {"components.csv", "score_bins.csv"}) < FILES
    assert not re.search(r"""(src|href)=["']https?:|url\((?!#)|@import|@font-face""", document)
    alone = [attrs["href"] for attrs in Outline(render_html(Like(plain, warnings=()))).named("a")]
    assert ("#warnings" in alone, "#pairs" in alone) == (False, True)
    assert outline.named("script") == [{}]
    assert not any(name.startswith("on") for _, attrs in outline.tags for name in attrs)
    assert document.lower().count("<script") == 1
    assert "<!--" not in document
    assert SCRIPT in outline.words
    (policy,) = (a["content"] for a in outline.named("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    script = re.search(r"<script>(.*)</script>", document, flags=re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.endswith(f"script-src 'sha256-{digest}'")


def test_document_opens_with_the_verdict_and_its_figure(plain, plain_document, undrawn):
    number = VerdictNumber("choose", "p_adjusted", 0.01, "0.01", "pairs")
    said = Verdict(
        "choose", ("A",), "Deploy <A> & be glad.", "Very.", "Nowhere.", "None.",
        warnings=("'<B>' may be inverted",), numbers=(number,),
    )  # fmt: skip
    document = render_html(Like(plain, verdict=said))
    verdict, figure = document.index("Deploy &lt;A&gt; &amp; be glad."), document.index('id="figure-regions"')
    warning = document.index("&#39;&lt;B&gt;&#39; may be inverted")
    assert document.index("<h1>") < warning < verdict < figure < document.index("<table")
    assert '<a href="#pairs">pairs</a>' in document
    words = Outline(plain_document).words
    assert all(text in words for _, text, _ in plain.verdict.lines())
    targets = {name for _, _, names in plain.verdict.lines() for name in names}
    assert all(f'id="{TABLE_ANCHORS[name]}"' in plain_document for name in targets)
    assert "uniform over priors 0.05 to 0.2" in words
    assert plain.sha256 in words
    assert {"A", "B", "AUPREC", "IAUPREC"} <= set(re.findall(r"<text[^>]*>([^<]*)</text>", plain_document))


def test_methods_cite_what_the_references_list(folder, outline):
    text = (folder / "references.bib").read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{(\w+),$", text, flags=re.MULTILINE)
    assert len(keys) == len(set(keys)) >= 10
    assert text.isascii()
    assert {"landgrebe2006", "nadeau2003", "holm1979", "demsar2006"} <= set(keys)
    start, end = outline.words.index("Ready to paste"), outline.words.index("References for BibTeX")
    for reference in methods.REFERENCES:
        assert (reference.key in keys) == (reference.to_text() in outline.words[start:end])
        assert (reference.key in keys) == (f"{{{reference.key}," in outline.words[end:])


def test_sections_stand_in_order_and_the_contents_list_them(document, outline):
    assert [attrs["id"] for attrs in outline.named("section")] == ["findings", "ranking"]
    parts = {attrs["id"]: "open" in attrs for attrs in outline.named("details")}
    contents = document[document.index("<nav") : document.index("</nav>")]
    assert re.findall(r'href="#(.*?)"', contents) == ["findings", "ranking", *parts]
    assert {name for name, is_open in parts.items() if is_open} == report_document.OPEN_PARTS
    assert list(parts) == [name for name in report_document.CONTENTS if name in parts]
    roles = [attrs["class"] for attrs in outline.named("div") if attrs.get("class") in TEST_ROLES]
    assert roles == ["primary", "published", "secondary"]  # the primary tests first


def test_findings_come_with_how_to_read_them(document, hostile):
    ends = '<section id="findings"', '<details class="part" id="compared"', "</main>"
    start, middle, end = map(document.index, ends)
    findings, rest = (Outline(part).words for part in (document[start:middle], document[middle:end]))
    assert all(title in findings for title in LINE_TITLES.values())
    assert hostile.labels[report_source.select_primary(hostile.tests)["test"].iloc[0]] in findings
    shown = hostile.conclusions[: report_document.MAX_CONCLUSIONS]
    more = len(hostile.conclusions) - len(shown)
    assert (f"{more} more in the tables of pairwise differences." in findings) == (more > 0)
    assert all(" ".join(sentence.split()) in findings for sentence in shown)
    assert f"{len(hostile.warnings)} warnings to keep in mind" in findings
    assert all(" ".join(text.split()) in rest for text in (*hostile.labels.values(), *hostile.warnings))
    assert rest.count(report_document.ROLES["primary"]) == (hostile.pairs["role"] == "primary").any()


def test_one_prior_goes_without_the_figures_along_priors(plain, undrawn, tmp_path):
    alone = {name: plain.tables[name] for name in ("auprec", "auprec_by_prior", "precision_recall")}
    alone = {name: frame[frame["prior"] == frame["prior"].iloc[0]] for name, frame in alone.items()}
    alone["prior_pairs"] = plain.tables["prior_pairs"].iloc[:0]
    target = write_folder(Like(plain, tables={**plain.tables, **alone}), tmp_path / "out")
    assert (target / "prior_pairs.csv").read_text() == ",".join(plain.tables["prior_pairs"]) + "\n"
    outline = Outline((target / "report.html").read_text(encoding="utf-8"))
    drawn = [attrs["id"].removeprefix("figure-") for attrs in outline.named("figure")]
    assert set(drawn) == {kind for kind in KINDS if kind not in report_figures.FIGURES_ALONG_PRIORS}
    assert drawn[0] == "iauprec"  # carries the verdict where there is nothing along the prior
    sections = [attrs["id"] for attrs in outline.named("section")]
    assert not {"surface", "differences", "prior-pairs"} & set(sections)


def test_one_test_set_is_not_said_to_be_folds(undrawn):
    outline = Outline(render_html(simulated("ABC", n_folds=1)))
    text = outline.words[: outline.words.rindex("Provenance")]
    assert not any(words in text for words in ("over folds", "one fold", "correlated t test"))
    assert "one test set" in text
    assert "Satterthwaite, Franklin E. (1946)" in text
    absent = {"prior-pairs", "figure-residuals", "figure-interaction", "figure-critical_difference"}
    assert not absent & set(outline.ids)


def test_slider_moves_over_the_rows_of_the_file(outline, hostile):
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
            assert (int(rank), contender) == (row.rank, "yes" if row.contender else "no")
            shown = [float(x) for x in (auprec, regret, *band.split(" to "))]
            assert shown == pytest.approx([row.auprec, row.regret, row.conf_low, row.conf_high], abs=5e-4)
    outside = "(negatives for each positive: {}), outside of the deployment prior"
    assert steps["captions"][0] == f"At prior 0.01 {outside.format(99)}"
    assert steps["captions"][-1] == f"At prior 0.5 {outside.format(1)}"


def test_slider_says_nothing_of_bands_that_are_not_known(plain):
    unknown = plain.by_prior.assign(conf_low=np.nan, conf_high=np.nan)
    slider = report_document._build_slider(Like(plain, by_prior=unknown))
    assert "95 % band" not in slider["at_prior"].table.header
    assert all(row.count("|") == 3 for rows in json.loads(slider["slider"]["steps"])["rows"] for row in rows)


@each(
    ("rows", "chosen"),
    [
        ("published iauprec, primary iauprec", 1),
        ("primary auprec, published iauprec", 1),
        ("check auprec, primary auprec", 1),
        ("check auprec, check auprec", 0),
    ],
)
def test_conclusions_rest_on_the_primary_test_of_iauprec(rows, chosen):
    frame = pd.DataFrame([row.split() for row in rows.split(", ")], columns=["role", "response"])
    tests = report_source.select_primary(frame.assign(test=[0, 1]))["test"]
    assert tests.tolist() == [chosen]


def test_inline_svg_has_ids_of_its_own_colours_of_the_page_and_words_as_they_are():
    name = 'id="p" href="#p" url(#p) #ffffff'
    svg = f"""<?xml version="1.0"?><!DOCTYPE svg>
    <svg xmlns="u" xmlns:xlink="v"><style>*{{x:y}}</style><!-- a -->
    <path id="p"/><use xlink:href="#p" clip-path="url(#p)"/>
    <g id="text_1"><text style="fill: #ffffff">{name}</text></g></svg>"""
    assert str(rendering.inline_svg(svg.encode(), "roc")) == (
        '<svg aria-hidden="true" focusable="false">\n'
        '<path id="roc-p"/><use href="#roc-p" clip-path="url(#roc-p)"/>\n'
        f'<g><text style="fill: var(--paper)">{name}</text></g></svg>'
    )


# --- tables for papers --------------------------------------------------------------------------------------


def test_latex_and_markdown_are_balanced_escaped_and_hold_every_table(folder):
    text = (folder / "tables.tex").read_text(encoding="utf-8")
    bare = re.sub(r"\\\\|\\[{}%]", "", text)
    code = "\n".join(line.split("%")[0] for line in bare.splitlines())
    depth = np.cumsum([{"{": 1, "}": -1}.get(sign, 0) for sign in code])
    assert (depth.min(), depth[-1]) == (0, 0)
    assert text.count(r"\begin{skewanovatable}") == text.count(r"\end{skewanovatable}") >= 6
    assert r"\begin{table}" not in text  # LaTeX holds only so many floats
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels))
    assert text.startswith("% ")
    for package in ("{array}", "{booktabs}", "{longtable}", "[T1]{fontenc}"):
        assert package in text[: text.index(r"\begin")]
    text = (folder / "tables.md").read_text(encoding="utf-8")
    assert text.startswith("# Comparison of 5 classifiers\n")
    assert text.count("\n| ---") == 15
    assert not re.search(r"(?<!\\)[<>]", text)
    assert text.count("\n| ") > 40


def test_long_tables_go_over_pages_with_their_bold_cells():
    rows = tuple((str(i), "x") for i in range(80))
    table = Table("t", "Long", ("a", "b"), rows, bold=frozenset({(0, 1), (40, 1), (79, 1)}))
    text = write_latex(table, siunitx=False)
    once = (r"\begin{longtable}", r"\label{tab:t}", r"\caption{Long}", r"\caption[]{Long (continued)}")
    assert [text.count(part) for part in once] == [1] * 4
    assert re.findall(r"(?m)^(\d+) & \\textbf\{x\}", text) == ["0", "40", "79"]
    assert len(re.findall(r"(?m)^\d+ & ", text)) == 80
