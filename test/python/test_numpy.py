"""The numpy front end: values against a loop in plain numpy, out=, errors, settings."""

import threading

import numpy as np
import pytest

import mluops

rng = np.random.default_rng(5)


def values(*shape, dtype=np.float32):
    return rng.uniform(-1, 1, shape).astype(dtype)


def carafe_loop(x, m, k, g, s):
    n, h, w, c = x.shape
    r, per = (k - 1) // 2, c // g
    y = np.zeros((n, h * s, w * s, c))
    for i in range(h * s):
        for j in range(w * s):
            for a in range(k):
                for b in range(k):
                    p, q = i // s + a - r, j // s + b - r
                    if 0 <= p < h and 0 <= q < w:
                        for e in range(g):
                            part = slice(e * per, (e + 1) * per)
                            y[:, i, j, part] += m[:, i, j, (e * k + a) * k + b, None] * x[:, p, q, part]
    return y


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float16, 5e-3)])
def test_carafe(dtype, tolerance):
    x, m = values(2, 3, 4, 6, dtype=dtype), values(2, 6, 8, 18, dtype=dtype)
    y = mluops.carafe(x, m, 3, 2, 2)
    assert y.dtype == dtype
    np.testing.assert_allclose(y, carafe_loop(x.astype(float), m.astype(float), 3, 2, 2), atol=tolerance)


def test_arrays_of_the_other_byte_order_are_the_same_numbers():
    x, m = values(1, 3, 4, 4), values(1, 6, 8, 9)
    y = mluops.carafe(x.astype(">f4"), m, 3, 1, 2)
    assert y.dtype == np.float32 and y.dtype.isnative
    np.testing.assert_array_equal(y, mluops.carafe(x, m, 3, 1, 2))
    with pytest.raises(mluops.BadParamError, match="masks: wanted dtype float32"):
        mluops.carafe(x.astype(">f4"), m.astype(">f8"), 3, 1, 2)


def test_carafe_backward_is_the_adjoint():
    x, m, g = values(1, 3, 4, 4), values(1, 6, 8, 9), values(1, 6, 8, 4)
    gx, gm = mluops.carafe_backward(x, m, g, 3, 1, 2)
    whole = np.sum(mluops.carafe(x, m, 3, 1, 2).astype(float) * g)
    assert np.sum(gx.astype(float) * x) == pytest.approx(whole, rel=1e-4)
    assert np.sum(gm.astype(float) * m) == pytest.approx(whole, rel=1e-4)


def test_three_interpolate():
    f, w = values(2, 3, 5), values(2, 4, 3)
    i = rng.integers(-1, 6, (2, 4, 3))
    expected = np.zeros((2, 3, 4))
    for b, n, j in np.ndindex(2, 4, 3):
        if 0 <= i[b, n, j] < 5:
            expected[b, :, n] += w[b, n, j] * f[b, :, i[b, n, j]]
    np.testing.assert_allclose(mluops.three_interpolate(f, i, w), expected, atol=1e-6)
    np.testing.assert_array_equal(mluops.three_interpolate(f, i.astype(np.int32), w),
                                  mluops.three_interpolate(f, i, w))
    beyond = i + (i == 5) * (1 << 32)  # would be 5 again if it were cut to 32 bits
    np.testing.assert_allclose(mluops.three_interpolate(f, beyond, w), expected, atol=1e-6)
    g = values(2, 3, 4)
    gf = mluops.three_interpolate_backward(g, i, w, 5)
    assert np.sum(gf.astype(float) * f) == pytest.approx(np.sum(expected * g), rel=1e-4)
    gw = mluops.three_interpolate_backward_weight(g, f, i)
    assert np.sum(gw.astype(float) * w) == pytest.approx(np.sum(expected * g), rel=1e-4)
    assert np.all(gw[(i < 0) | (i >= 5)] == 0)


@pytest.mark.parametrize("psa_type", ["collect", "distribute"])
def test_psa_mask(psa_type):
    n, h, w, hm, wm = 2, 3, 4, 5, 2
    x = values(n, h, w, hm * wm)
    expected = np.zeros((n, h, w, h * w), np.float32)
    for y0, x0, i, j in np.ndindex(h, w, hm, wm):
        p, q = y0 + i - (hm - 1) // 2, x0 + j - (wm - 1) // 2
        if 0 <= p < h and 0 <= q < w:
            if psa_type == "collect":
                expected[:, y0, x0, p * w + q] = x[:, y0, x0, i * wm + j]
            else:
                expected[:, p, q, y0 * w + x0] = x[:, y0, x0, i * wm + j]
    y = mluops.psa_mask(x, psa_type, (hm, wm))
    np.testing.assert_array_equal(y, expected)
    back = mluops.psa_mask_backward(y, psa_type, (hm, wm))
    assert np.all((back == x) | (back == 0)) and np.sum(back != 0) == np.sum(y != 0)


