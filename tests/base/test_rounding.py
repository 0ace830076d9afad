"""Near-ties: levelled by hand-made values; whole result folders under every kernel that the processor has."""

import json
import os
import re
import subprocess
import sys
from functools import partial
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import processor_cases
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import each
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from threadpoolctl import threadpool_info, threadpool_limits

from skewanova.base.rounding import TIE, argsort_descending, is_maximum, limit_blas_threads, snap_ties
from skewanova.inference.case_deviations import compute_r_factor
from skewanova.inference.sampling import power_sums

#: Kernels of OpenBLAS, and what the processor must have for them.
KERNELS = {"Zen": "AVX2", "SkylakeX": "AVX512_SKX"}
SAID_FOR = {"Zen": "Haswell", "SkylakeX": "SkylakeX"}  # Zen computes with Haswell's
#: NumPy's own loops sum in another order where the processor can do less at once.
NARROW = {"Zen": [name for name in __cpu_dispatch__ if __cpu_features__.get(name)], "SkylakeX": []}
#: An area's rounding, where the number itself is but rounding.
ROUNDING = 1e-12
PATH_NUMBERS = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def blas_threads():
    """Numbers of threads of all linear algebra that is loaded."""
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_linear_algebra_of_tall_matrices_uses_one_thread_and_then_as_many_as_before():
    """With two, each waits for the other at every small product: nine times the time beside other work."""
    seen = []

    def blocks(block):
        for _ in range(2):
            seen.append(blas_threads())
            yield block

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with limit_blas_threads():
            assert blas_threads() == {1}
        compute_r_factor(blocks(np.ones((3, 2))))
        power_sums(blocks((0, [np.ones((2, 3))])), 1, 1, 2)
        assert seen == [{1}] * 4
        assert blas_threads() == before


def test_values_are_levelled_row_by_row_up_to_the_limit():
    values, tie = [0.3, 0.5 + 1e-13, 0.5, np.nan, 0.5 - 1e-13, 0.3 + 1e-9], 0.5 - 1e-13
    np.testing.assert_equal(snap_ties(values), [0.3, tie, tie, np.nan, tie, 0.3 + 1e-9])
    # large ones tie by their share, and infinity with itself alone
    values = [1e6, 1e6 + 1e-7, 1e6 + 1e-3, np.inf, np.inf, -np.inf, 0.0]
    np.testing.assert_equal(snap_ties(values), [1e6, 1e6, 1e6 + 1e-3, np.inf, np.inf, -np.inf, 0.0])
    found = snap_ties([[0.1, 0.1 + 1e-14], [0.2, 0.3]])
    assert found.tolist() == [[0.1, 0.1], [0.2, 0.3]]
    found = snap_ties([[0.2, 0.3, 0.3 + 1e-14], [0.1, 0.1 + 1e-14, 0.4]])
    assert found.tolist() == [[0.2, 0.3, 0.3], [0.1, 0.1, 0.4]]
    largest = is_maximum([[0.1, 0.9, 0.9], [0.8, 0.2, 0.1], [0.1, 0.95, 0.9]])
    assert largest.astype(int).tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 0]]
    assert (snap_ties([0.0, TIE]).tolist(), is_maximum([0.0, TIE]).tolist()) == ([0.0, 0.0], [True, True])
    for values in ([0.5, 0.5 + 1.5 * TIE], [1e6, 1e6 * (1 + 1.5 * TIE)]):
        assert (snap_ties(values).tolist(), is_maximum(values).tolist()) == (values, [False, True])
    assert is_maximum([1e6, 1e6 * (1 + 0.7 * TIE)]).tolist() == [True, True]


@each("shift", [-TIE / 2, 0.0, TIE / 2])
def test_near_ties_keep_their_order_and_nan_stands_last(shift):
    assert argsort_descending([0.5, 0.7, 0.5 + shift, 0.9]) == [3, 1, 0, 2]
    assert is_maximum([0.9, 0.7, 0.9 + shift]).tolist() == [True, False, True]
    assert argsort_descending([0.5, 0.5 + 3 * TIE]) == [1, 0]
    assert argsort_descending([np.nan, 0.1, 0.2]) == [2, 1, 0]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.integers(0, 2**31))
