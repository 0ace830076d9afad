"""The verdict: its states on tables made for them, and no output that contradicts another on any table."""

import json
import re
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from fold_tables import draw_rows
from hostile_results import render_html
from loops import each
from verdict_tables import KINDS, compared, drawn, scores

from skewanova import FoldDesign, UniformPrior
from skewanova.base.frames import iter_rows
from skewanova.base.text import format_p
from skewanova.decision.verdict import (
    EVIDENCE_COLUMNS,
    LINE_TITLES,
    VERDICT_COLUMNS,
    Judgement,
    PairwiseOrder,
    Verdict,
    clip_bands,
    contender_ranges,
    rank_certainty,
)
from skewanova.report import document, verdict_text
from skewanova.report.screen import build_screen, list_drawn_models
from skewanova.report.tables import TABLES
from skewanova.report.verdict_text import LineWriter, write_evidence, write_sampling_weakness

STATES = {
    "clear": "choose", "swap": "by_prior", "tie": "tie", "nothing, many folds": "undecided",
    "nothing, five folds": "undecided", "equal": "equal", "one set, few": "untrusted", "runs": "choose",
}  # fmt: skip


@pytest.fixture(scope="module")
def results():
    return {name: compared(scores(design, **options), design) for name, (design, options) in KINDS.items()}


def pairs_of(result):
    return result.pairs[result.pairs["role"] == "primary"]


def ahead_of(pairs):
    """(better, worse) of the pairs that the test tells apart."""
    rows = pairs[pairs["reject"]].itertuples()
    return {(row.model_a, row.model_b)[:: 1 if row.estimate >= 0 else -1] for row in rows}


def contender_sets(result, low, high):
    """Contenders of every stretch that meets the range."""
    frame = result.tables["leaders"]
    inside = (frame["prior_low"] < high) & (frame["prior_high"] > low)
    if low == high:
        inside = (frame["prior_low"] <= low) & (frame["prior_high"] >= low)
    stretches = frame[inside].groupby(["prior_low", "prior_high"], sort=False)
    return [set(rows["contender"]) for _, rows in stretches]


def assert_numbers_have_tables(result):
    verdict = result.verdict
    for number in verdict.numbers:
        assert number.text in getattr(verdict, number.line).replace(" or below", ""), number
        if number.table not in {"design", "support", "roc"}:
            assert isinstance(result.tables[number.table], pd.DataFrame), number
    for number in verdict.numbers:
        if number.quantity == "limit":  # the largest difference that the interval does not exclude
            limits = pairs_of(result)[["conf_low", "conf_high", "estimate"]].abs().max(axis=1)
            assert number.value in set(limits)
    for name in LINE_TITLES:
        text = getattr(verdict, name)
        for model in sorted(result.ranking["model"], key=len, reverse=True):
            text = text.replace(model, "")
        said = re.findall(r"<?\d[\d,]*\.?\d*", re.sub(r"(and|or|at) \d+ more|\d+ others", "", text))
        known = [number.text for number in verdict.numbers if number.line == name]
        numbers = [word.lstrip("<").rstrip(".") for word in said]
        assert all(any(number in shown for shown in known) for number in numbers), (said, known)


def assert_bands_agree(result):
    """Leaders, band stretches and difference curves: one test said three times."""
    curves, stretches = {}, {}
    for row in iter_rows(result.tables["difference_curves"]):
        curves.setdefault(frozenset([row.model_a, row.model_b]), []).append(row)
    for row in iter_rows(result.tables["differing_priors"]):
        for point in curves[frozenset([row.better, row.worse])]:
            if row.prior_low < point.prior < row.prior_high:
                assert point.reject
                assert (point.estimate > 0) == (point.model_a == row.better)
        middle = np.sqrt(row.prior_low * row.prior_high)
        for sets in contender_sets(result, middle, middle)[:1]:
            assert row.worse not in sets
        stretches.setdefault((row.better, row.worse), []).append((row.prior_low, row.prior_high))
    for row in chain.from_iterable(curves.values()):
        sides = (row.model_a, row.model_b) if row.estimate > 0 else (row.model_b, row.model_a)
        low, high = row.prior * (1 - 1e-6), row.prior * (1 + 1e-6)
        assert not row.reject or any(a <= high and b >= low for a, b in stretches.get(sides, []))


