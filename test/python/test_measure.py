"""The programs that measure (bench/python/measure.py) still call what the package has."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

sys.path.append(str(Path(__file__).parents[2] / "bench/python"))
import measure  # noqa: E402
import measure_corners  # noqa: E402
import measure_small  # noqa: E402


CASES = measure_small.cases()


@pytest.mark.parametrize("call", CASES.values(), ids=CASES)
def test_a_small_call(call):
    result = call()
    assert all(torch.is_tensor(each) for each in (result if isinstance(result, (tuple, list)) else [result]))


@pytest.mark.parametrize("part", [measure.against_c, measure.fixed_costs], ids=lambda part: part.__name__)
def test_the_c_calls(part, monkeypatch, capsys):
    monkeypatch.setattr(measure, "CASES", measure.CASES[:1])
    part(0.0)
    assert len(capsys.readouterr().out.splitlines()) >= 3


@pytest.mark.parametrize("part", [measure_corners.filters, measure_corners.points, measure_corners.small,
                                  measure_corners.without_compositions], ids=lambda part: part.__name__)
def test_a_corner(part):
    for name, ours, *_ in part(None):
        assert ours() is not None, name
