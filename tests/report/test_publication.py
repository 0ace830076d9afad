"""Tables for papers: complete, aligned where siunitx is asked for, compiled with any name, and their text."""

import json
import re
import shutil
import subprocess
import unicodedata
from dataclasses import replace

import pandas as pd
import pytest
from command_runs import run
from hostile_results import HOSTILE, simulated
from latex_runs import PREAMBLE, compiled, has_package
from loops import each
from messages import expect_error, expect_warning

import skewanova as sa
from skewanova.base.checks import InputError, InputTypeError
from skewanova.base.text import Table, format_number, format_p
from skewanova.inference.catalogue import TESTS, get_test
from skewanova.report import publication
from skewanova.report.publication import REFERENCES, fill_methods, find_references, write_bibtex
from skewanova.report.source import select_primary
from skewanova.report.tables import TABLES
from skewanova.scores.design import FoldDesign


@pytest.fixture(scope="module")
def hostile():
    return simulated([*HOSTILE[:4], "[opt] -5 * é"], priors=(0.5, 0.1))


def body(text):
    """Lines of the rows, of the first part where there are several."""
    start = text.index("\\endfoot") if "\\endfoot" in text else text.index("\\midrule")
    end = text.index("\\end{longtable}") if "\\endfoot" in text else text.index("\\bottomrule")
    return text[start:end].split("\n")[1:-1]


def test_tables_of_the_report_are_few_short_and_by_the_primary_test(hostile):
    table = publication.build_publication_table(hostile, "performance")
    assert table.header == ("Model", "AUPREC(0.5)", "AUPREC(0.1)", "IAUPREC", "AUC", "Group")
    assert [row[-1] for row in table.rows] == hostile.ranking["group"].tolist()
    values = hostile.tables["iauprec"].groupby("model")["iauprec"].agg(["mean", "std"])
    for row, model in zip(table.rows, hostile.ranking["model"], strict=True):
        assert row[3] == "{:.3f} ({:.3f})".format(*values.loc[model])
    assert (0, 3) in table.bold
    table = publication.build_publication_table(hostile, "pairwise")
    rows = hostile.pairs[hostile.pairs["role"] == "primary"]
    assert len(table.rows) == len(rows) == 10
    assert table.header == ("Pair", "Difference", "Interval", "Adjusted p", "Differ (level 0.05)", "Effect")
    assert float(table.rows[0][-1]) == round(hostile.tables["effects"]["effect"].iloc[0], 2)
    assert [row[1] for row in table.rows] == [f"{x:.3f}".replace("-0.000", "0.000") for x in rows["estimate"]]
    tables = publication.build_report_tables(hostile)
    assert tuple(tables) == tuple(name for name in publication.REPORT_TABLES if name in tables)
    published = hostile.tests["role"].isin(["primary", "published"]).sum()
    assert len(tables["tests"].rows) == published < len(hostile.tests)
    advised = hostile.tables["assumptions"]["advice"].ne("").sum()
    assert len(tables.get("assumptions", Table("", "", (), ())).rows) == advised
    equal = [row[-1] for row in tables["pairwise"].rows]
    assert equal == [format_p(p) for p in hostile.tables["equivalence"]["p_adjusted"]]
    assert tables["pairwise"].header[-1] == "Equal within 0.01: p"


def test_every_table_has_a_name_and_three_twins(hostile):
    for name in TABLES:
        rows = len(publication.build_publication_table(hostile, name).rows)
        for siunitx in (False, True):
            text = hostile.to_latex(name, siunitx=siunitx)
            assert text.count(r"\label{tab:") == 1
            assert (r"\begin{table}" in text) != (r"\begin{longtable}" in text)
            assert rows <= publication.MAX_PAGE_LINES or r"\begin{longtable}" in text
            assert len(body(text)) == rows
            assert "resizebox" not in text
        assert hostile.to_html(name).count("<tr>") == rows + 1
        assert sum(line.startswith("| ") for line in hostile.to_markdown(name).split("\n")) == rows + 2
    for render in (hostile.to_latex, hostile.to_markdown, hostile.to_html):
        expect_error(r"`table` must be one of performance, .*; but got 'tukey'", render, "tukey")