def assert_pairs_agree(result):
    """Letters, intervals and rejections of the primary pairs."""
    letters = dict(zip(result.ranking["model"], map(set, result.ranking["group"]), strict=True))
    for row in pairs_of(result).itertuples():
        assert bool(letters[row.model_a] & letters[row.model_b]) != bool(row.reject)
        if row.std_error > 0 and row.test != "max_t" and not np.isnan(row.conf_low):
            assert (row.conf_low > 0 or row.conf_high < 0) == row.reject, row


def assert_state_holds(result):
    verdict, pairs = result.verdict, pairs_of(result)
    state = verdict.part_state or verdict.state
    if verdict.state == "unsupported":
        pairs = result.pairs[result.pairs["response"] == "iauprec_supported"]
    prior = result.evaluation.deployment_prior
    supported = result.tables["support"].loc[result.tables["support"]["supported"], "prior"]
    low = max(prior.low, supported.min() if len(supported) else 1.0)
    if state in {"untrusted", "unsupported"}:
        return
    ahead, sets = ahead_of(pairs), contender_sets(result, low, prior.high)
    every, chosen = set(result.ranking["model"]), set(verdict.models)
    behind = {worse for _, worse in ahead} | {m for stretch in sets for m in every - stretch}
    assert chosen == every - behind
    if state == "choose":
        (best,) = chosen
        assert {(best, other) for other in every - chosen} <= ahead
        assert all(best in stretch for stretch in sets)
    if state in {"undecided", "tie", "equal"}:
        assert not any({(a, b), (b, a)} & ahead for a, b in combinations(chosen, 2))
        assert (chosen == every) == (state == "undecided") or state == "equal"
    if state == "equal":
        rows = result.tables["equivalence"]
        rows = rows[rows["model_a"].isin(chosen) & rows["model_b"].isin(chosen)]
        assert rows["equivalent"].all()
    if state == "by_prior":
        swapped = {(r.better, r.worse) for r in result.tables["differing_priors"].itertuples()}
        assert not chosen or any((b, a) in swapped for a, b in swapped)
        limits = {*result.tables["leaders"][["prior_low", "prior_high"]].to_numpy().flat, low, prior.high}
        said = [n.value for n in verdict.numbers if n.line == "choose" and n.table == "leaders"]
        assert said
        assert set(said) <= limits


def assert_words_agree(result):
    """No sentence on the pairs or of all models denies what the verdict says."""
    told, verdict = " ".join(result.conclusions), result.verdict
    state = verdict.state
    rejected = pairs_of(result)["reject"].any()
    assert ("were not found to differ at" in result.conclusions[0]) <= (not rejected or "find more" in told)
    if not verdict.is_trusted:
        claims = f"{told} {result.results_paragraph} {TABLES['pairwise'].make(result).to_text(200)}"
        assert not re.search(r"is ahead of|\bdiffer\b|Differ |adjusted p <|found to", claims), claims
        return
    if state == "undecided":
        assert "is ahead of" not in told.replace("simultaneous band", "") or not rejected
    if state == "choose":
        best = verdict.models[0]
        assert f" is ahead of {best} " not in told.split("simultaneous")[0]
        passes = not verdict.where_it_changes.startswith(("Nowhere ", "Not ", "Only "))
        assert (f"Use {best} on average" in verdict.choose) == (passes and "within" not in verdict.choose)
    words = " ".join(getattr(verdict, line) for line in LINE_TITLES) + told
    if result.design.kind == "test_set":
        assert not re.search(r"\bfolds?\b|\bhold-out", words)
    if result.design.kind == "runs":
        assert not re.search(r"\bfolds?\b", str(verdict))
    said = " ".join(getattr(verdict, line) for line in LINE_TITLES).split()
    assert len(said) <= verdict_text.MAX_WORDS, (len(said), str(verdict))


