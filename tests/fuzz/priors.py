"""Folders of a comparison, unlabelled scores, thresholds: what is decided from them holds together."""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import skewanova as sa
from fuzz.command import CHANGED, DONE, REFUSED, checked_run, folder_of
from fuzz.generator import Generator, answered, near, sample
from fuzz.tables import CELLS, SHAPE, as_csv, changed, changes_of, damaged, damages, rows_of
from skewanova.comparison import changes, monitor
from skewanova.comparison.monitoring import STATES

LEVELS = (0.95, 0.95, 0.5, 0.999, 0.0, 1.0, float("nan"))


fields = st.fixed_dictionaries(
    sample(seed=range(10), models=(1, 2, 3), size=(4, 12, 60), positives=(0.05, 0.5, 1.0))
    | sample(batches=(0, 0, 2, 5), cases=(False, True))
    | {"steps": st.one_of(st.just([]), changes_of(("model", "y_score", "batch", "case"), CELLS))}
)


def field_rows(case):
    """Scores of `size` cases by every model, as those of `rows_of` but for the prior."""
    rng = np.random.default_rng(case["seed"])
    hidden = rng.random(case["size"]) < case["positives"]
    rows = []
    for model in range(case["models"]):
        scores = np.round(rng.normal(size=len(hidden)) + (APART + 0.4 + 0.4 * model) * hidden, 1).tolist()
        for k, score in enumerate(scores):
            row = {"model": f"m{model}", "y_score": score}
            row |= {"batch": f"b{k % case['batches']}"} if case["batches"] else {}
            rows.append(row | ({"case": k} if case["cases"] else {}))
    return rows


#: How far the classes lie apart, so that the likelihood ratio needs no bootstrap.
APART = 1.5


TABLES = ("tables/ranking.csv", "tables/leaders.csv", "tables/score_bins.csv", "provenance.json")
CONTENTS = (b"", b"{}", b"[]", b"null", b"\x00", b"\xff\xfe", b"a\n1\n", b'{"settings": 1}', b"{{")


@cache
def folder_files():
    """What `monitor` and `diff` read of the folder of a comparison, and what `--json` prints of it."""
    rows = pd.DataFrame(rows_of({**SHAPE, "size": 30}))
    rows["y_score"] += APART * rows["y_true"]
    result = sa.compare(rows, at_priors=(0.5, 0.1))
    frames = {name: result.tables[name] for name in ("ranking", "leaders", "score_bins")}
    ranked = json.loads(frames["ranking"].to_json(orient="records"))
    return {
        **{f"tables/{name}.csv": frame.to_csv(index=False).encode() for name, frame in frames.items()},
        "provenance.json": json.dumps({"settings": {"alpha": 0.05}}).encode(),
        "printed.json": json.dumps({"ranking": ranked, "settings": {"alpha": 0.01}}).encode(),
    }


_harm = st.one_of(
    st.tuples(st.just("cell"), st.sampled_from(TABLES[:3]), st.integers(0, 200), st.sampled_from(CELLS)),
    st.tuples(st.just("absent"), st.sampled_from(TABLES), st.just(0), st.none()),
    st.tuples(st.just("content"), st.sampled_from(TABLES), st.just(0), st.sampled_from(CONTENTS)),
    st.tuples(st.just("bytes"), st.sampled_from(TABLES), st.just(0), damages),
    st.tuples(st.just("setting"), st.just("provenance.json"), st.just(0), st.sampled_from(CELLS)),
)
harms = st.one_of(st.just([]), st.lists(_harm, max_size=2))
HARMS = {
    "absent": lambda *_: None,
    "content": lambda _content, _place, value: value,
    "bytes": lambda content, _, value: damaged(content, value),
    "setting": lambda _content, _place, value: json.dumps(
        {"settings": {"alpha": value, "control": value}}
    ).encode(),
    "cell": lambda content, place, value: _with_cell(content, place, value),
}