def aligned(*cells, bold=()):
    table = Table("t", "c", ("Model", "X"), tuple(("m", cell) for cell in cells), bold=frozenset(bold))
    text = publication.write_latex(table, siunitx=True)
    (layout,) = re.findall(r"\\begin\{tabular\}\{l(.*)\}", text)
    (head,) = re.findall(r"Model & (.*) \\\\", text)
    return layout, head, [line.removeprefix("m & ").removesuffix(r" \\") for line in body(text)]


@each(("cells", "layout", "head", "shown"), [
    (("0.5", "12.25"), "S[table-format=2.2,detect-weight]", "{X}", ["0.5", "12.25"]),
    (("-0.5", "3"), "S[table-format=-1.1,detect-weight]", "{X}", ["-0.5", "3"]),
    (("<0.0001", "", "0.03"), "S[table-format=<1.4,detect-weight]", "{X}", ["<0.0001", "", "0.03"]),
    (("7", "10"), "S[table-format=2,detect-weight]", "{X}", ["7", "10"]),
    (("0.5", "inf"), "S[table-format=1.1,detect-weight]", "{X}", ["0.5", "{inf}"]),
    (("0.1 to 0.2", "5"), "r", "X", ["0.1 to 0.2", "5"]), (("a_b", "c"), "l", "X", [r"a\_b", "c"]),
    (("0.772 (0.02)", "0.5 (0.1)"), "S[table-format=1.3,detect-weight]@{~}l", r"\multicolumn{2}{c}{X}",
     ["0.772 & (0.02)", "0.5 & (0.1)"]), (("", ""), "l", "X", ["", ""]),
])  # fmt: skip
def test_columns_of_numbers_are_aligned(cells, layout, head, shown):
    assert aligned(*cells) == (layout, head, shown)


def test_cells_are_text_and_bold_ones_stay_so():
    assert aligned("0.5", "0.7", bold=[(1, 1)])[2] == ["0.5", r"\bfseries 0.7"]
    assert aligned("0.5 (0.1)", bold=[(0, 1)])[2] == [r"\bfseries 0.5 & (0.1)"]
    assert aligned("x to y", bold=[(0, 1)])[2] == [r"\textbf{x to y}"]
    rows = tuple((name, f"{i}.5", "0.250 to 0.750") for i, name in enumerate(NAMES))
    heads = ("Model", "Value", "Interval")
    table = Table("demo", "A 50% caption", heads, rows, frozenset({(1, 1)}), "100 %.")
    text = publication.write_latex(table, siunitx=False)
    assert text.startswith("\\begin{table}[htbp]\n\\centering\\footnotesize\n")
    assert "\\caption{A 50\\% caption}\n\\label{tab:demo}\n" in text
    assert r"\footnotesize\raggedright 100 \%.}" in text
    assert r"\begin{tabular}{lrr}" in text
    assert len(body(text)) == len(NAMES)
    for i, line in enumerate(body(text)):
        assert line.endswith(r"\\")
        assert not line.startswith(("[", "*"))
        assert (len(re.findall(r"(?<!\\)&", line)), rf"\textbf{{{i}.5}}" in line) == (2, i == 1)
        assert unicodedata.category(line[0]) != "Cc"


NAMES = [
    *("a_b%$", r"\back\|slash", "{x}", "-0.5", "[optional]", "* star", "nul\x00", "a--b", "é", "\n", "", "|")
]


def test_long_text_is_broken_wide_heads_stand_on_several_lines_and_columns_follow_below():
    heads, row = [f"Mean at {i}" for i in range(12)], ["0.772 (0.020)"] * 12
    wide = Table("t", "c", ("Model", *heads), (("a_model_with_a_name_that_goes_on_and_on", *row),))
    text = publication.write_latex(wide, siunitx=False)
    assert text.count(r"\begin{tabular}{>{\raggedright\arraybackslash}p{") == text.count(r"\bottomrule") == 4
    assert text.count(r"a\allowbreak{}\_\allowbreak{}model") == 4
    assert (text.count("0.772"), text.count(r"\caption{")) == (12, 1)
    widths = [13 * len(row.split(" & ")) for row in re.findall(r"& (0.*) \\\\", text)]
    assert max(widths) < publication.LINE_WIDTH
    table = Table("t", "c", ("Model", "Mean regret"), (("a", "0.012"),))
    text = publication.write_latex(table, siunitx=False)
    assert r"Model & \begin{tabular}[b]{@{}r@{}}Mean\\regret\end{tabular} \\" in text