def assert_evidence_decides(result):
    """The quoted comparison is the least certain of those that the choice needs."""
    verdict, rows = result.verdict, result.verdict.evidence
    state = verdict.part_state or verdict.state
    assert tuple(rows) == EVIDENCE_COLUMNS
    if state in {"untrusted", "unsupported"}:
        assert rows.empty
        assert verdict.how_sure == "No test is reliable here."
        return
    if rows.empty:  # ranges between two priors of the grid
        assert verdict.how_sure.startswith("Separated at some priors only, by simultaneous bands")
        assert state in {"by_prior", "tie"}
        return
    (decisive,) = rows[rows["decisive"]].itertuples()
    first = {n.quantity: n.value for n in reversed(verdict.numbers) if n.line == "how_sure"}
    assert first["estimate"] == abs(decisive.estimate)
    assert np.isnan(decisive.p_adjusted) or first["p_adjusted"] == decisive.p_adjusted
    if state == "choose":
        partly = result.pairs["response"] == "iauprec_supported"
        pairs = result.pairs[partly] if verdict.part_state else pairs_of(result)
        leads = pairs[(pairs["model_a"] == verdict.models[0]) | (pairs["model_b"] == verdict.models[0])]
        assert decisive.p_adjusted == leads["p_adjusted"].max() < result.alpha
    bands = rows[rows["test"] == "simultaneous_bands"]
    assert ((bands["conf_low"] > 0) | (bands["conf_high"] < 0)).all()
    assert (bands["prior_low"] == bands["prior_high"]).all()
    if state in {"choose", "tie", "by_prior"}:
        assert decisive.p_adjusted == rows["p_adjusted"].max()
    if state in {"undecided", "equal"}:
        assert set(rows["model_a"]) | set(rows["model_b"]) == set(verdict.models)
        assert abs(decisive.estimate) == rows["estimate"].abs().max()


def segments_of(chart):
    """Low, high and text of the segments of the strip of a chart."""
    scale = chart.scale
    low, high = np.log(scale.x_limits)
    width = scale.right - scale.left
    for segment in chart.strip:
        ends = np.array([segment["x"], segment["x"] + segment["width"]]) - scale.left
        yield (*np.exp(low + (high - low) * ends / width), segment["title"])


def assert_strip_and_marks_agree(result, screen):
    """Strip and marks at the supported deployment priors name no other model than the verdict."""
    verdict = result.verdict
    models = list_drawn_models(result)
    prior = result.evaluation.deployment_prior
    support = result.tables["support"]
    rarest = support.loc[support["supported"], "prior"].min()
    low = max(prior.low, rarest)
    for start, end, title in segments_of(screen.charts[0]) if screen.charts else ():
        inside = start < prior.high * (1 - 1e-9) and end > low * (1 + 1e-9)
        if title == "not supported":
            assert end <= rarest * (1 + 1e-6)
        elif title.startswith("use ") and inside and verdict.state in {"choose", "undecided", "tie"}:
            assert title.removeprefix("use ") in verdict.models
            assert verdict.state != "undecided"
    data = json.loads(screen.data)
    for at, rows in zip(data["priors"], data["rows"], strict=True):
        marked = {models[number] for number, *cells in rows if cells[-1]}
        if at < rarest * (1 - 1e-6):
            assert not marked
        elif low <= at <= prior.high and verdict.state == "choose":
            assert set(verdict.models) <= marked


def assert_screen_agrees(result):
    """Strip, marks, caption, colours and marked row of the page deny nothing that the verdict says."""
    screen, verdict = build_screen(result), result.verdict
    with mock.patch.object(document.screen, "build_screen", return_value=screen):  # made once
        page = render_html(result)
        assert re.search(r"\bnan\b", page) is None
    words = re.sub(r"<[^>]*>", " ", page[page.index("<main>") : page.index("</main>")])
    assert ("not reliable" in screen.subtitle) == (not verdict.is_trusted)
    if not verdict.is_trusted:
        assert screen.heads == ["Model", "AUPREC"]
        claims = r"is ahead of|\bdiffer\b(?! from those)|\buse m\d|open:|conclusions rest|\u25cf"
        assert not re.search(claims, words)
        return
    assert_strip_and_marks_agree(result, screen)
    support = result.tables["support"]
    evidence = verdict.evidence
    decisive = evidence[evidence["decisive"].astype(bool)]
    shaded = re.findall(r'<tr class="decisive"[^>]*>\s*<th scope="row">(.*?)</th>', page)
    assert len(shaded) <= 1
    if shaded and verdict.state != "by_prior":
        assert set(shaded[0].split(" - ")) == set(decisive[["model_a", "model_b"]].iloc[0])
    needed = re.search(r"\((?:negatives|clusters) / skew\) are [\d.,]+; (\d+) are needed", words)
    notes = [text for text in result.warnings if " / skew), but " in text]
    assert all(f"but {needed[1]} are needed" in text for text in notes)
    assert bool(notes) <= (not support["supported"].all())


