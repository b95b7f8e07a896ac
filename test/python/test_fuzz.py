"""Hostile arguments at the numpy functions: valid calls in which up to three arguments lie. Each gives a result, or one
of the errors that are promised, with a text; what was passed in stays as it was. MLUOP_FUZZ_SEED and MLUOP_FUZZ_ROUNDS
widen it; fuzz_numpy.py makes the choices from coverage."""

import os
import random

import numpy as np
import pytest

import mluops
from mluops import _listing, op

PROMISED = (mluops.MluOpError, TypeError, ValueError, MemoryError)


def smallest_calls():
    """The smallest call of every function: arrays, then other arguments."""
    made = {}
    for module in _listing.modules(op):
        for name, call in module.SMALLEST.items():
            function = getattr(module, name)
            setattr(module, name, lambda *values: list(values))
            made[function] = call(lambda *shape: np.ones(shape, np.float32), lambda *shape: np.zeros(shape, np.int32))
            setattr(module, name, function)
    return made


def calls(rng):
    """A valid call of every function, larger where something can be wrong with its sizes."""
    def real(*shape):
        return rng.uniform(-1, 1, shape).astype(np.float32)

    rois = np.array([[0, 1, 1, 4, 3], [1, 0, 0, 2, 2]], np.float32)
    boxes = np.array([[[0, 0, 3, 2], [1, 1, 2, 2]]], np.float32)
    return smallest_calls() | {
        mluops.carafe: [real(1, 2, 3, 4), real(1, 4, 6, 18), 3, 2, 2],
        mluops.carafe_backward: [real(1, 2, 3, 4), real(1, 4, 6, 18), real(1, 4, 6, 4), 3, 2, 2],
        mluops.psa_mask: [real(2, 3, 4, 6), "collect", (2, 3)],
        mluops.psa_mask_backward: [real(2, 3, 4, 12), 1, (2, 3)],
        mluops.deform_roi_pool: [real(2, 5, 6, 3), rois, real(2, 2, 2, 2), 2, 1.0, 2, 0.1],
        mluops.deform_roi_pool_backward: [real(2, 2, 2, 3), real(2, 5, 6, 3), rois, real(2, 2, 2, 2), 2, 1.0, 2, 0.1],
        mluops.border_align: [real(1, 4, 5, 8), boxes, 3],
        mluops.border_align_backward: [real(1, 2, 4, 2), boxes, rng.integers(0, 4, (1, 2, 4, 2), np.int32), 3, 4, 5],
        mluops.three_interpolate: [real(2, 3, 5), rng.integers(-1, 6, (2, 4, 3)), real(2, 4, 3)],
        mluops.three_interpolate_backward: [real(2, 3, 4), rng.integers(-1, 6, (2, 4, 3)), real(2, 4, 3), 5],
        mluops.three_interpolate_backward_weight: [real(2, 3, 4), real(2, 3, 5), rng.integers(-1, 6, (2, 4, 3))],
    }


NOT_AN_ARRAY = [None, 3, "features", [[1.0, 2.0]], {}, object(), np.float32(2), np.zeros(()), np.array(["a"]), b"\0"]
NOT_A_NUMBER = [None, "3", 3.5, float("nan"), float("inf"), [], (1, 2, 3), True, -1, 0, 1 << 31, -(1 << 31) - 1,
                1 << 80, np.int64(3), np.float32(1), np.ones(2), "distribute", (0, 2), object()]
DTYPES = ["float16", "float64", ">f4", "longdouble", "complex64", "int8", "int64", "uint64", "bool", "object",
          "datetime64[s]"]


def other_array(array, choose):
    """The array with one thing wrong, or merely unusual."""
    kind = choose.randrange(8)
    if kind == 0:
        return choose.choice(NOT_AN_ARRAY)
    if kind == 1:
        return array.astype(choose.choice(DTYPES))
    if kind == 2:
        return array[..., ::2] if choose.random() < 0.5 else array.T
    if kind == 3:
        return np.expand_dims(array, choose.randrange(array.ndim)) if choose.random() < 0.5 else array[0]
    if kind == 4:
        return array[(slice(None),) * choose.randrange(array.ndim) + (slice(0),)]
    if kind == 5:
        return np.broadcast_to(np.float32(1), choose.choice([(1 << 20, 1 << 20, 1 << 20), (1,) * 9, (0, 1 << 40)]))
    wild = array.copy()
    flat = wild.reshape(-1)
    for _ in range(choose.randrange(1, 6)):
        flat[choose.randrange(flat.size)] = np.frombuffer(choose.randbytes(wild.itemsize), wild.dtype)[0]
    return wild


def bytes_of(values):
    return [value.tobytes() if isinstance(value, np.ndarray) and value.size < 1 << 20 else None for value in values]


def lie(function, values, choose):
    for _ in range(choose.randrange(4)):
        at = choose.randrange(len(values))
        array = isinstance(values[at], np.ndarray) and values[at].dtype.kind in "fi"
        if array and values[at].ndim and 0 < values[at].size < 1 << 20:
            values[at] = other_array(values[at], choose)
        else:
            values[at] = choose.choice(NOT_A_NUMBER)
    if choose.random() < 0.2:
        out = choose.choice([values[0], (values[0], values[0]), np.zeros(3), 7, "out", ()])
        return {"out": out}
    return {}


def call_with_lies(choose, rng, where):
    """Whether the call ran. `choose` is a random.Random or has its methods; `where` names the call in a failure."""
    function, values = choose.choice(list(calls(rng).items()))
    options = lie(function, values, choose)
    before = bytes_of(values)
    try:
        function(*values, **options)
        return True
    except PROMISED as error:
        assert str(error), (where, function, type(error))
    except Exception as error:
        raise AssertionError(f"{where}: {function.__name__}: {error!r} was not promised") from error
    assert bytes_of(values) == before, (where, function)
    return False


@pytest.mark.filterwarnings("ignore")
def test_hostile_arguments_are_refused_with_a_text():
    seed, rounds = int(os.environ.get("MLUOP_FUZZ_SEED", 1)), int(os.environ.get("MLUOP_FUZZ_ROUNDS", 2000))
    choose, rng = random.Random(seed), np.random.default_rng(seed)
    ran = sum(call_with_lies(choose, rng, f"MLUOP_FUZZ_SEED={seed}, round {i}") for i in range(rounds))
    assert rounds / 20 < ran < rounds * 19 / 20
