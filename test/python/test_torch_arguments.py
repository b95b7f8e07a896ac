"""As test_arguments.py, for the functions of mluops.torch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from cases import CASES  # noqa: E402
from mluops.torch import _operator  # noqa: E402

needs_library = pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")


class Refused(torch.utils.data.Dataset):

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return mt.carafe(torch.ones(1, 4, 2, 2), torch.ones(1, 8, 4, 4), 3, 1, 2)


def test_a_data_loader_s_worker_hands_its_error_to_the_parent():
    loader = torch.utils.data.DataLoader(Refused(), num_workers=1, timeout=60)
    with pytest.raises(mluops.BadParamError, match="masks: wanted dimension 1 to be 9"):
        list(loader)


CARAFE = (torch.ones(1, 4, 2, 2), torch.ones(1, 9, 4, 4))


@pytest.mark.parametrize("name, call", [
    ("kernel_size", lambda v: mt.carafe(*CARAFE, v, 1, 2)),
    ("group_size", lambda v: mt.carafe(*CARAFE, 3, v, 2)),
    ("scale_factor", lambda v: mt.carafe(*CARAFE, 3, 1, v)),
    ("mask_size", lambda v: mt.psa_mask(torch.ones(1, 9, 2, 2), 0, v)),
    ("output_size", lambda v: mt.deform_roi_pool(torch.ones(1, 4, 2, 2), torch.zeros(1, 5), None, v)),
    ("sampling_ratio", lambda v: mt.deform_roi_pool(torch.ones(1, 4, 2, 2), torch.zeros(1, 5), None, 2, 1.0, v)),
    ("pool_size", lambda v: mt.border_align(torch.ones(1, 4, 2, 2), torch.ones(1, 4, 4), v)),
], ids=lambda v: v if isinstance(v, str) else "")
def test_numbers(name, call):
    call(2 if name.endswith(("output_size", "pool_size", "sampling_ratio", "scale_factor")) else
         3 if name != "group_size" else 1)  # a number that fits does not make 3.0 fit
    for wrong in (3.0, "3", None):
        with pytest.raises(TypeError, match=f"{name}: wanted an integer, got {wrong!r}"):
            call(wrong)
    for large in (2**32 + 3, -2**31 - 1):
        with pytest.raises(mluops.BadParamError, match=f"{name}: wanted an integer of 32 bits, got {large}"):
            call(large)


@needs_library
def test_numbers_of_the_operators_themselves():
    x = torch.ones(1, 1, 2, 2)
    with pytest.raises(mluops.BadParamError, match="h_mask"):
        torch.ops.mluops.psa_mask(x, 0, 2**32 + 1, 1)
    with pytest.raises(mluops.BadParamError, match="sampling_ratio: wanted an integer of 32 bits"):
        torch.ops.mluops.deform_roi_pool(x, torch.zeros(1, 5), None, 1, 1, 1.0, 2**32 + 1, 0.1)


def test_arrays_and_lists():
    for wrong in (np.ones((1, 4, 2, 2), np.float32), [[1.0]], None):
        with pytest.raises(TypeError, match="features: wanted a torch.Tensor, got"):
            mt.carafe(wrong, CARAFE[1], 3, 1, 2)
        with pytest.raises(TypeError, match="indices: wanted a torch.Tensor, got"):
            mt.three_interpolate(torch.ones(1, 2, 4), wrong, torch.ones(1, 4, 3))
    with pytest.raises(TypeError, match="offset: wanted a torch.Tensor, got list"):
        mt.deform_roi_pool(torch.ones(1, 4, 2, 2), torch.zeros(1, 5), [], 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.uint8, torch.int16], ids=str)
def test_dtypes_of_indices(dtype):
    with pytest.raises(TypeError, match=f"indices: wanted int32 or int64, got {dtype}"):
        mt.three_interpolate(torch.ones(1, 2, 4), torch.zeros(1, 4, 3).to(dtype), torch.ones(1, 4, 3))


def test_dtypes_of_values():
    with pytest.raises(TypeError, match="masks: wanted float16, bfloat16, float32 or float64, got torch.int64"):
        mt.carafe(CARAFE[0], CARAFE[1].long(), 3, 1, 2)


def test_shapes_are_named_as_torch_s_caller_wrote_them():
    text = (r"masks: wanted dimension 1 to be 9 \(group_size \* kernel_size \* kernel_size\), got 8 in \(1, 8, 4, 4\)")
    for layout in (torch.contiguous_format, torch.channels_last):
        with pytest.raises(mluops.BadParamError, match=text):
            mt.carafe(CARAFE[0].contiguous(memory_format=layout), torch.ones(1, 8, 4, 4), 3, 1, 2)
    with pytest.raises(mluops.BadParamError, match=r"offset: wanted dimension 2 to be 2 \(pooled_height\), got 3"):
        mt.deform_roi_pool(torch.ones(1, 4, 2, 2), torch.zeros(1, 5), torch.zeros(1, 2, 3, 2), 2)
    with pytest.raises(mluops.BadParamError, match="weight: wanted dimension 1 to be 4"):
        mt.three_interpolate(torch.ones(1, 2, 4), torch.zeros(1, 4, 3, dtype=torch.int32), torch.ones(1, 5, 3))


def wrong_shapes(device="cpu", batch=1):
    """(call, what the error names): each breaks one rule."""

    def ones(*shape):
        return torch.ones(shape, device=device)

    def zeros_int(*shape):
        return torch.zeros(shape, dtype=torch.int32, device=device)

    image = ones(batch, 8, 2, 2)
    return [
        (lambda: mt.carafe(image, ones(batch + 1, 9, 4, 4), 3, 1, 2), "masks"),
        (lambda: mt.carafe(image, ones(batch, 9, 4, 5), 3, 1, 2), "masks"),
        (lambda: mt.carafe(image, ones(batch, 4, 4, 4), 2, 1, 2), "kernel_size"),
        (lambda: mt.carafe(image, ones(batch, 27, 4, 4), 3, 3, 2), "features"),
        (lambda: mt.carafe(ones(8, 2, 2), ones(batch, 9, 4, 4), 3, 1, 2), "features"),
        (lambda: mt.psa_mask(image, 0, 3), "input"),
        (lambda: mt.deform_roi_pool(image, ones(batch, 4), None, 2), "rois"),
        (lambda: mt.deform_roi_pool(image, ones(batch, 5), ones(batch, 2, 2, 3), 2), "offset"),
        (lambda: mt.deform_roi_pool(image, ones(batch, 5), None, 0), "pooled_height"),
        (lambda: mt.three_interpolate(ones(batch, 2, 4), zeros_int(batch, 4, 2), ones(batch, 4, 2)), "indices"),
        (lambda: mt.three_interpolate(ones(batch, 2, 4), zeros_int(batch, 4, 3), ones(batch, 4, 4)), "weight"),
        (lambda: mt.border_align(ones(batch, 6, 2, 2), ones(batch, 3, 4), 2), "input"),
        (lambda: mt.border_align(image, ones(batch, 3, 5), 2), "boxes"),
        (lambda: mt.border_align(image, ones(batch, 3, 4), 0), "pool_size"),
    ]


@pytest.mark.parametrize("batch", [1, 0], ids=["real", "empty"])
def test_one_rule_for_real_and_empty_tensors(batch):
    for call, name in wrong_shapes(batch=batch):
        with pytest.raises(mluops.BadParamError, match=f"^{name}: "):
            call()


@needs_library
def test_one_rule_for_meta_tensors():
    for call, name in wrong_shapes("meta"):
        with pytest.raises(mluops.BadParamError, match=f"^{name}: "):
            call()


@needs_library
def test_one_rule_for_fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        for call, name in wrong_shapes():
            with pytest.raises(mluops.BadParamError, match=f"^{name}: "):
                call()


@needs_library
def test_gradients_are_checked_too():
    features, masks = CARAFE
    for device in ("cpu", "meta"):
        with pytest.raises(mluops.BadParamError, match="grad_output"):
            torch.ops.mluops.carafe_backward(torch.ones(1, 4, 4, 5, device=device), features.to(device),
                                             masks.to(device), 3, 1, 2)


def test_a_large_scale_with_empty_masks_is_refused_before_it_is_filled():
    with pytest.raises(mluops.BadParamError, match="masks"):
        mt.carafe(torch.ones(1, 64, 7, 7), torch.ones(0, 9, 7000, 7000), 3, 1, 1000)


@needs_library
def test_devices_do_not_mix():
    features, masks = CARAFE
    for given in ((features, masks.to("meta")), (features.to("meta"), masks)):
        with pytest.raises(mluops.BadParamError, match="carafe: wanted all tensors on one device, got"):
            mt.carafe(*given, 3, 1, 2)


def test_names_of_before_and_of_numpy_are_accepted():
    features, masks = CARAFE
    wanted, named = mt.carafe(features, masks, 3, 1, 2), dict(kernel_size=3, group_size=1, scale_factor=2)
    assert torch.equal(mt.carafe(features=features, masks=masks, **named), wanted)
    assert torch.equal(mt.carafe(input=features, mask=masks, **named), wanted)
    case = next(c for c in CASES if c.name == "three_interpolate")
    f, i, w = case.inputs(torch.float32)
    assert torch.equal(mt.three_interpolate(f, i, weights=w), mt.three_interpolate(f, indices=i, weight=w))