def check(result):
    assert_evidence_decides(result)
    assert_numbers_have_tables(result)
    assert_bands_agree(result)
    assert_pairs_agree(result)
    assert_state_holds(result)
    assert_words_agree(result)
    assert_screen_agrees(result)


@each("kind", STATES)
def test_each_kind_of_table_has_its_state(results, kind):
    assert results[kind].verdict.state == STATES[kind], str(results[kind].verdict)
    check(results[kind])


@pytest.mark.slow
@pytest.mark.no_cover
@each("seed", (0, 2, 4, 5, 6, 8, 9, 10, 11))
def test_no_two_outputs_contradict_each_other(seed):
    design, frame, prior = drawn(seed)
    check(compared(frame, design, prior))


@pytest.mark.parametrize("state", ["untrusted", "unsupported"])
def test_where_no_test_is_trusted_no_group_stands_in_the_tables(results, state):
    result = results["one set, few"]
    assert result.verdict.is_trusted == (result.verdict.state != "untrusted")
    told = replace(result.verdict, state=state, part_state="")
    assert not told.is_trusted
    assert replace(told, state="unsupported", part_state="choose").is_trusted
    source = replace(result)
    source.__dict__["verdict"] = told
    for name in ("ranking", "performance"):
        table = TABLES[name].make(source)
        assert not {"Group", "P(best)"} & set(table.header)
        assert "No test is reliable here" in table.note
        assert len({len(row) for row in (table.header, *table.rows)}) == 1


def test_words_for_pairs_names_and_numbers(results):
    pairs, writer = list(iter_rows(pairs_of(results["clear"]))), LineWriter({c: c for c in "abcde"})
    named = LineWriter({model: model for model in results["clear"].evaluation.models})
    for rows, start in ((pairs[:1], "m"), (pairs[:2], "Least certain lead: m")):
        assert write_evidence(rows, named).startswith(start)
        assert write_evidence(rows, named).endswith(" (corrected paired t, Holm)")
    assert [writer.join_names("a"), writer.join_names("abc", "or")] == ["a", "a, b or c"]
    assert writer.join_names("abcde") == "a, b, c, d and e"  # as short as with a count
    assert LineWriter({c: c for c in "abcdef"}).join_names("abcdef") == "a, b, c and 3 more"
    shares = map(verdict_text.format_percent, (0.4, 37.6, 99.7, 100.0))
    assert [*shares] == ["<1", "38", ">99", "100"]
    row = SimpleNamespace(estimate=-0.00152, conf_low=-0.0033, conf_high=0.00031, p_adjusted=0.1)
    difference = "0.0015 (-0.0003 to 0.0033), adjusted p 0.10"  # limits keep their sign
    assert writer.write_difference(row) == difference


def test_a_tie_rests_on_the_leads_of_the_first_candidate_over_all_others_or_else_on_the_surest_of_each():
    tests = {"ab": 0.9, "ac": 0.01, "ad": 0.3, "bc": 0.04, "bd": 0.02, "cd": 0.8}
    row = {"estimate": 0.1, "std_error": 0.05}
    for level, above_all, leads, more in ((0.03, (), ["bd", "ac"], []), (0.05, ("b",), ["bc", "bd"], ["ac"])):
        rows = [SimpleNamespace(model_a=a, model_b=b, p_adjusted=p, reject=p < level, **row)
                for (a, b), p in tests.items()]  # fmt: skip
        order = PairwiseOrder(tuple("abcd"), rows)
        assert (order.candidates, order.state, order.candidates_above_all) == (("a", "b"), "tie", above_all)
        evidence = [[row.model_a + row.model_b for row in order.rank_evidence(s)] for s in ("tie", "control")]
        assert evidence == [leads, leads + more]
    assert order.pairs_among("abc") == [rows[0], rows[1], rows[3]]
    flat = SimpleNamespace(estimate=0.1, std_error=0.0, p_adjusted=np.nan)
    assert rank_certainty(flat) == (1.0, -np.inf)  # a difference that does not vary is the surest
    order = PairwiseOrder(("b", "c"), [], [("b", "c", 0.1, 0.3)])
    facts = SimpleNamespace(state="tie", order=order, _separated_priors=lambda _: [flat, rows[3]])
    assert Judgement._band_evidence(facts) == [rows[3]]  # the surest prior