def test_columns_digits_caption_label_and_rows_by_number_model_pair_or_test(hostile):
    options = {"columns": ["IAUPREC", "Model"], "rows": 2, "digits": 5}
    text = hostile.to_latex("ranking", **options, caption="Means_of", label="tab:mine")
    assert r"\caption{Means\_of}" in text
    assert r"\label{tab:mine}" in text
    shown = [line.split(" & ")[0] for line in body(text)]
    assert shown == [f"{x:.5f}" for x in hostile.ranking["iauprec"].head(2)]
    assert hostile.to_markdown("ranking", rows=2, digits=1).count("\n| ") == 4
    assert "<caption>x &lt; y" in hostile.to_html("ranking", caption="x < y")
    model = hostile.ranking["model"].iloc[3]
    (row,) = publication.build_publication_table(hostile, "ranking", rows=[model]).rows
    assert row[0] == model
    primary = hostile.tests.loc[hostile.tests["role"] == "primary", "test"].iloc[0]
    rows = publication.build_publication_table(hostile, "tests", rows=[primary]).rows
    assert 0 < len(rows) < len(publication.build_publication_table(hostile, "tests").rows)
    assert {row[0].split(",")[0] for row in rows} == {get_test(primary).name}
    tukey = publication.build_publication_table(hostile, "pairs", rows=["tukey"]).rows
    assert len(tukey) == (hostile.pairs["test"] == "tukey").sum()


@each(("options", "told"), [
    ({"columns": ["Mode"]}, "`columns` must be one of Model, IAUPREC, .*; but got 'Mode'"),
    ({"columns": []}, "`columns` must name at least one of Model, "),
    ({"columns": "Model"}, "`columns` must be a list from Model, .*, not 'Model'$"),
    ({"columns": 5}, "`columns` must be a list from Model, .*, not 5$"),
    ({"rows": ["nobody"]}, "`rows` must be one of "), ({"rows": [["A"]]}, r"but got \['A'\]$"),
    ({"rows": "nobody"}, r"`rows` must be a number or a list of names, .* but got 'nobody'$"),
    ({"rows": 1.5}, r"`rows` must be a number or a list of names, as \['.*'\], but got 1\.5$"),
    ({"rows": 0}, "`rows` must be at least 1"), ({"digits": -1}, "`digits` must be at least 0"),
    ({"rows": []}, "`rows` must name at least one"), ({"label": "a}b"}, "`label` must consist of letters"),
])  # fmt: skip
def test_what_is_not_there_is_refused(hostile, options, told):
    with pytest.raises((InputError, InputTypeError), match=told):
        hostile.to_latex("ranking", **options)
    expect_error("`width` must be at least 1, but got 0", hostile.summary, width=0)
    for render in (hostile.to_markdown, hostile.to_html):
        with expect_error("`arguments of to_.* must be one of columns, rows, digits, caption; .* 'label'"):
            render("ranking", label="tab:x")


#: Columns that fit one of two columns where names are of ordinary length.
CHOSEN = {
    "performance": ["Model", "IAUPREC", "AUC", "Group"],
    "ranking": ["Model", "IAUPREC", "95 % interval", "Group", "P(best)"],
    "pairwise": ["Pair", "Difference", "Interval", "Adjusted p"],
}


@pytest.mark.no_cover
@pytest.mark.skipif(not has_package("booktabs.sty"), reason="no LaTeX here; the structure is tested above")
def test_tables_compile_and_fit(hostile, tmp_path):
    twocolumn = PREAMBLE.replace("{article}", "[twocolumn]{article}")
    for text, packages, preamble in (
        (map(hostile.to_latex, TABLES), "", PREAMBLE),
        ((hostile.to_latex(name, siunitx=True) for name in TABLES), r"\usepackage{siunitx}", PREAMBLE),
        ((hostile.to_latex(name, columns=heads) for name, heads in CHOSEN.items()), "", twocolumn),
    ):
        if not packages or has_package("siunitx.sty"):
            assert "Overfull" not in compiled("".join(text), packages, tmp_path, preamble=preamble)


