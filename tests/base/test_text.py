import html
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from loops import each

from skewanova.base import text as base_text
from skewanova.base.text import Table

HOSTILE = [
    "A|B", "a_b%$", "<script>alert(1)</script>", "**bold**", "`code`", r"\back\|slash", "{x}", "-0.5",
    "[link](http://x)", "[optional]", "* star", "# head", "~~gone~~", "&amp; & &lt;", "C(x)", "../x", "x^2",
    '"quoted"', "a--b",
    "new\nline", "tab\there", "\x1b[31mred", "nul\x00", "\u202eabc", "é模型", "!img", "$$", "%", "\\", "|",
    "",
]  # fmt: skip


def table(names, **options):
    rows = tuple((name, f"{i}.5", "0.250 to 0.750") for i, name in enumerate(names))
    return Table("demo", "Caption of the table", ("Model", "Value", "Interval"), rows, **options)


def visible(name):
    seen = {sign: " " if sign.isspace() else repr(sign)[1:-1] for sign in name if not sign.isprintable()}
    return "".join(seen.get(sign, sign) for sign in name)


@each(("value", "digits", "text"), [
    (0.12345, 3, "0.123"), (0.0005, 3, "0.001"), (-0.0004, 3, "0.000"), (-0.0, 3, "0.000"),
    (-0.0006, 3, "-0.001"), (1, 3, "1.000"), (12.5, 0, "12"), (-0.4, 0, "0"), (1e10, 1, "10000000000.0"),
    (np.nan, 3, ""), (np.inf, 3, "inf"), (-np.inf, 2, "-inf"), (np.float64(2 / 3), 4, "0.6667"),
])  # fmt: skip
def test_numbers(value, digits, text):
    assert base_text.format_number(value, digits) == text
    assert digits != 3 or base_text.format_number(value) == text


@each(
    ("values", "digits"),
    [([0.12, 0.3], 3), ([0.0, 0.3], 3), ([-0.0004, 0.3], 4), ([1e-9, 0.3], 6), ([np.nan, 0.00051], 3)],
)
def test_decimals_that_leave_no_number_without_a_digit(values, digits):
    assert base_text.count_decimals(values) == digits


@each(("value", "text"), [
    (np.nan, ""), (0.0, "<0.0001"), (9.99e-5, "<0.0001"), (1e-4, "0.0001"), (0.00056, "0.0006"),
    (0.001, "0.0010"), (0.0048, "0.0048"), (0.00996, "0.0100"),
    (0.0456, "0.046"), (0.0996, "0.100"), (0.1, "0.10"), (0.055, "0.055"),
    (0.05, "0.050"), (0.0496, "0.0496"), (0.0504, "0.0504"), (0.049997, "0.049997"),
    (0.5, "0.50"), (0.999, "1.00"), (1.0, "1.00"),
])  # fmt: skip
def test_p_values(value, text):
    assert base_text.format_p(value) == text


@given(st.lists(st.text(max_size=40), max_size=6))
def test_short_names_fit_and_stay_distinct(names):
    short = base_text.shorten_names(names)
    assert (set(short), len(set(short.values()))) == (set(names), len(short))
    assert all(len(label) <= base_text.NAME_WIDTH and label.isprintable() for label in short.values())


def test_short_and_hostile_names_survive():
    long = [f"classifier with a very long name, version {i}" for i in "12"]
    short = base_text.shorten_names(["plain", *long])
    assert list(short.values()) == ["plain", "classifier with a ver...", "classifier with a... (2)"]
    alike = [f"the first part{i}the last part of all" for i in range(12)]
    twins = [f"one beginning of all of them {i}" for i in range(12)]
    assert base_text.shorten_names(twins)[twins[11]] == "one beginning of... (12)"
    assert base_text.shorten_names(alike)[alike[11]] == "the first part11the l..."
    assert base_text.shorten_name("x" * 24) == "x" * 24
    assert base_text.shorten_name("a\nb\x1b[0m") == r"a b\x1b[0m"
    lines = table(HOSTILE, bold=frozenset({(0, 1)}), note="p < 0.05 * a|b").to_markdown().split("\n")
    assert (lines[:2], lines[-2:]) == (["**Caption of the table**", ""], ["", r"p \< 0.05 \* a\|b"])
    body = lines[2:-2]
    assert (len(body), body[1]) == (2 + len(HOSTILE), "| --- | ---: | ---: |")
    for line in body[2:]:
        bare = line.replace("\\\\", "")
        assert len(re.findall(r"(?<!\\)\|", bare)) == 4
        assert not re.search(r"(?<!\\)[<>`_\[\]$&#~!{}]", bare)
    escaped = [base_text.escape_markdown(name) for name in HOSTILE]
    assert [re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text) for text in escaped] == list(map(visible, HOSTILE))
    assert markdown_cells(body[2])[1:] == ["**0.5**", "0.250 to 0.750"]
    assert markdown_cells(body[0]) == ["Model", "Value", "Interval"]


