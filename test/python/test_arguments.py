"""What happens to wrong arguments: one clear error in the caller's names and layout, before anything is allocated, from
real, empty, fake and meta tensors alike, and the same words behind the numpy and the torch functions."""

import concurrent.futures
import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import mluops


def refused_call():
    mluops.carafe(np.ones((1, 2, 2, 4), np.float32), np.ones((1, 4, 4, 9), np.float32), 3, 2, 2)


# ---- exceptions travel between processes


def test_exceptions_are_rebuilt_whole():
    with pytest.raises(mluops.BadParamError) as caught:
        refused_call()
    error = caught.value
    others = [mluops.NotSupportedError(7, "NAME", "text"), mluops.NotInitializedError(1, "NAME", "text"),
              mluops.AllocFailedError(2, "NAME", ""), mluops.ExecutionFailedError(6, "NAME", "text")]
    for one in (error, *others):
        for copied in (pickle.loads(pickle.dumps(one)), copy.copy(one)):
            assert type(copied) is type(one) and str(copied) == str(one)
            assert (copied.status, copied.status_name, copied.text) == (one.status, one.status_name, one.text)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_s_worker_hands_its_error_to_the_parent(method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        with pytest.raises(mluops.BadParamError, match="masks"):
            pool.apply_async(refused_call).get(timeout=60)


def test_an_executor_s_worker_hands_its_error_to_the_parent():
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        with pytest.raises(mluops.BadParamError, match="masks"):
            executor.submit(refused_call).result(timeout=60)


# ---- numpy


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


@pytest.mark.parametrize("name, call", [
    ("kernel_size", lambda v: mluops.carafe(ones(1, 2, 2, 4), ones(1, 4, 4, 9), v, 1, 2)),
    ("group_size", lambda v: mluops.carafe(ones(1, 2, 2, 4), ones(1, 4, 4, 9), 3, v, 2)),
    ("scale_factor", lambda v: mluops.carafe(ones(1, 2, 2, 4), ones(1, 4, 4, 9), 3, 1, v)),
    ("mask_size", lambda v: mluops.psa_mask(ones(1, 2, 2, 9), 0, v)),
    ("output_size", lambda v: mluops.deform_roi_pool(ones(1, 2, 2, 4), ones(1, 5), None, v)),
    ("sampling_ratio", lambda v: mluops.deform_roi_pool(ones(1, 2, 2, 4), ones(1, 5), None, 2, 1.0, v)),
    ("pool_size", lambda v: mluops.border_align(ones(1, 2, 2, 4), ones(1, 4, 4), v)),
    ("points", lambda v: mluops.three_interpolate_backward(ones(1, 2, 4), np.zeros((1, 4, 3), np.int32),
                                                           ones(1, 4, 3), v)),
], ids=lambda v: v if isinstance(v, str) else "")
def test_numbers(name, call):
    for wrong in (5.0, "3", None):
        with pytest.raises(TypeError, match=f"{name}: wanted an integer, got {wrong!r}"):
            call(wrong)
    for large in (2**32 + 3, -2**31 - 1):
        with pytest.raises(mluops.BadParamError, match=f"{name}: wanted an integer of 32 bits, got {large}"):
            call(large)


def test_sizes_and_kinds():
    with pytest.raises(ValueError, match=r"mask_size: wanted one number or two, got \(3, 3, 3\)"):
        mluops.psa_mask(ones(1, 2, 2, 9), 0, (3, 3, 3))
    for kind in ("gather", 2, None, [0]):
        with pytest.raises(ValueError, match="psa_type: wanted"):
            mluops.psa_mask(ones(1, 2, 2, 9), kind, 3)


@pytest.mark.parametrize("dtype", ["float32", "bool", "uint8", "int16"])
def test_dtypes_of_indices(dtype):
    with pytest.raises(TypeError, match=f"indices: wanted dtype int32 or int64, got {dtype}"):
        mluops.three_interpolate(ones(1, 2, 4), np.zeros((1, 4, 3), dtype), ones(1, 4, 3))


def test_shapes_are_named_as_numpy_s_caller_wrote_them():
    with pytest.raises(mluops.BadParamError,
                       match=r"masks: wanted dimension 3 to be 9 \(group_size \* kernel_size \* kernel_size\), got 8 in "
                             r"\[1, 4, 4, 8\]"):
        mluops.carafe(ones(1, 2, 2, 4), ones(1, 4, 4, 8), 3, 1, 2)
    with pytest.raises(mluops.BadParamError, match=r"masks: wanted dtype float32 as features, got float16"):
        mluops.carafe(ones(1, 2, 2, 4), ones(1, 4, 4, 9, dtype=np.float16), 3, 1, 2)
    with pytest.raises(mluops.BadParamError, match="mluOpCarafeForward: features: .*DOUBLE"):
        mluops.carafe(ones(1, 2, 2, 4, dtype=np.float64), ones(1, 4, 4, 9, dtype=np.float64), 3, 1, 2)


def test_names_of_before_are_accepted():
    x, m = ones(1, 2, 2, 4), ones(1, 4, 4, 9)
    wanted = mluops.carafe(x, m, 3, 1, 2)
    named = dict(kernel_size=3, group_size=1, scale_factor=2)
    np.testing.assert_array_equal(mluops.carafe(input=x, mask=m, **named), wanted)
    np.testing.assert_array_equal(mluops.carafe(features=x, masks=m, **named), wanted)
    mluops.psa_mask(x=ones(1, 2, 2, 9), psa_type=0, mask_size=3)
    mluops.three_interpolate(ones(1, 2, 4), np.zeros((1, 4, 3), np.int32), weights=ones(1, 4, 3))
    with pytest.raises(TypeError, match="'features' twice: also as 'input'"):
        mluops.carafe(features=x, input=x, masks=m, **named)


def test_no_rois_give_no_results():
    none = np.zeros((0, 5), np.float32)
    assert mluops.deform_roi_pool(ones(1, 4, 4, 3), none, None, 2).shape == (0, 2, 2, 3)
    gx, go = mluops.deform_roi_pool_backward(ones(0, 2, 2, 3), ones(1, 4, 4, 3), none, ones(0, 2, 2, 2))
    assert gx.shape == (1, 4, 4, 3) and not gx.any() and go.shape == (0, 2, 2, 2)
    assert not mluops.border_align_backward(ones(1, 0, 4, 1), ones(1, 0, 4), np.zeros((1, 0, 4, 1), np.int32), 2, 3,
                                            3).any()


def test_empty_arrays_are_checked():
    with pytest.raises(mluops.BadParamError, match="masks"):
        mluops.carafe(ones(1, 2, 2, 4), ones(0, 2000, 2000, 9), 3, 1, 1000)
    with pytest.raises(mluops.BadParamError, match="kernel_size: wanted an odd number"):
        mluops.carafe(ones(0, 2, 2, 4), ones(0, 4, 4, 4), 2, 1, 2)


def test_contract():
    with pytest.raises(ValueError, match='contract: wanted "strict" or "extended", got .foo'):
        mluops.set_contract("foo")
