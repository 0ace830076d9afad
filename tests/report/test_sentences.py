"""Sentences about pairs."""

import pandas as pd

from skewanova.report.sentences import MOST_ALIKE, pair_findings


def test_many_pairs_alike_are_said_once():
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    frame = pd.DataFrame(pairs, columns=["model_a", "model_b"]).assign(
        estimate=0.1, std_error=0.1, p_adjusted=0.4, response="iauprec", test="jackknife_holm"
    )
    names = {name: name for name in "abcd"}
    none = pair_findings(frame.assign(reject=False), 0.05, names)
    assert none == ["No two models were found to differ in IAUPREC at 0.05 (smallest adjusted p = 0.40)."]
    frame["reject"] = [True, *[False] * 5]
    some = pair_findings(frame, 0.05, names)
    assert len(some) == 2
    assert some[0].startswith("a is ahead of b")
    assert some[1] == (
        "The other 5 pairs were not found to differ in IAUPREC at 0.05 (smallest adjusted p = 0.40)."
    )
    few = pair_findings(frame.iloc[: 1 + MOST_ALIKE], 0.05, names)
    assert len(few) == 1 + MOST_ALIKE