def test_bands_and_contenders_at_one_prior_and_beside_a_range():
    bands = pd.DataFrame([("a", "b", 0.1, 0.3)], columns=["better", "worse", "prior_low", "prior_high"])
    clipped = [clip_bands(bands, 0.2, high) for high in (0.2, 0.5)]
    assert clipped == [[("a", "b", 0.2, 0.2)], [("a", "b", 0.2, 0.3)]]
    assert clip_bands(bands, 0.3, 0.5) == clip_bands(bands, 0.4, 0.4) == []
    rows = [(0.1, "a"), (0.2, "b"), (0.2, "a"), (0.3, "a"), (0.3, "b"), (0.4, "b")]
    leaders = pd.DataFrame([(low, low + 0.1, model) for low, model in rows],
                           columns=["prior_low", "prior_high", "contender"])  # fmt: skip
    for low, high in ((0.25, 0.35), (0.25, 0.25)):
        assert contender_ranges(leaders, low, high) == [(("b", "a"), low, high)]


def test_a_verdict_shows_itself(results):
    verdict = results["clear"].verdict
    assert str(verdict).split("\n")[0] == f"Choose: {verdict.choose}"
    for width in (40, 80, 140):
        lines = verdict.to_text(width).split("\n")
        assert max(map(len, lines)) <= width
        titles = [line.split("  ")[0] for line in lines if not line.startswith(" ")]
        assert titles == list(LINE_TITLES.values())
    assert verdict == replace(verdict, evidence=verdict.evidence[:0])  # compared by its text
    frame = verdict.to_frame()
    assert tuple(frame) == VERDICT_COLUMNS
    tables = [set(frame["table"][frame["line"] == name]) for name in LINE_TITLES]
    assert [set(names) for *_, names in verdict.lines()] == tables
    shown = Verdict("choose", ("<b>",), "Choose <b> up-to-one.", "Sure.", "Nowhere.", "None.")
    assert "<dd>Choose &lt;b&gt; up-to-one.</dd>" in shown._repr_html_()
    assert " up-to-one." in shown.to_text(33)  # names are not broken at hyphens
    assert shown.to_frame().empty


def test_a_flat_table_and_a_collapse_are_not_trusted():
    frame = scores("independent", [2.0, 1.5], n_folds=5)
    frame["y_score"] = np.where(frame["model"] == "m0", frame["y_true"].astype(float), 0.0)
    result = compared(frame, "independent")
    assert result.verdict.state == "untrusted"
    said = "No choice: the tests are not reliable here (their difference does not vary)."
    assert result.verdict.choose.startswith(said)
    assert "is ahead of" not in " ".join(result.conclusions)
    assert result.verdict.weakest_point == "A label that may leak into the scores: see the warning."
    frame = scores("independent", [2.5, 1.5], n_folds=5)
    lost = (frame["fold"] == 3) & (frame["model"] == "m1")
    frame.loc[lost, "y_score"] = np.random.default_rng(0).normal(size=lost.sum())
    result = compared(frame, "independent")
    assert result.tables["assumptions"].set_index("check").loc["collapsed_folds", "statistic"] == 1
    auc = result.tables["iauprec"].query("model == 'm1' and fold == 3")["auc"].item()
    assert result.verdict.weakest_point == f"m1 ranks near chance in a fold (AUC {auc:.3f}): find out why."
    low = compared(scores("independent", [2.5, -0.2], n_folds=5), "independent").verdict  # turned, m0 wins
    assert low.weakest_point == "The scores of m1 may be inverted: see the warning."