def test_deform_roi_pool_example():
    x = np.array([1, 2, 2, 4], np.float32).reshape(1, 2, 2, 1)
    rois = np.array([[0, 0, 0, 1, 1]], np.float32)
    offset = np.full((1, 2, 1, 1), 0.5, np.float32)
    assert mluops.deform_roi_pool(x, rois, offset, 1, 1.0, 1, 1.0).item() == 2.25
    gx, go = mluops.deform_roi_pool_backward(np.ones((1, 1, 1, 1), np.float32), x, rois, offset, 1.0, 1, 1.0)
    np.testing.assert_allclose(gx, 0.25)
    np.testing.assert_allclose(go.ravel(), [1.5, 1.5])
    gx, go = mluops.deform_roi_pool_backward(np.ones((1, 1, 1, 1), np.float32), x, rois, None, 1.0, 1, 1.0)
    assert go is None and gx.sum() == pytest.approx(1)


def test_border_align_picks_the_first_maximum():
    x = np.zeros((1, 3, 4, 4), np.float32)
    x[0, 0, 2] = 5  # the largest value on the top border of the box below, at its last sample
    boxes = np.array([[[0, 0, 2, 2]]], np.float32)
    y, argmax = mluops.border_align(x, boxes, 2)
    assert y.shape == argmax.shape == (1, 1, 4, 1) and argmax.dtype == np.int32
    assert y[0, 0, 0, 0] == 5 and argmax[0, 0, 0, 0] == 2
    assert argmax[0, 0, 1, 0] == 0  # all samples of the left border are 0
    gx = mluops.border_align_backward(np.ones_like(y), boxes, argmax, 2, 3, 4)
    assert gx.shape == x.shape and gx[0, 0, 2, 0] == 1 and gx.sum() == 4


