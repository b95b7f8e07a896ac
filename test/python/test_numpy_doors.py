"""The generated numpy functions (mluops/op): the smallest call of each, sizes and dtypes of results, `out`, refusals; and
against the doors that were there before them."""

import inspect

import numpy as np
import pytest

import mluops
from mluops import _listing, op

CALLS = {name: (module, call) for module in _listing.modules(op) for name, call in module.SMALLEST.items()}


def smallest(name, dtype=np.float32):
    return CALLS[name][1](lambda *shape: np.ones(shape, dtype), lambda *shape: np.zeros(shape, np.int32))


@pytest.mark.parametrize("name", CALLS)
def test_smallest_call_gives_arrays(name):
    results = smallest(name)
    for result in results if isinstance(results, tuple) else (results,):
        absent = result is None and name == "deform_roi_pool_backward"  # the gradient of an offset that is not given
        assert absent or isinstance(result, int) or (isinstance(result, np.ndarray) and result.flags.c_contiguous)


@pytest.mark.parametrize("name", CALLS)
def test_empty_arrays_are_checked(name):
    """The library is not asked about empty arrays. Still sizes that do not fit are refused; else results are zeros."""
    arrays = len([p for p in inspect.signature(getattr(mluops, name)).parameters.values() if p.annotation is np.ndarray])

    def call(empty, longer):
        made = []

        def tensor(make):
            def sized(*shape):
                made.append(shape)
                return make((0, *shape[1:]) if len(made) - 1 == empty else (*shape, 1) if len(made) - 1 == longer else shape)
            return sized

        return CALLS[name][1](tensor(lambda shape: np.ones(shape, np.float32)), tensor(lambda shape: np.zeros(shape, np.int32)))

    for empty in range(arrays):
        for longer in set(range(arrays)) - {empty}:
            with pytest.raises((mluops.BadParamError, ValueError)):
                call(empty, longer)


@pytest.mark.parametrize("name", CALLS)
def test_every_array_is_refused_with_its_name(name):
    """One dimension too many: the function names the array."""
    function = getattr(mluops, name)
    arrays = [p.name for p in inspect.signature(function).parameters.values()
              if p.annotation is np.ndarray and p.kind is not p.KEYWORD_ONLY]
    for place, wanted in enumerate(arrays):
        made = []

        def tensor(fill):
            def make(*shape):
                made.append(shape)
                return fill(shape if len(made) - 1 != place else (*shape, 1))
            return make

        # The arrays of SMALLEST come in the order of the parameters.
        with pytest.raises((mluops.BadParamError, ValueError), match=wanted):
            CALLS[name][1](tensor(lambda shape: np.ones(shape, np.float32)), tensor(lambda shape: np.zeros(shape, np.int32)))


def test_knn_finds_the_nearest():
    rng = np.random.default_rng(3)
    points, centers = (rng.uniform(-1, 1, (2, n, 3)).astype(np.float32) for n in (40, 7))
    idx, dist2 = mluops.knn(points, centers, 5)
    squares = ((points[:, None].astype(float) - centers[:, :, None]) ** 2).sum(-1)
    np.testing.assert_array_equal(idx, np.argsort(squares, -1, kind="stable")[..., :5])
    np.testing.assert_allclose(dist2, np.sort(squares, -1)[..., :5], atol=1e-5)


def test_gather_points_and_its_gradient():
    points = np.arange(24, dtype=np.float32).reshape(1, 2, 12)
    idx = np.array([[3, 0, 3]])
    np.testing.assert_array_equal(mluops.gather_points(points, idx), points[:, :, idx[0]])
    gradient = mluops.gather_points_backward(np.ones((1, 2, 3), np.float32), idx, 12)
    assert gradient[0, 0].tolist() == [1, 0, 0, 2] + [0] * 8


def test_roi_pool_takes_the_greatest_pixels():
    image = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    output, argmax = mluops.roi_pool(image, np.array([[0, 0, 0, 3, 3]], np.float32), 1.0, 2, 2)
    assert output[0, :, :, 0].tolist() == [[5, 7], [13, 15]] and argmax[0, :, :, 0].tolist() == [[5, 7], [13, 15]]
    gradient = mluops.roi_pool_backward(np.ones_like(output), np.array([[0, 0, 0, 3, 3]], np.float32), argmax, 1.0, 1, 4, 4)
    assert gradient.sum() == 4 and gradient[0, 1, 1, 0] == 1


def test_out_is_filled_and_checked():
    points = np.ones((1, 4, 3), np.float32)
    out = np.zeros((1, 2, 1), np.int32), np.ones((1, 2, 1), np.float32)
    results = mluops.knn(points, points[:, :2], 1, out=out)
    assert results[0] is out[0] and out[1].max() == 0
    with pytest.raises(ValueError, match="dist2: wanted an array float32"):
        mluops.knn(points, points[:, :2], 1, out=(out[0], np.zeros((1, 2, 1), np.float64)))