def harmed_folder(turned, steps):
    """The files, the two models renamed if turned, after somebody has edited, cut or deleted them."""
    files = dict(folder_files())
    if turned:
        swap = {b"m0": b"m1", b"m1": b"m0"}
        files = {name: re.sub(rb"\bm[01]\b", lambda m: swap[m[0]], text) for name, text in files.items()}
    for kind, name, place, value in steps:
        if files.get(name) is not None:
            files[name] = HARMS[kind](files[name], place, value)
    return {name: content for name, content in files.items() if content is not None}


def _with_cell(content, place, value):
    """A CSV file with one other cell (the header's included), written as text."""
    lines = [line.split(b",") for line in content.splitlines()]
    cells = [(row, column) for row, line in enumerate(lines) for column in range(len(line))]
    if cells:
        row, column = cells[place % len(cells)]
        lines[row][column] = b'"' + value.replace('"', '""').encode("utf-8", "surrogatepass") + b'"'
        content = b"\n".join(b",".join(line) for line in lines) + b"\n"
    return content


MONITOR_ARGUMENTS = ([], [], ["--json"], *(["--confidence-level", x] for x in ("0.5", "1")), ["--seed", "3"])
monitored = st.fixed_dictionaries(
    sample(turned=(False, True), arguments=MONITOR_ARGUMENTS) | {"harms": harms, "field": fields}
)


def monitored_or_refused(case):
    """Status 3 if and only if another model is ahead in some batch; or refused in one line."""
    rows = changed(field_rows(case["field"]), case["field"]["steps"])
    files = harmed_folder(case["turned"], case["harms"])
    files = {f"old/{name}": content for name, content in files.items()}
    with folder_of({**files, "field.csv": as_csv(rows)}) as folder:
        command = ["monitor", "old", "field.csv", *case["arguments"]]
        run = checked_run(command, folder, statuses=(DONE, REFUSED, CHANGED))
        if run.exit_code == REFUSED or case["arguments"][:1] not in ([], ["--json"]):
            return
        result = monitor("old", "field.csv")
        assert (result.changed, len(result.sentences)) == (run.exit_code == CHANGED, len(result.table))
        for row in result.table.itertuples():
            assert row.state in STATES
            assert 0 <= row.conf_low <= row.estimate <= row.conf_high <= 1
            assert bool(row.leaders) == (row.state != "beyond")
            assert (result.chosen in row.leaders.split(", ")) or row.state in {"changed", "beyond"}
        if not case["harms"]:
            assert result.table["n_unlabelled"].sum() == sum(row["model"] == result.chosen for row in rows)


compared = st.fixed_dictionaries(
    sample(arguments=([], ["--json"], ["--quiet"]))
    | {
        "turned": st.tuples(st.booleans(), st.booleans()),
        "harms": st.tuples(harms, harms),
        "kinds": st.tuples(*[st.sampled_from(["folder", "folder", "printed", "file", "absent"])] * 2),
    }
)


def told_apart_or_refused(case):
    """Status 3 if and only if the leader changed; a comparison does not differ from itself."""
    places, files = [], {}
    for side, turned, harm, kind in zip("ab", case["turned"], case["harms"], case["kinds"], strict=True):
        files |= {f"{side}/{name}": content for name, content in harmed_folder(turned, harm).items()}
        names = {"folder": side, "printed": f"{side}/printed.json", "file": f"{side}/tables/ranking.csv"}
        places.append(names.get(kind, f"{side}/absent"))
    with folder_of(files) as folder:
        run = checked_run(["diff", *places, *case["arguments"]], folder, statuses=(DONE, REFUSED, CHANGED))
        for place in places:
            itself = answered(changes, place, place)
            assert itself is None or not (itself.leader_changed or itself.settings)
        if run.exit_code == REFUSED:
            assert answered(changes, *places) is None
            return
        result = changes(*map(Path, places))
        assert result.leader_changed == (run.exit_code == CHANGED)
        assert {result.leader_old, result.leader_new} <= {*result.table["model"]}