@pytest.mark.no_cover
def test_the_tables_of_many_models_take_few_pages(tmp_path):
    many = simulated([f"model {i:02d}" for i in range(20)], n_folds=5)
    tables = publication.build_report_tables(many)
    assert all(len(table.rows) <= publication.MAX_REPORT_ROWS for table in tables.values())
    assert "of 190 rows; pairs.csv has all." in tables["pairwise"].full_note
    assert "Group" not in tables["ranking"].header
    if has_package("booktabs.sty"):
        text = "".join(map(publication.write_fixed_latex, tables.values()))
        log = compiled(publication.LATEX_HEAD + text, "", tmp_path)
        assert int(re.search(r"Output written on \S+ \((\d+) page", log)[1]) <= 6


def test_notes_explain_the_columns_shown_which_are_aligned(hostile):
    full = hostile.to_markdown("ranking")
    assert all(text in full for text in ("P(best):", "Max regret:", "At rarest:", "share a letter"))
    short = hostile.to_latex("ranking", columns=["Model", "Max regret"])
    assert short.count("Max regret:") == 1
    assert not any(text in short for text in ("(best)", "rarest", "share a letter", "IAUPREC:"))
    lines = hostile.to_markdown("ranking").split("\n")
    assert lines[3] == "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |"
    wide = Table("t", "c", ("Model", "X", "Why"), (("a", "1.5", "few"), ("b", "10.5", "none at all")))
    assert wide.to_text().split("\n")[2:] == [
        "Model     X  Why", "a       1.5  few", "b      10.5  none at all",
    ]  # fmt: skip


def text(tests, kind="independent", **options):
    options = {"estimator": "trapezoid", "deployment_prior": "uniform", "alpha": 0.05} | options
    options = {"trusted": True, "state": "choose"} | options
    return fill_methods(FoldDesign(kind, n_halvings=20 * (kind == "split_half")), tests, **options)


def test_text_names_each_choice_once_with_references_in_order():
    words = " ".join(text(["two_way", "tukey", "two_way", "new"], estimator="exact", alpha=0.005))
    assert ", by exact segments" in words
    assert "deployment prior (uniform)" in words
    assert "at level 0.005, about" in words
    assert words.count(get_test("two_way").methods) == 1
    assert "; new." in words
    assert [r.key for r in REFERENCES] == sorted(r.key for r in REFERENCES)
    found = find_references(["Holm and nobody else"])
    assert [r.key for r in found] == ["holm1979"]
    assert found[0].to_text() == (
        "Holm, Sture (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal "
        "of Statistics 6, 65\u201370."
    )
    assert [r.key for r in find_references(["Benjamini and Hochberg (1995)"])] == ["benjamini1995"]
    assert [r.key for r in find_references(["Hochberg (1988)"])] == ["hochberg1988"]
    assert "Schuirmann" in " ".join(text(["two_way"], state="equal"))
    assert "Schuirmann" not in " ".join(text(["two_way"]))
    silent = " ".join(text(["two_way"], trusted=False))
    assert get_test("two_way").methods not in silent
    assert "No test is reliable for these data" in silent


@each("test", TESTS)
def test_every_year_cited_is_that_of_a_reference(test):
    paragraphs = text([test], "test_set" if get_test(test).sampling_unit == "cases" else "independent")
    references = {(r.surname, r.year) for r in find_references(paragraphs)}
    words = " ".join(paragraphs).replace("Demsar", "Dem\u0161ar")
    words = words.replace("DeLong, DeLong and Clarke-Pearson", "DeLong et al.")
    named = re.findall(r"([A-Z]\w+)(?:'s)?(?: and [A-Z]\w+(?:'s)?| et al\.)? \(?(\d{4})", words)
    assert ("Landgrebe", "2006") in named
    assert {(name, int(year)) for name, year in named} <= references


