"""The programs that measure (measure.py) still call what the package has."""

import pytest

torch = pytest.importorskip("torch")

import measure_small  # noqa: E402


@pytest.mark.parametrize("name", measure_small.cases())
def test_a_small_call(name):
    result = measure_small.cases()[name]()
    assert all(torch.is_tensor(each) for each in (result if isinstance(result, (tuple, list)) else [result]))
