"""The report and the output folder: complete, exact, self-contained, safe with any name."""

import base64
import csv
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fuzz.command import content as tree
from hostile_results import HOSTILE, SCRIPT, render_html, simulated
from loops import each
from matplotlib import pyplot as plt
from matplotlib import rcParams

from skewanova.base.folders import FIGURE_FORMATS
from skewanova.base.text import Table
from skewanova.decision.verdict import Verdict, VerdictNumber
from skewanova.report import figures as report_figures
from skewanova.report import publication as methods
from skewanova.report import source as report_source
from skewanova.report.document import CURVE_FRAMES, TABLE_ANCHORS, color_names, split_choice, write_folder
from skewanova.report.document import FILES as folder_files
from skewanova.report.publication import build_report_tables, write_latex
from skewanova.report.source import FRAMES

#: Figures of the folder with pictures; which a comparison has is tested by the stages of the command.
KINDS = ("regions", "p_values", "surface")

FRAME_FILES = {name: f"tables/{name}.{'parquet' if name in CURVE_FRAMES else 'csv'}" for name in FRAMES}
FIGURE_FILES = {f"figures/{kind}.{name}" for kind in KINDS for name in FIGURE_FORMATS}
FILES = {*FRAME_FILES.values(), *folder_files, "README.txt"}
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_figures, "list_figures", lambda _: KINDS)
        return write_folder(hostile, place, figures=("svg", "png", "pdf"))