@pytest.mark.skipif(shutil.which("bibtex") is None, reason="no BibTeX here")
def test_bibtex_reads_every_entry(tmp_path):
    (tmp_path / "all.bib").write_text(write_bibtex(REFERENCES), encoding="ascii")
    (tmp_path / "all.aux").write_text("\\citation{*}\n\\bibstyle{plain}\n\\bibdata{all}\n")
    run = subprocess.run(["bibtex", "all"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert "Warning" not in run.stdout, run.stdout
    assert (tmp_path / "all.bbl").read_text().count("\\bibitem") == len(REFERENCES)


@pytest.fixture(scope="module")
def of_six_folds():
    return simulated(HOSTILE, n_folds=6)


def test_the_table_has_differences_from_the_first_model_or_the_control(of_six_folds):
    table = of_six_folds.for_paper().table
    assert table.header == ("Model", "IAUPREC", "95 % interval", "Group", "Difference", "Adjusted p")
    assert [row[0] for row in table.rows] == of_six_folds.ranking["model"].tolist()
    assert table.rows[0][4:] == ("", "")
    pairs = select_primary(of_six_folds.pairs)
    pairs = pairs[pairs["model_a"] == of_six_folds.ranking["model"].iloc[0]].set_index("model_b")
    for name, *_, difference, p in table.rows[1:]:
        assert difference == format_number(-pairs.loc[name, "estimate"])
        assert p == format_p(pairs.loc[name, "p_adjusted"])
    assert "At rarest" not in table.full_note
    assert "Difference: from" in table.full_note
    silent = replace(of_six_folds)
    silent.__dict__["verdict"] = replace(of_six_folds.verdict, state="untrusted", models=())
    paper = silent.for_paper()
    assert paper.table.header == ("Model", "IAUPREC", "95 % interval")
    assert "Bands" not in paper.caption
    assert "No test was reliable" in str(paper.results)
    result = simulated(["a", "b", "c"], n_folds=6, control="b")
    rows = {name: cells for name, *cells in result.for_paper().table.rows}
    assert rows["b"][-2:] == ["", ""]
    assert all(rows[name][-1] for name in "ac")


@pytest.mark.parametrize("names", [HOSTILE, [f"m{i}" for i in range(12)]])
@pytest.mark.skipif(
    shutil.which("pdflatex") is None or shutil.which("bibtex") is None, reason="no LaTeX with BibTeX here"
)
def test_a_paper_compiles_as_it_stands(names, tmp_path):
    folder = simulated(names, n_folds=5).for_paper().save(tmp_path / "paper")
    assert {path.name for path in folder.iterdir()} == {
        "paper.tex", "methods.tex", "results.tex", "table.tex", "figure.pdf", "references.bib",
        "provenance.json",
    }  # fmt: skip
    for command in ("pdflatex", "bibtex", "pdflatex", "pdflatex"):
        option = ["-interaction=nonstopmode", "-halt-on-error"] if command == "pdflatex" else []
        name = "paper.tex" if command == "pdflatex" else "paper"
        run = subprocess.run([command, *option, name], cwd=folder, capture_output=True, check=False)
        log = run.stdout.decode("latin-1")
        assert run.returncode == 0, log[-2000:]
    assert "undefined" not in log
    assert (folder / "paper.pdf").read_bytes().startswith(b"%PDF")


def test_the_command_writes_the_same_but_for_several_data_sets(tmp_path):
    simulated(["a", "b"], n_folds=6).scores.to_frame().to_csv(tmp_path / "scores.csv", index=False)
    done = run("compare", tmp_path / "scores.csv", "--paper", tmp_path / "paper", "--quiet")
    assert done.exit_code == 0, done.output
    paper = expect_warning(r".", sa.compare, tmp_path / "scores.csv").for_paper()
    assert (tmp_path / "paper" / "methods.tex").read_text() == paper.methods.to_latex()
    assert (tmp_path / "paper" / "results.tex").read_text() == paper.results.to_latex()
    assert json.loads((tmp_path / "paper" / "provenance.json").read_text())["input"]["name"] == "scores.csv"
    table = simulated(["a", "b"], n_folds=6).scores.to_frame()
    pd.concat([table.assign(dataset=name) for name in "xyz"]).to_csv(tmp_path / "scores.csv", index=False)
    for places, message in (
        (["--paper", tmp_path / "other"], "--paper takes one comparison"),
        (["--paper", tmp_path / "other", "--out", tmp_path / "other" / "in"], "must be two folders side by"),
    ):
        done = run("compare", tmp_path / "scores.csv", *places)
        assert done.exit_code == 2
        assert message in done.output
    assert not (tmp_path / "other").exists()