SHARES = (0.8, 0.5, 1e-12, 1 - 1e-12, 1.0, 0.0, -1.0, float("nan"), float("inf"))
WEIGHTINGS = {
    "usual": lambda: (0.5, 0.1), "rare": lambda: (1e-12, 1e-300), "common": lambda: (1 - 1e-12,),
    "none": lambda: (), "twice": lambda: (0.5, 0.5), "beta": lambda: sa.BetaPrior(2, 98),
    "flat": lambda: sa.UniformPrior(0.05, 0.2), "two": lambda: sa.DiscretePrior([0.1, 0.9], [1, 3]),
}  # fmt: skip
SAME_CASES = {
    "rows": lambda frame, seed: frame.sample(frac=1, random_state=seed),
    "scores": lambda frame, _: frame.assign(y_score=np.arctan(frame["y_score"])),
    "names": lambda frame, seed: frame.assign(model=[f"\u00e9 {seed}'{name}" for name in frame["model"]]),
}
COSTS = (None, (1, 20), (0, 1), (1, 0), (0, 0), (1e300, 1), (1e-300, 5e-324), (-1, 1))
chosen = st.fixed_dictionaries(
    sample(seed=range(10), folds=(1, 2, 3), models=(1, 2), size=(2, 12, 30), digits=(0, 1, 6), target=SHARES)
    | sample(
        rule=("threshold", "recall", "precision", "flagged", "costs", "costs"), costs=COSTS, level=LEVELS
    )
    | sample(priors=sorted(WEIGHTINGS), change=list(SAME_CASES))
    | sample(**{"chosen prior": (None, None, 0.3, (0.2, 0.01), 0.0, 1e-300)})
    | sample(**{"choose on": (None, None, "part", "itself")})
)


def thresholds_hold_together(case):
    """Refused, or shares within their limits that reach the target, whatever the scores' scale."""
    rows = rows_of({**case, "cases": 1, "datasets": 1})
    frame = pd.DataFrame(rows).assign(part=lambda rows: np.where(rows.index % 4 < 2, "a", "b"))
    found = _thresholds(frame, case)
    if found is None:
        return
    for name, rows in found.groupby("measure"):
        top = np.inf if name == "expected_cost" else 1 + 1e-12
        known = rows[["conf_low", "estimate", "conf_high"]].dropna().to_numpy()
        assert (known[:, 0] >= -1e-12).all(), (name, known)
        assert (known[:, 2] <= top).all(), (name, known)
        assert (np.diff(known, axis=1) >= -1e-9 * np.maximum(1, np.abs(known[:, 1:2]))).all(), (name, known)
    assert_target_reached(found, case)
    again = _thresholds(SAME_CASES[case["change"]](frame, case["seed"]), case)
    assert again is not None, "a change of no meaning was refused"
    keys = ["model", "level", "fold", "chosen_prior", "prior", "measure"]
    before, after = (
        table.assign(model=table["model"].str[-2:]).sort_values(keys, kind="stable")
        for table in (found, again)
    )
    if case["rule"] != "threshold" or case["change"] != "scores":
        near(after["estimate"], before["estimate"])
        near(after["conf_low"], before["conf_low"])


def _thresholds(frame, case):
    options = {"costs": case["costs"], "chosen_prior": case["chosen prior"]}
    if case["rule"] != "costs":
        options[case["rule"]] = case["target"]
    if case["choose on"]:
        options["choose_on"] = "a" if case["choose on"] == "part" else frame.drop(columns="part")
    options |= {"at_priors": WEIGHTINGS[case["priors"]](), "confidence_level": case["level"]}
    return answered(sa.threshold_table, frame, **options)


def assert_target_reached(found, case):
    """On the cases that chose it, a threshold has the recall, precision or share that was asked for."""
    own = found[(found["level"] == "fold") & (found["chosen_on"] == "same cases")]
    if case["choose on"] or case["rule"] in {"threshold", "costs"}:
        return
    at = own["chosen_prior"].isna() | (own["chosen_prior"] == own["prior"])
    reached = own.loc[at & (own["measure"] == case["rule"]), "estimate"].dropna()
    sign = -1 if case["rule"] == "flagged" else 1
    assert (sign * (reached - case["target"]) >= -1e-9).all(), reached


GENERATORS = (
    Generator("monitored", monitored, monitored_or_refused, 3),
    Generator("told apart", compared, told_apart_or_refused, 6),
    Generator("thresholds", chosen, thresholds_hold_together, 6),
)
