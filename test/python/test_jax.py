"""examples/python/jax_operators.py: operators that jax.jit compiles give what the numpy functions give."""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest

jax = pytest.importorskip("jax")
if shutil.which("c++") is None:
    pytest.skip("no C++ compiler", allow_module_level=True)

import mluops  # noqa: E402

RANDOM = np.random.default_rng(0)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    file = Path(__file__).resolve().parents[2] / "examples/python/jax_operators.py"
    spec = importlib.util.spec_from_file_location("jax_operators", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register(tmp_path_factory.mktemp("jax"))
    return module


ROIS = np.array([[0, 1, 1, 6, 5], [1, 0, 2, 7, 7]], np.float32)
INDICES = RANDOM.integers(0, 6, (2, 4, 3)).astype(np.int32)
# name: arrays with gradients, the others, a call of the function of jax, one of numpy, one of numpy's gradient
CALLS = {
    "gather_points": ([floats(2, 3, 6)], [INDICES[:, :, 0]], lambda f, x, i: f(x, i),
                      lambda x, i: mluops.gather_points(x, i), lambda g, x, i: [mluops.gather_points_backward(g, i, 6)]),
    "three_interpolate": ([floats(2, 3, 6), floats(2, 4, 3)], [INDICES], lambda f, x, w, i: f(x, i, w),
                          lambda x, w, i: mluops.three_interpolate(x, i, w),
                          lambda g, x, w, i: [mluops.three_interpolate_backward(g, i, w, 6),
                                              mluops.three_interpolate_backward_weight(g, x, i)]),
    "psa_mask": ([floats(1, 3, 4, 15)], [], lambda f, x: f(x, 1, (3, 5)), lambda x: mluops.psa_mask(x, 1, (3, 5)),
                 lambda g, x: [mluops.psa_mask_backward(g, 1, (3, 5))]),
    "carafe": ([floats(1, 4, 5, 6), floats(1, 8, 10, 18)], [], lambda f, x, m: f(x, m, 3, 2, 2),
               lambda x, m: mluops.carafe(x, m, 3, 2, 2), lambda g, x, m: mluops.carafe_backward(x, m, g, 3, 2, 2)),
    "roi_align": ([floats(2, 8, 9, 3)], [ROIS], lambda f, x, r: f(x, r, (2, 3), 0.5, 2),
                  lambda x, r: mluops.roi_align(x, r, 2, 3, 2, 0.5, True),
                  lambda g, x, r: [mluops.roi_align_backward(g, r, 0.5, 2, True, 2, 8, 9)]),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(ours, name):
    with_gradient, others, call, plain, backward = CALLS[name]
    function = jax.jit(lambda *arrays: call(getattr(ours, name), *arrays))
    wanted = plain(*with_gradient, *others)
    found = np.asarray(function(*with_gradient, *others))
    np.testing.assert_array_equal(found, wanted)
    grad = floats(*wanted.shape)
    gradients = jax.jit(lambda *arrays: jax.vjp(lambda *x: function(*x, *others), *arrays)[1](grad))(*with_gradient)
    for one, other, x in zip(gradients, backward(grad, *with_gradient, *others), with_gradient):
        assert one.shape == x.shape and np.abs(one).max() > 0
        np.testing.assert_array_equal(np.asarray(one), other)


def test_a_refused_call_says_why(ours):
    with pytest.raises(Exception, match="masks|mask"):
        jax.block_until_ready(ours.carafe(floats(1, 4, 5, 6), floats(1, 8, 10, 9), 3, 2, 2))