@pytest.fixture(scope="module")
def document(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def outline(document):
    return Outline(document)


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


def test_folder_holds_every_file_and_the_readme_a_line_on_each(folder, plain_folder):
    assert {name for name, content in tree(folder).items() if content is not None} == {*FILES, *FIGURE_FILES}
    assert {path.name for path in folder.iterdir()} == {
        "README.txt", "report.html", "provenance.json", "tables", "figures"
    }  # fmt: skip
    # no models differ; no cases to count once; no runs
    headers = {"tables/differing_priors.csv": 30, "tables/score_bins.csv": 40, "tables/components.csv": 30}
    assert all(c is None or len(c) > headers.get(name, 50) for name, c in tree(folder).items())
    for kind in KINDS:
        png, svg, pdf = ((folder / f"figures/{kind}.{name}").read_bytes() for name in ("png", "svg", "pdf"))
        width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
        assert (png[:4], width >= 6 * 150, height >= 2 * 150) == (b"\x89PNG", True, True)
        assert (b"<svg" in svg[:400], svg.rstrip()[-6:], pdf[:4]) == (True, b"</svg>", b"%PDF")
    for place in (folder, plain_folder):
        lines = (place / "README.txt").read_text(encoding="utf-8").splitlines()
        listed = {line.split(" ")[0] for line in lines}
        names = json.loads((place / "provenance.json").read_text())["files"]
        written = {name.split(".")[0] if name.startswith("figures/") else name for name in names}
        assert listed == written - {"README.txt"} | {"provenance.json"}
        assert all(re.fullmatch(r"\S+ +\S.*\S", line) for line in lines)


@each("name", FRAMES)
def test_files_give_back_the_frame_exactly(folder, hostile, name):
    frame = hostile.tables[name]
    if name in CURVE_FRAMES:
        pd.testing.assert_frame_equal(pd.read_parquet(folder / FRAME_FILES[name]), frame, check_dtype=False)
        return
    with (folder / FRAME_FILES[name]).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert (header, len(rows)) == (list(frame), len(frame))
    for column, cells in zip(frame, zip(*rows, strict=True) if rows else [()] * len(header), strict=True):
        for cell, value in zip(cells, frame[column], strict=True):
            if isinstance(value, float | np.floating):
                assert cell == "" if np.isnan(value) else float(cell) == value
            else:
                assert cell == str(value)
    if name == "ranking":
        assert pd.read_csv(folder / FRAME_FILES[name])["model"].tolist() == frame["model"].tolist()


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
    assert not (plain_folder / "figures").exists()
    formats = (("png", {".png"}), ("pdf, svg", {".pdf", ".svg"}), ("none", set()), ((), set()), (None, set()))
    for asked, suffixes in formats:
        folder = write_folder(plain, tmp_path / "out", figures=asked)
        assert {path.suffix for path in (folder / "figures").glob("*")} == suffixes
        assert (folder / "report.html").read_bytes().count(b"<svg") == 6  # whatever the files are


@pytest.mark.slow
@pytest.mark.no_cover
def test_drawing_leaves_pyplot_and_its_settings_alone(plain, monkeypatch):
    monkeypatch.setattr(report_figures, "list_figures", lambda _: KINDS)
    before, figures = dict(rcParams), plt.get_fignums()
    usual = dict(report_figures.draw_figures(plain, ("svg",)))
    with plt.rc_context({"axes.facecolor": "black", "font.size": 30}):
        styled = dict(report_figures.draw_figures(plain, ("svg",)))
    assert (dict(rcParams), plt.get_fignums(), styled) == (before, figures, usual)


def test_document_is_balanced_and_its_figures_and_tables_are_described(document, outline):
    assert document.startswith("<!DOCTYPE html>")
    assert (outline.named("html"), len(outline.ids)) == ([{"lang": "en"}], len(set(outline.ids)))
    assert outline.headings[0] == outline.headings.count(1) == np.diff(outline.headings).max() == 1
    assert all("scope" in attrs for attrs in outline.named("th"))
    assert len(outline.named("caption")) == len(outline.named("table")) <= 8
    charts = outline.named("svg")
    assert [attrs["role"] for attrs in charts] == ["img"] * 6
    assert all(attrs["aria-label"] for attrs in charts)
    assert outline.named("style") == [{}]
    notes = re.findall(r'<p class="files">(.*?)</p>', document, flags=re.DOTALL)
    named = [re.findall(r"<code>(.*?)</code>", note) for note in notes]
    assert len(named) == len(outline.named("table")) - 1  # that of the slider stands beside its figure
    assert all(named)
    assert {f"tables/{name}" for names in named for name in names} < set(FRAME_FILES.values())


def test_page_refers_only_to_itself_and_its_folder_and_has_one_script(document, outline, plain):
    targets = [v for _, attrs in outline.tags for k, v in attrs.items() if k.endswith(("href", "src"))]
    targets += [f"#{name}" for name in re.findall(r"url\(#([^)]*)\)", document)]
    assert {target[1:] for target in targets if target.startswith("#")} <= set(outline.ids)
    assert {target for target in targets if not target.startswith("#")} < FILES
    assert not re.search(r"""(src|href)=["']https?:|url\((?!#)|@import|@font-face""", document)
    assert outline.named("script") == [{"type": "application/json", "id": "numbers"}, {}]
    assert not any(name.startswith("on") for _, attrs in outline.tags for name in attrs)
    assert document.lower().count("<script") == 2
    assert "<!--" not in document
    assert SCRIPT in outline.words
    (policy,) = (a["content"] for a in outline.named("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    script = re.search(r"<script>(.*)</script>", document, flags=re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.endswith(f"script-src 'sha256-{digest}'")


def test_document_opens_with_the_verdict_and_its_figure(plain, plain_document):
    number = VerdictNumber("how_sure", "p_adjusted", 0.01, "0.01", "pairs")
    said = Verdict(
        "choose", ("A",), "Deploy <A> & be glad.", "Very: p 0.01 is not 0.011.", "Nowhere.", "None.",
        warnings=("'<B>' may be inverted",), numbers=(number,),
    )  # fmt: skip
    document = render_html(Like(plain, verdict=said))
    verdict, figure = document.index("Deploy &lt;"), document.index('id="figure-auprec"')
    warning = document.index("&#39;&lt;B&gt;&#39; may be inverted")
    assert document.index("<h1>") < warning < verdict < figure < document.index("<table")
    assert 'Very: p <a href="#pairs">0.01</a> is not 0.011.' in document
    words = Outline(plain_document).words
    first, rest = split_choice(plain.verdict.choose)
    texts = [text for title, text, _ in plain.verdict.lines() if title != "Choose"]
    assert all(text in words for text in (first, rest, *texts))
    targets = {name for _, _, names in plain.verdict.lines() for name in names}
    assert all(f'id="{TABLE_ANCHORS[name]}"' in plain_document for name in targets)
    assert "uniform over priors 0.05 to 0.2" in words
    assert plain.sha256 in words


@each(("text", "first", "rest"), [
    ("Use A.", "Use A.", ""), ("Use A or C; B is worse.", "Use A or C.", "B is worse."),
    ("Use A below 0.1; in between, either.", "Use A below 0.1.", "In between, either."),
    ("Priors below 0.2 cannot be judged. Above: A.", "Priors below 0.2 cannot be judged.", "Above: A."),
    ("No choice: no test (A is flat). Mean: A.", "No choice: no test.", "Because A is flat. Mean: A."),
])  # fmt: skip
def test_the_choice_is_an_instruction_and_the_rest(text, first, rest):
    assert split_choice(text) == (first, rest)


def test_names_keep_their_colours_on_a_page_without_matplotlib():
    names = ("a; b", "c. D")
    assert split_choice("Use a; b or c. D; e is worse.", names) == ("Use a; b or c. D.", "e is worse.")
    text = "No choice: the tests fail (a; b has ties). Mean: a; b 1."
    assert split_choice(text, names) == ("No choice: the tests fail.", "Because a; b has ties. Mean: a; b 1.")
    colors = {"a": 1, "<b>": 2, "a-b": 3, "grey": 0}
    assert str(color_names("Use a, a-b or <b>; grey is an area.", colors)) == (
        'Use <span class="c1">a</span>, <span class="c3">a-b</span> or <span class="c2">&lt;b&gt;</span>; '
        "grey is an area."
    )
    code = "import sys, skewanova.report.document; assert not {'matplotlib', 'seaborn'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_methods_cite_references_and_sections_stand_in_order(folder, outline, document):
    text = (folder / "tables/references.bib").read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{(\w+),$", text, flags=re.MULTILINE)
    assert len(keys) == len(set(keys)) >= 4
    assert text.isascii()
    assert {"landgrebe2006", "nadeau2003", "holm1979"} <= set(keys)
    for reference in methods.REFERENCES:
        assert (reference.key in keys) == (reference.to_text() in outline.words)
    parts = [attrs["id"] for tag, attrs in outline.tags if tag in {"section", "details"}]
    contents = document[document.index("<nav") : document.index("</nav>")]
    assert ["verdict", *re.findall(r'href="#(.*?)"', contents)] == parts
    assert parts == [
        "verdict", "where", "ranking", "pairs", "priors", "curves", "data", "checks", "method"
    ]  # fmt: skip


def test_a_page_has_warnings_and_claims_only_what_is_tested(document, hostile, plain, plain_document):
    rest = Outline(document[document.index("<main>") : document.index("</main>") + 7]).words
    assert all(" ".join(text.split()) in rest for text in hostile.warnings)
    published = hostile.tests[hostile.tests["role"] == "published"]["test"].unique()
    assert len(published) == 2
    assert all(hostile.labels[test] in rest for test in published)
    evidence = plain.verdict.evidence
    (decisive,) = evidence[evidence["decisive"].astype(bool)].itertuples()
    (row,) = re.findall(r'<tr class="decisive".*?</tr>', plain_document, flags=re.DOTALL)
    assert f"{decisive.model_a} - {decisive.model_b}" in row
    choice = "No choice: the tests are not reliable here (few). Mean."
    said = Verdict("untrusted", (), choice, "No.", "No.", "Few.")
    document = render_html(Like(plain, verdict=said))
    words = Outline(document[document.index("<main>") : document.index("</main>") + 7]).words
    for claim in ("May be best", r"\bdiffer\b", "is ahead", "share a letter", "open:", r"leads?\b"):
        assert re.search(claim, words) is None, claim
    assert "In the order of the input" in words
    assert 'class="decisive"' not in document
    assert "no choice" in words


def test_one_prior_and_one_test_set_have_words_of_their_own(plain, tmp_path, undrawn):
    names = ("auprec", "auprec_by_prior", "precision_recall", "by_prior")
    alone = {name: plain.tables[name][lambda rows: rows["prior"] == rows["prior"].iloc[0]] for name in names}
    alone["difference_curves"] = plain.tables["difference_curves"].iloc[:0]
    document = render_html(Like(plain, tables={**plain.tables, **alone}, by_prior=alone["by_prior"]))
    outline = Outline(document)
    assert [attrs["class"].split()[1] for attrs in outline.named("svg")] == ["roc", "pr"]
    assert outline.named("input") == []
    assert 'id="table-by_prior"' in document
    outline = Outline(render_html(simulated("ABC", n_folds=1)))
    text = outline.words[: outline.words.rindex("Provenance")]
    assert not any(words in text for words in ("over folds", "one fold", "correlated t test"))
    assert "one test set" in text
    assert "Landgrebe, Thomas" in text
    absent = {"prior-pairs", "figure-residuals", "figure-interaction", "figure-critical_difference"}
    assert not absent & set(outline.ids)


def test_conclusions_are_primary_and_long_tables_go_over_pages():
    for roles, responses, chosen in (
        (["published", "primary"], ["iauprec", "iauprec"], 1),
        (["primary", "published"], ["auprec", "iauprec"], 1),
        (["check", "primary"], ["auprec", "auprec"], 1),
        (["check", "check"], ["auprec", "auprec"], 0),
    ):
        frame = pd.DataFrame({"role": roles, "response": responses, "test": [0, 1]})
        assert report_source.select_primary(frame)["test"].tolist() == [chosen]
    rows = tuple((str(i), "x") for i in range(80))
    table = Table("t", "Long", ("a", "b"), rows, bold=frozenset({(0, 1), (40, 1), (79, 1)}))
    text = write_latex(table, siunitx=False)
    once = (r"\begin{longtable}", r"\label{tab:t}", r"\caption{Long}", r"\caption[]{Long (continued)}")
    assert [text.count(part) for part in once] == [1] * 4
    assert re.findall(r"(?m)^(\d+) & \\textbf\{x\}", text) == ["0", "40", "79"]
    assert len(re.findall(r"(?m)^\d+ & ", text)) == 80


def test_latex_and_markdown_are_balanced_and_escaped(folder, hostile):
    text = (folder / "tables/tables.tex").read_text(encoding="utf-8")
    bare = re.sub(r"\\\\|\\[{}%]", "", text)
    code = "\n".join(line.split("%")[0] for line in bare.splitlines())
    depth = np.cumsum([{"{": 1, "}": -1}.get(sign, 0) for sign in code])
    assert (depth.min(), depth[-1]) == (0, 0)
    assert text.count(r"\begin{skewanovatable}") == text.count(r"\end{skewanovatable}") >= 5
    assert r"\begin{table}" not in text  # LaTeX holds only so many floats
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels))
    assert text.startswith("% ")
    for package in ("{array}", "{booktabs}", "{longtable}", "[T1]{fontenc}"):
        assert package in text[: text.index(r"\begin")]
    text = (folder / "tables/tables.md").read_text(encoding="utf-8")
    assert text.startswith("# 5 models compared\n")
    assert text.count("\n| ---") == len(build_report_tables(hostile))
    assert not re.search(r"(?<!\\)[<>]", text)
    assert text.count("\n| ") > 40