def test_a_tie_tells_the_difference_of_those_tied(results):
    result = results["tie"]
    a, b = result.verdict.models
    pairs = pairs_of(result)
    (row,) = pairs[pairs["model_a"].isin([a, b]) & pairs["model_b"].isin([a, b])].itertuples()
    assert f"; open: {a} over {b} by {abs(row.estimate):.3f} (" in result.verdict.how_sure
    assert not row.reject


def test_ties_are_those_of_the_checks():
    result = compared(scores("independent", [2.0, 1.0], n_folds=5, digits=0), "independent")
    row = result.tables["assumptions"].set_index("check").loc["different_scores"]
    assert 2 < row["statistic"] < 30
    most = result.scores.to_frame().groupby(["model", "fold"])["y_score"].nunique().groupby("model").max()
    least = most.idxmin()
    assert most[least] == row["statistic"]
    levels = " or ratings of 7 or more levels" if row["statistic"] < 7 else ""
    said = f"{least} has only {row['statistic']:g} distinct scores: provide unrounded scores{levels}."
    assert result.verdict.weakest_point == said
    (number,) = [n for n in result.verdict.numbers if n.line == "weakest_point"]
    assert (number.table, number.value) == ("assumptions", row["statistic"])
    frame = scores("independent", [2.5, 1.0], n_folds=5)
    result = compared(frame.assign(y_score=frame["y_score"].clip(upper=1.0)), "independent")
    share = result.tables["assumptions"].set_index("check").loc["share_at_best_score", "statistic"]
    said = f"In one fold {100 * share:.0f} % of cases tie at the top score: provide unrounded scores."
    assert result.verdict.weakest_point == said


@each(("high", "told"), [(0.01, "too few at every deployment prior"), (0.04, "Priors below 0.027 (67 %")])
def test_a_deployment_prior_out_of_reach_is_said_first(high, told):
    frame = scores("independent", [2.5, 1.0], n_folds=6, n_negative=180, n_positive=100)
    result = compared(frame, "independent", (0.001, high))
    assert result.verdict.state == "unsupported"
    assert told in result.verdict.choose
    part = result.pairs[result.pairs["response"] == "iauprec_supported"]
    assert len(part) == (1 if "67" in told else 0)
    assert result.pairs.index.is_unique
    assert len(result.verdict.evidence) == len(part)
    assert result.verdict.part_state == ("choose" if len(part) else "")
    assert_state_holds(result)


def test_no_comparison_decides_where_nothing_is_supported(results):
    result, judged = results["swap"], []
    for rarest in (0.25, 0.6):
        support = SimpleNamespace(smallest_prior=rarest, n_positive=99, n_negative=99)
        measures = {"deployment_prior": UniformPrior(0.25, 0.5), "support": support, "design": result.design}
        facts = Judgement(result.tables, SimpleNamespace(**measures), rope=0.01, control=None)
        judged.append((facts.supported_mass, facts.is_partial, len(facts.evidence)))
    assert judged == [(1, False, 1), (0, True, 0)]


def test_priors_not_judged_are_said_and_400_cases_are_judged():
    frame = scores("independent", [2.5, 1.0], n_folds=6, n_negative=180, n_positive=100)
    result = compared(frame, "independent", (0.015, 0.15))
    limit = result.verdict.to_frame().query("line == 'choose'")["text"].item()
    assert result.verdict.choose == f"Use m0 (supported above prior {limit})."
    said = f"Nowhere from prior {limit} (lower ones lack support) to "
    assert result.verdict.where_it_changes.startswith(said)
    effective = 1080 * 0.015 / 0.985
    said = f"Only {effective:.3g} effective negatives at prior 0.015; 30 are needed."
    assert result.verdict.weakest_point == said
    assert_numbers_have_tables(result)
    # With continuous scores 30 of both are enough, as measured (studies/records/support.md).
    frame = scores("test_set", [2.5, 0.8], n_positive=32, n_negative=368)
    verdict = compared(frame, "test_set", (0.05, 0.2)).verdict
    assert (verdict.state, verdict.choose) == ("choose", f"Use m0 (supported above prior {30 / 398:.3g}).")
    assert verdict.weakest_point == "Only 19.4 effective negatives at prior 0.05; 30 are needed."


