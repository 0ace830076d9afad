"""The benchmark table: verdicts, and when the command fails."""

import importlib

import pytest
from loops import each

from benchmarks import __main__ as command
from benchmarks.measuring import Row, interleaved, peak_bytes, ratio


@each(("row", "verdict", "far_off"), [
    (Row("1", "w", "c", 1.8, 2.0, at_most=1.8), "yes", False),
    (Row("1", "w", "c", 3.6, 2.0, at_most=1.8), "no", False),
    (Row("1", "w", "c", 3.7, 2.0, at_most=1.8), "no", True),
    (Row("1", "w", "c", 15, 2.0, at_least=15), "yes", False),
    (Row("1", "w", "c", 7.5, 2.0, at_least=15), "no", False),
    (Row("1", "w", "c", 7.4, 2.0, at_least=15), "no", True), (Row("1", "w", "c", 7.4, 2.0), "", False),
    (Row("1", "w", "c", 7.4, 2.0, at_least=15, known=8), "no", False),
    (Row("1", "w", "c", 3.9, 2.0, at_least=15, known=8), "no", True),
])  # fmt: skip
def test_verdicts(row, verdict, far_off):
    assert (row.verdict, row.far_off) == (verdict, far_off)


def test_ratios_turns_and_peak_memory():
    assert ratio([2.0, 6.0, 9.0], [1.0, 2.0, 3.0], 10) == (20.0, 30.0)
    seen = []
    times = interleaved({"a": lambda: seen.append("a"), "b": lambda: seen.append("b")}, 2)
    assert seen == ["a", "b"] * 3
    assert {name: len(values) for name, values in times.items()} == {"a": 2, "b": 2}
    assert peak_bytes(lambda: bytearray(3_000_000)) == pytest.approx(3e6, rel=0.01)


@pytest.mark.parametrize("reached", [3.0, 5.0])
def test_the_command_writes_the_table_and_fails_far_off_the_target(reached, tmp_path, monkeypatch, capsys):
    module = importlib.import_module("benchmarks.loading")
    monkeypatch.setattr(command, "MODULES", ("loading", "no_such_module"))
    monkeypatch.setattr(module, "rows", lambda reduced: [Row("7", "work", "c", reached, 1.0, at_most=2)])
    assert command.main(["--reduced", "--out", str(tmp_path / "table.md")]) == (reached > 4)
    text = (tmp_path / "table.md").read_text()
    assert f"| 7 | work | c | <= 2 | {reached:.3g} | 1 | no |" in text
    printed = capsys.readouterr()
    assert (printed.out.strip(), "worse than half its target" in printed.err) == (text.strip(), reached > 4)
