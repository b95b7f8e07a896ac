"""The programs that measure (bench/python/measure.py) still call what the package has."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

sys.path.append(str(Path(__file__).parents[2] / "bench/python"))
import measure_small  # noqa: E402


CASES = measure_small.cases()


@pytest.mark.parametrize("call", CASES.values(), ids=CASES)
def test_a_small_call(call):
    result = call()
    assert all(torch.is_tensor(each) for each in (result if isinstance(result, (tuple, list)) else [result]))