def test_out_arrays_are_used_and_checked():
    x, m = values(1, 2, 2, 4), values(1, 4, 4, 9)
    out = np.full((1, 4, 4, 4), np.nan, np.float32)
    assert mluops.carafe(x, m, 3, 1, 2, out=out) is out
    assert np.all(np.isfinite(out))
    for bad in (np.empty((1, 4, 4, 5), np.float32), np.empty((1, 4, 4, 4), np.float16),
                np.empty((1, 4, 4, 8), np.float32)[..., ::2], [1.0]):
        with pytest.raises(ValueError, match="out"):
            mluops.carafe(x, m, 3, 1, 2, out=bad)
    frozen = np.empty((1, 4, 4, 4), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        mluops.carafe(x, m, 3, 1, 2, out=frozen)
    gx, gm = np.empty_like(x), np.empty_like(m)
    result = mluops.carafe_backward(x, m, out, 3, 1, 2, out=(gx, gm))
    assert result[0] is gx and result[1] is gm


def test_not_contiguous_inputs_are_copied():
    x, m = values(1, 4, 2, 4), values(1, 8, 4, 9)
    transposed = np.ascontiguousarray(x.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
    assert not transposed.flags.c_contiguous
    np.testing.assert_array_equal(mluops.carafe(transposed, m, 3, 1, 2), mluops.carafe(x, m, 3, 1, 2))


def test_numbers_may_be_numpy_s():
    x, m, two = values(1, 2, 2, 4), values(1, 4, 4, 9), np.int64(2)
    np.testing.assert_array_equal(mluops.carafe(x, m, np.int64(3), np.int32(1), two), mluops.carafe(x, m, 3, 1, 2))
    assert mluops.psa_mask(values(1, 2, 2, 4), 0, two).shape == (1, 2, 2, 4)
    assert mluops.deform_roi_pool(x, np.zeros((1, 5), np.float32), None, two, np.float32(1)).shape == (1, 2, 2, 4)
    with pytest.raises(TypeError):
        mluops.carafe(x, m, 3.0, 1, 2)


def test_errors_carry_the_text_of_the_library():
    x, m = values(1, 2, 2, 4), values(1, 4, 4, 9)
    with pytest.raises(mluops.BadParamError, match=r"mask.*18.*got 9") as caught:
        mluops.carafe(x, m, 3, 2, 2)
    assert isinstance(caught.value, ValueError) and caught.value.status_name == "MLUOP_STATUS_BAD_PARAM"
    with pytest.raises(mluops.BadParamError, match="kernel_size"):
        mluops.carafe(x, m, 2, 1, 2)
    with pytest.raises(mluops.BadParamError, match="dtype"):
        mluops.carafe(x, m.astype(np.float16), 3, 1, 2)
    with pytest.raises(TypeError, match="int64"):
        mluops.carafe(x.astype(np.int64), m, 3, 1, 2)
    with pytest.raises(ValueError, match="features: wanted 4 dimensions"):
        mluops.carafe(x[0], m, 3, 1, 2)
    with pytest.raises(mluops.BadParamError, match="rois"):
        mluops.deform_roi_pool(x, np.array([[1, 0, 0, 1, 1]], np.float32), None, 1)


def test_strict_contract_refuses_what_extended_takes():
    x, m = values(1, 2, 2, 4, dtype=np.float64), values(1, 4, 4, 9, dtype=np.float64)
    with pytest.raises(mluops.BadParamError, match="DOUBLE"):
        mluops.carafe(x, m, 3, 1, 2)
    mluops.set_contract("extended")
    np.testing.assert_allclose(mluops.carafe(x, m, 3, 1, 2), carafe_loop(x, m, 3, 1, 2), atol=1e-12)
    with pytest.raises(ValueError, match='contract: wanted "strict" or "extended", got .loose'):
        mluops.set_contract("loose")


def test_backends():
    assert list(mluops.backends())[0] == "cpu" and "mlu_emu" in mluops.backends()
    default = mluops.backend()
    with pytest.raises(mluops.NotInitializedError, match="cpu"):
        mluops.set_backend("gpu")
    assert mluops.backend() == default
    x, m = values(1, 2, 2, 4), values(1, 4, 4, 9)
    mluops.set_backend("cpu")
    on_cpu = mluops.carafe(x, m, 3, 1, 2)
    assert mluops.last_run_backend() == "cpu"
    mluops.set_backend("mlu_emu")
    try:
        emulated = mluops.carafe(x, m, 3, 1, 2)
    except mluops.NotSupportedError:
        pytest.skip("this build's mlu_emu does not provide carafe")
    assert mluops.last_run_backend() == "mlu_emu"
    np.testing.assert_allclose(on_cpu, emulated, atol=1e-5)


def test_options_and_threads():
    mluops.set_num_threads(1)
    assert mluops.num_threads() == 1
    mluops.set_num_threads(3)
    assert mluops.num_threads() == 3
    with pytest.raises(mluops.BadParamError, match="threads"):
        mluops.set_num_threads(-1)
    assert mluops.num_threads() == 3
    with pytest.raises(mluops.BadParamError, match="colour"):
        mluops.set_option("cpu", "colour", "red")
    mluops.set_option("cpu", "threading", "threads")  # what every build has
    x, m = values(1, 2, 2, 4), values(1, 4, 4, 9)
    by_threads = mluops.carafe(x, m, 3, 1, 2)
    mluops.set_option("cpu", "threading", "auto")
    np.testing.assert_array_equal(by_threads, mluops.carafe(x, m, 3, 1, 2))


def test_many_threads_at_once():
    x, m = values(1, 8, 8, 16), values(1, 16, 16, 25)
    expected = mluops.carafe(x, m, 5, 1, 2)
    failures = []

    def work():
        for _ in range(20):
            if not np.array_equal(mluops.carafe(x, m, 5, 1, 2), expected):
                failures.append("differs")

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failures


def test_empty_arrays():
    assert mluops.carafe(values(0, 2, 2, 4), values(0, 4, 4, 9), 3, 1, 2).shape == (0, 4, 4, 4)
    flat = mluops.deform_roi_pool(values(1, 0, 4, 3), np.array([[0, 0, 0, 1, 1]], np.float32), None, 2)
    assert flat.shape == (1, 2, 2, 3) and not flat.any()
    none = mluops.three_interpolate(values(1, 3, 0), np.zeros((1, 4, 3), np.int32), values(1, 4, 3))
    assert none.shape == (1, 3, 4) and not none.any()
    pooled, argmax = mluops.border_align(values(1, 2, 2, 4), values(1, 0, 4), 1)
    assert pooled.shape == argmax.shape == (1, 0, 4, 1)