def test_no_plan_is_made_for_a_difference_that_may_be_noise():
    """Equal models: a factor of cases would be planned on the noise of the observed difference."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        labels = (np.arange(1100) < 100).astype(int)
        frame = draw_rows(dict.fromkeys("abc", 1.2), [1], labels, rng, common=1.0, stride=0)
        verdict = compared(frame, "test_set", (0.3, 0.5)).verdict
        assert verdict.state == "undecided"
        assert "times as many" not in str(verdict)


def test_few_clusters_or_positives_are_counted_in_their_unit():
    """2,100 negatives in 15 patients are few patients; 7 positives are few positives."""
    rng, patient = np.random.default_rng(0), np.repeat(np.arange(15), 40)
    frame = pd.DataFrame({"fold": 1, "case": range(600), "cluster": patient, "y_true": rng.random(600) < 0.3})
    noise = rng.normal(size=15)[patient]
    parts = [frame.assign(model=m, y_score=rng.normal(size=600) + noise + frame["y_true"]) for m in "ab"]
    verdict = compared(pd.concat(parts), "test_set", (0.4, 0.6)).verdict
    pattern = r"Only [\d.]+ effective clusters with negatives at prior 0.4; \d+ are needed\."
    assert re.fullmatch(pattern, verdict.weakest_point)
    few = compared(scores("test_set", [2.0, 1.0], n_positive=7, n_negative=2000), "test_set").verdict
    assert few.choose.startswith("No choice: the tests are not reliable here (7 positives).")
    assert re.fullmatch(r"Only 7 positives; \d+ are needed\.", few.weakest_point)
    frame = scores("test_set", [2.0, 1.0], n_positive=900, n_negative=6)
    few = compared(frame, "test_set", (0.93, 0.98)).verdict
    assert few.choose.startswith("No choice: the tests are not reliable here (6 negatives).")


def test_error_rates_are_those_of_the_design_at_hand():
    """The largest of the recorded scenarios with unstable learners; none of another design."""
    studies = Path(__file__).parents[2] / "studies" / "records"
    frame, learners = (pd.read_csv(studies / name) for name in ("type_one_error.csv", "learners.csv"))
    learners = learners[(learners["level"] == 0.05) & (learners["question"] == "pairs")]
    learners = learners.groupby("learner")["rate"].mean()  # as many data sets in each setting of a learner
    frame = frame[(frame["test"] == "default") & (frame["level"] == 0.05)]
    rows = frame[frame["scenario"].str.match("S2[ce]")]
    designs = {
        "20 hold-outs 80/20": FoldDesign("repeated_holdout", 0.2, n_folds=20),
        "20 hold-outs 50/50": FoldDesign("repeated_holdout", 0.5, n_folds=20),
        "10-fold": FoldDesign("kfold", 0.1, n_folds=10),
        "5 x 2-fold": FoldDesign("repeated_kfold", 0.5, n_folds=10),
    }
    assert set(rows["design"]) == set(designs)
    designs["svm"] = FoldDesign("repeated_holdout", 0.5, n_folds=20, correlation=5 / 9)
    assert len(verdict_text.MEASURED_RATES) == len(designs)
    for name, design in designs.items():
        rate, writer = rows.loc[rows["design"] == name, "rate"].max(), LineWriter({})
        rate = {"20 hold-outs 50/50": max(rate, learners.max()), "svm": learners["svm"]}.get(name, rate)
        text = write_sampling_weakness(design, writer)
        assert [number.value for number in writer.numbers] == pytest.approx([0.05, rate], abs=1e-6)
        assert ("half splits lower it" in text) == (name == "20 hold-outs 80/20")
    for other in (FoldDesign("kfold", 0.2, n_folds=5), FoldDesign("repeated_holdout", 0.25, n_folds=20)):
        writer = LineWriter({})
        assert "were not measured for this design" in write_sampling_weakness(other, writer)
        assert writer.numbers == []


def test_models_that_swap_or_are_equal_have_their_numbers(results):
    verdict, leaders = results["swap"].verdict, results["swap"].tables["leaders"]
    alone = leaders[~leaders.duplicated(["prior_low", "prior_high"], keep=False)]
    low, high = alone["prior_high"].min(), alone["prior_low"].max()
    assert f"Use m1 below prior {low:.3g} and m0 above {high:.3g}; in between, m" in verdict.choose
    assert verdict.where_it_changes.startswith("Means cross at 0.0")  # the choice names both
    less, more = iter_rows(verdict.evidence)
    assert less.p_adjusted >= more.p_adjusted
    assert verdict.how_sure.startswith(f"At prior {less.prior_low:.3g}: m")
    frame = scores("independent", [1.9, 1.85], spreads=[0.7, 1.6], n_folds=5)
    changes = compared(frame, "independent", (0.3, 0.5), at_priors=(0.02, 0.5)).verdict.where_it_changes
    said = "Not from prior 0.3 to 0.5; outside, the highest mean changes from m1 to m0 at prior 0.0319"
    assert changes.startswith(said)
    table = results["equal"].tables["equivalence"]
    said = f"; p of equivalence {format_p(table['p_adjusted'].max())} (TOST)"
    assert said in results["equal"].verdict.how_sure


@pytest.mark.slow
@pytest.mark.parametrize(("control", "told", "models"), [
    ("m0", "Keep m0, the control: no model is shown to be better; m2 is worse than it.", ("m0",)),
    ("m2", "m0 and m1 are better than m2, the control.", ("m0", "m1")),
])  # fmt: skip
def test_a_control_is_what_the_others_are_held_against(control, told, models):
    design, options = KINDS["tie"]
    result = compared(scores(design, **options), design, control=control)
    assert (result.verdict.state, result.verdict.choose, result.verdict.models) == ("control", told, models)
    assert_numbers_have_tables(result)


@pytest.mark.slow
@pytest.mark.parametrize(("n_positive", "n_values", "prior", "why"), [
    (30, 5, 0.5, "a has few distinct scores, and positives are few"),
    (60, 5, 0.3, "a has few distinct scores, and negatives are few"),
    (60, 5, 0.5, ""), (30, 12, 0.3, ""),  # ratings of seven and more levels hold with few positives
])  # fmt: skip
def test_few_positives_with_few_values_are_not_trusted(n_positive, n_values, prior, why):
    rng, labels = np.random.default_rng(1), np.repeat([1, 0], [n_positive, 600])
    frame, parts = pd.DataFrame({"fold": 1, "case": range(len(labels)), "y_true": labels}), []
    for name in "ab":
        score = rng.normal(labels)
        score = np.clip((score * n_values / 5).round(), -n_values // 5, n_values - n_values // 5 - 1)
        parts.append(frame.assign(model=name, y_score=score))
    verdict = compared(pd.concat(parts), "test_set", prior, at_priors=(prior,)).verdict
    assert (verdict.state == "untrusted") == bool(why)
    if why:
        assert verdict.choose.startswith(f"No choice: the tests are not reliable here ({why}).")
        ratings = "provide unrounded scores or ratings of 7 or more levels."
        said = ratings if n_positive >= 50 else "Only 30 positives; 50 are needed."
        assert verdict.weakest_point.endswith(said)


@pytest.mark.slow
@pytest.mark.parametrize(("n_models", "why"), [
    (2, ""), (3, "m2 has few distinct scores, and negatives are few")
])  # fmt: skip
def test_ratings_of_three_models_take_more_negatives(n_models, why):
    rng, labels = np.random.default_rng(1), np.repeat([1, 0], [300, 374])
    frame = pd.DataFrame({"fold": 1, "case": range(len(labels)), "y_true": labels})
    parts = [
        frame.assign(model=f"m{i}", y_score=rng.binomial(10, 0.4 + 0.2 * labels)) for i in range(n_models)
    ]
    verdict = compared(pd.concat(parts), "test_set", (0.05, 0.2), at_priors=(0.1,)).verdict
    assert (verdict.state == "untrusted") == bool(why)
    if why:
        assert verdict.choose.startswith(f"No choice: the tests are not reliable here ({why}).")


def test_few_folds_and_runs_say_how_many_are_needed():
    for kind, word in (("kfold", "folds"), ("runs", "runs")):
        lines = [write_sampling_weakness(FoldDesign(kind, n_folds=n), LineWriter({})) for n in (4, 5)]
        assert lines[0] == f"Only 4 {word}: use 5 or more."
        assert "Only" not in lines[1]