def test_rounding_changes_no_order(places, seed):
    exact = np.array(places) / 7
    rounded = exact + np.random.default_rng(seed).uniform(-1e-15, 1e-15, len(places))
    assert argsort_descending(rounded) == argsort_descending(exact)
    assert is_maximum(rounded).tolist() == (exact == exact.max()).tolist()


def written(folder, **environment):
    """Folder of results written by a process of its own."""
    own = {"SOURCE_DATE_EPOCH": "0", "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1"}
    script = [sys.executable, processor_cases.__file__, str(folder)]
    subprocess.run(script, env=os.environ | own | environment, check=True)
    return folder


@pytest.fixture(scope="module")
def haswell(tmp_path_factory):
    if not __cpu_features__.get("AVX2"):
        pytest.skip("this processor has no AVX2, so that OpenBLAS's Haswell kernels cannot run")
    return written(tmp_path_factory.mktemp("haswell"), OPENBLAS_CORETYPE="Haswell")


@pytest.mark.kernels
@pytest.mark.parametrize("kernel", KERNELS)
def test_results_are_the_same_under_other_kernels(haswell, kernel, tmp_path):
    if not __cpu_features__.get(KERNELS[kernel]):
        pytest.skip(f"this processor has no {KERNELS[kernel]}, so that OpenBLAS's {kernel} cannot run")
    narrow = {"NPY_DISABLE_CPU_FEATURES": " ".join(NARROW[kernel])} if NARROW[kernel] else {}
    found = written(tmp_path / kernel, OPENBLAS_CORETYPE=kernel, **narrow)
    assert set(json.loads((haswell / "kernels.json").read_text())) == {"Haswell"}
    assert set(json.loads((found / "kernels.json").read_text())) == {SAID_FOR[kernel]}
    check_same(haswell, found)


def check_same(folder, other):
    names = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
    assert names == sorted(str(p.relative_to(other)) for p in other.rglob("*") if p.is_file())
    assert any(name.endswith(".svg") for name in names)
    for name in names:
        if name != "kernels.json":
            _SAME.get(Path(name).suffix, same_text)(folder / name, other / name)


def read_texts(path):
    """A table of an output with every cell as text."""
    if path.suffix == ".parquet":
        path = StringIO(pd.read_parquet(path).to_csv(index=False))
    return pd.read_csv(path, keep_default_na=False, dtype=str)


def same_table(path, other):
    """Text is equal; numbers agree within 1e-9 of them, or are rounding."""
    one, two = map(read_texts, (path, other))
    assert list(one) == list(two), path
    assert len(one) == len(two), path
    for column in one:
        a, b = (pd.to_numeric(frame[column].replace("", "nan"), errors="coerce") for frame in (one, two))
        text = a.isna() | b.isna()
        assert one.loc[text, column].tolist() == two.loc[text, column].tolist(), (path, column)
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=ROUNDING, err_msg=f"{path} {column}")


def same_text(path, other, without="(?!)"):
    """Text but for what matches a pattern."""
    one, two = (re.sub(without, "", p.read_text(), flags=re.DOTALL) for p in (path, other))
    assert one == two, path


def same_picture(path, other):
    """The numbers of every path, to a hundredth of a point."""
    assert processor_cases.WITH_PICTURES in str(path) or path.name in {"across.svg", "hierarchical.svg"}
    one, two = (re.findall(r'\bd="([^"]*)"', p.read_text()) for p in (path, other))
    a, b = ([float(n) for d in paths for n in PATH_NUMBERS.findall(d)] for paths in (one, two))
    np.testing.assert_allclose(b, a, atol=0.01, err_msg=str(path))


_SAME = {
    ".csv": same_table,
    ".parquet": same_table,
    ".html": partial(same_text, without="<svg.*?</svg>"),  # pictures have files of their own
    ".svg": same_picture,
    ".json": partial(same_text, without='"[0-9a-f]{64}"'),  # checksums of what was written
}