def test_tables_as_text_html_and_frames():
    found = Table("t", "Caption", ("Model", "X"), (("a", "1.5"), ("long", "-10.25")), note="Note.").to_text()
    assert found == "Caption\n\nModel       X\na         1.5\nlong   -10.25\n\nNote."
    long = "n" * 60
    rows = ("x", long), (long, "x")
    found = Table("t", "c", ("Model", "Runner-up"), rows).to_text(names={long: "nn", "x": "x"})
    assert found.split("\n")[-2:] == ["x      nn", "nn     x"]
    assert long not in found
    names = [*HOSTILE, "a name of more than fifty signs " * 4, *(f"model {i}" for i in range(100))]
    found = table(names, bold=frozenset({(2, 1)}), note="p < 0.05").to_html()
    tags = "caption p strong table tbody td th thead tr"
    assert " ".join(sorted(set(re.findall(r"<(\w+)", found)))) == tags
    assert found.count("<strong>") == found.count("<strong>2.5</strong>") == 1
    assert "<caption>Caption of the table</caption>" in found
    assert found.endswith("<p>p &lt; 0.05</p>")
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in found.split("<tr>")[1:]]
    assert rows[0] == ["Model", "Value", "Interval"]
    assert [html.unescape(row[0]).strip() for row in rows[1:]] == [visible(name).strip() for name in names]
    assert {len(row) for row in rows} == {3}
    frame = table(["a", "b"]).to_frame()
    assert frame.to_numpy().tolist() == [["a", "0.5", "0.250 to 0.750"], ["b", "1.5", "0.250 to 0.750"]]
    assert list(frame) == ["Model", "Value", "Interval"]


NAMES = st.lists(st.text(max_size=50), min_size=1, max_size=5, unique=True)


@given(NAMES, st.integers(1, 20), st.integers(40, 100))
def test_text_stays_within_the_width(names, n_columns, width):
    header = ("Model", *(f"AUPREC(0.{i}1)" for i in range(n_columns)))
    rows = tuple((name, *["0.123 (0.045)"] * (n_columns - 1), name) for name in names)
    found = Table("t", "caption " * 30, header, rows, note="note " * 40).to_text(width)
    lines = found.split("\n")
    assert max(map(len, lines)) <= width
    assert all(line.isprintable() for line in lines)
    assert sum(line.count("0.123 (0.045)") for line in lines) == len(names) * (n_columns - 1)
    for head in header[1:]:
        assert found.count(head) == 1
    blocks = [line for line in lines if line.startswith("Model ")]
    labels = {label.strip() for label in base_text.shorten_names(names).values()}
    assert sum(any(line.startswith(label) for label in labels) for line in lines) >= len(names) * len(blocks)


def markdown_cells(line):
    """Cells of one line as a reader of GitHub-flavoured Markdown takes them: split at bare bars."""
    parts = re.split(r"(?<!\\)(?:\\\\)*\|", line)
    assert parts[0] == parts[-1] == ""
    return [re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", part.strip()) for part in parts[1:-1]]


@each(("text", "known"), [
    ("\\", r"\textbackslash{}"), ("{}", r"\{\}"), ("$5", r"\$5"), ("a&b", r"a\&b"), ("#", r"\#"),
    ("a_b", r"a\_b"), ("50%", r"50\%"), ("~", r"\textasciitilde{}"), ("^", r"\textasciicircum{}"),
    ("<", r"\textless{}"), (">", r"\textgreater{}"), ("|", r"\textbar{}"), ('"', r"\textquotedbl{}"),
    ("[x]", "{[}x]"), ("*", "{*}"),
    ("a--b", "a-{}-b"), ("---", "-{}-{}-"), ("-0.5", "$-$0.5"), ("-0.2 to -0.1", "$-$0.2 to $-$0.1"),
    ("2-way", "2-way"), ("a-1", "a-1"), ("a\nb\x00c", r"a b\textbackslash{}x00c"),
    (r"\$_{", r"\textbackslash{}\$\_\{"), ("re\u0301seau", "réseau"),
])  # fmt: skip
def test_latex_specials(text, known):
    assert base_text.escape_latex(text) == known


@each(
    ("value", "text"),
    [(1.04, "1"), (3.24, "3.2"), (9.96, "10"), (47.2, "47"), (99.6, "100"), (1234.0, "1,200")],
)
def test_factors_have_two_digits_and_no_exponent(value, text):
    assert base_text.format_factor(value) == text


def test_visible_writes_out_what_does_not_show():
    for text in ("plain", "é模型", "e\u0301", "שלום", "a  b", "🙂", "\\x1b"):
        assert base_text.escape_text(text) == text
    assert base_text.escape_text("a\tb\r\nc\u2028d\xa0e") == "a b  c d e"
    unseen = "\x00\x1b\x7f\x9b\xad\u034f\u115f\u200b\u200d\u202e\u2066\u2800\u3164\ufe0f\ufeff\ud800"
    unseen += "\U000e0041\U000e0100"
    assert base_text.escape_text(unseen) == unseen.encode("unicode_escape").decode()
    assert base_text.escape_lines("a\x07\n\n b\r") == "a\\x07\n\n b "
    for sign in map(chr, range(0x3000)):
        shown = base_text.escape_text(sign)
        assert shown.isprintable()
        assert base_text.escape_text(shown) == shown
