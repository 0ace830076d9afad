"""Tables for papers: complete, aligned where siunitx is asked for, and compiled with any name."""

import re

import pytest
from hostile_results import HOSTILE, simulated
from latex_runs import compiled, has_package

from skewanova.base.checks import InputError
from skewanova.base.text import Table
from skewanova.report.latex import LATEX_ROWS, siunitx_latex
from skewanova.report.tables import TABLES, publication_table, publication_tables


@pytest.fixture(scope="module")
def hostile():
    return simulated([*HOSTILE[:4], "[opt] -5 * é"], priors=(0.5, 0.1))


def body(text):
    return text[text.index("\\midrule") : text.index("\\bottomrule")].split("\n")[1:-1]


def test_table_1_has_means_spreads_and_letters(hostile):
    table = publication_table(hostile, "performance")
    assert table.header == ("Model", "AUPREC(0.5)", "AUPREC(0.1)", "IAUPREC", "AUC", "Group")
    assert [row[-1] for row in table.rows] == hostile.ranking["group"].tolist()
    values = hostile.iauprec.groupby("model")["iauprec"].agg(["mean", "std"])
    for row, model in zip(table.rows, hostile.ranking["model"], strict=True):
        assert row[3] == "{:.3f} ({:.3f})".format(*values.loc[model])
    assert (0, 3) in table.bold


def test_pairwise_holds_the_headline_test_alone(hostile):
    table = publication_table(hostile, "pairwise")
    rows = hostile.posthoc[hostile.posthoc["role"] == "headline"]
    assert len(table.rows) == len(rows) == 10
    assert table.header == ("Pair", "Difference", "Interval", "Adjusted p", "Differ at 0.05", "Effect")
    assert float(table.rows[0][-1]) == round(hostile.effects["effect"].iloc[0], 2)
    assert [row[1] for row in table.rows] == [f"{x:.3f}".replace("-0.000", "0.000") for x in rows["estimate"]]


def test_every_table_has_a_name_and_three_twins(hostile):
    assert tuple(publication_tables(hostile)) == tuple(TABLES)
    for name in TABLES:
        rows = len(publication_table(hostile, name).rows)
        for siunitx in (False, True):
            text = hostile.to_latex(name, siunitx=siunitx)
            assert len(body(text)) == min(rows, LATEX_ROWS)
            assert text.count(r"\begin{table}") == text.count(r"\label{tab:") == -(-rows // LATEX_ROWS)
            assert text.count(r"\clearpage") == (rows - 1) // LATEX_ROWS
        assert hostile.to_html(name).count("<tr>") == rows + 1
        assert sum(line.startswith("| ") for line in hostile.to_markdown(name).split("\n")) == rows + 2
    for render in (hostile.to_latex, hostile.to_markdown, hostile.to_html):
        with pytest.raises(InputError, match=r"`table` must be one of performance, .*; but got 'tukey'"):
            render("tukey")


# --- siunitx ----------------------------------------------------------------------------------------------


def aligned(*cells, bold=()):
    table = Table("t", "c", ("Model", "X"), tuple(("m", cell) for cell in cells), bold=frozenset(bold))
    text = siunitx_latex(table)
    (layout,) = re.findall(r"\\begin\{tabular\}\{l(.*)\}", text)
    (head,) = re.findall(r"Model & (.*) \\\\", text)
    return layout, head, [line.removeprefix("m & ").removesuffix(r" \\") for line in body(text)]


@pytest.mark.parametrize(
    ("cells", "layout", "head", "shown"),
    [
        (("0.5", "12.25"), "S[table-format=2.2,detect-weight]", "{X}", ["0.5", "12.25"]),
        (("-0.5", "3"), "S[table-format=-1.1,detect-weight]", "{X}", ["-0.5", "3"]),
        (("<0.0001", "", "0.03"), "S[table-format=<1.4,detect-weight]", "{X}", ["<0.0001", "", "0.03"]),
        (("7", "10"), "S[table-format=2,detect-weight]", "{X}", ["7", "10"]),
        (("0.5", "inf"), "S[table-format=1.1,detect-weight]", "{X}", ["0.5", "{inf}"]),
        (("0.1 to 0.2", "5"), "r", "X", ["0.1 to 0.2", "5"]),
        (("a_b", "c"), "r", "X", [r"a\_b", "c"]),
        (
            ("0.772 (0.02)", "0.5 (0.1)"), "S[table-format=1.3,detect-weight]@{~}l",
            r"\multicolumn{2}{c}{X}", ["0.772 & (0.02)", "0.5 & (0.1)"],
        ),
        (("", ""), "r", "X", ["", ""]),
    ],
)  # fmt: skip
def test_columns_of_numbers_are_aligned(cells, layout, head, shown):
    assert aligned(*cells) == (layout, head, shown)


def test_bold_cells_stay_bold():
    assert aligned("0.5", "0.7", bold=[(1, 1)])[2] == ["0.5", r"\bfseries 0.7"]
    assert aligned("0.5 (0.1)", bold=[(0, 1)])[2] == [r"\bfseries 0.5 & (0.1)"]
    assert aligned("x to y", bold=[(0, 1)])[2] == [r"\textbf{x to y}"]


# --- compiled ---------------------------------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.skipif(not has_package("booktabs.sty"), reason="no LaTeX here; the structure is tested above")
def test_plain_tables_compile_and_fit(hostile, tmp_path):
    log = compiled("".join(map(hostile.to_latex, TABLES)), "", tmp_path)
    assert "Overfull" not in log


@pytest.mark.no_cover
@pytest.mark.skipif(not has_package("siunitx.sty"), reason="no siunitx here; the structure is tested above")
def test_aligned_tables_compile_and_fit(hostile, tmp_path):
    text = "".join(hostile.to_latex(name, siunitx=True) for name in TABLES)
    assert "Overfull" not in compiled(text, r"\usepackage{siunitx}", tmp_path)


def test_tables_without_pairs_of_priors(hostile):
    alone = simulated(["a", "b"], priors=(0.5,))
    assert set(TABLES) - set(publication_tables(alone)) == {"prior_pairs", "crossings"}
