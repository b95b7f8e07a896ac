"""Inputs of every operator, shared by the torch and mmcv tests: small, generic, away from kinks where noted."""

import torch

import compositions
import mluops.torch as mt


class Case:
    """One call: `function` and `reference` take the tensors and then the arguments; `leaves` may get gradients."""

    def __init__(self, name, function, reference, tensors, arguments, leaves):
        self.name, self.function, self.reference = name, function, reference
        self.tensors, self.arguments, self.leaves = tensors, arguments, leaves

    def inputs(self, dtype, requires_grad=False, channels_last=False):
        """Fresh tensors; floating ones converted to dtype."""
        made = []
        for i, tensor in enumerate(self.tensors):
            if tensor is not None and tensor.is_floating_point():
                tensor = tensor.to(dtype).clone()
                if channels_last and tensor.dim() == 4:
                    tensor = tensor.contiguous(memory_format=torch.channels_last)
                tensor.requires_grad_(requires_grad and i in self.leaves)
            made.append(tensor)
        return made

    def run(self, tensors):
        return self.function(*tensors, *self.arguments)

    def expected(self, tensors):
        """The reference on the same values in double."""
        wide = [t.detach().double() if t is not None and t.is_floating_point() else t for t in tensors]
        for i in self.leaves:
            if wide[i] is not None:
                wide[i].requires_grad_(tensors[i].requires_grad)
        return self.reference(*wide, *self.arguments), wide

    def __repr__(self):
        return self.name


def _random(*shape, low=-1.0, high=1.0):
    return torch.rand(shape, dtype=torch.float64) * (high - low) + low


def interior_rois(count, batch, height, width, margin=2.5):
    """RoIs whose samples, shifted by small offsets, stay off the border bands."""
    roi = torch.empty(count, 5, dtype=torch.float64)
    roi[:, 0] = torch.arange(count) % batch
    roi[:, 1] = _random(count, low=margin, high=width * 0.45)
    roi[:, 2] = _random(count, low=margin, high=height * 0.45)
    roi[:, 3] = _random(count, low=width * 0.6, high=width - margin)
    roi[:, 4] = _random(count, low=height * 0.6, high=height - margin)
    return roi


def movable_rois(count, batch, height, width):
    """interior_rois whose batch indices, cut to whole numbers, stay what they are when a number is moved a little."""
    return interior_rois(count, batch, height, width) + torch.tensor([0.5, 0, 0, 0, 0])


def turned_rois(count, batch, height, width):
    roi = torch.empty(count, 6, dtype=torch.float64)
    roi[:, 0] = torch.arange(count) % batch
    roi[:, 1], roi[:, 2] = _random(count, low=6, high=width - 6), _random(count, low=6, high=height - 6)
    roi[:, 3:5], roi[:, 5] = _random(count, 2, low=2, high=6), _random(count, low=-3, high=3)
    return roi


def _between_pixels(*shape):
    """Offsets that lead from pixels to places well between pixels."""
    return torch.randint(-2, 2, shape).double() + _random(*shape, low=0.2, high=0.8)


def _sigmoid_focal_loss(input, target, weight, gamma, alpha):
    return mt.sigmoid_focal_loss(input, target, gamma, alpha, weight, "none")


def _softmax_focal_loss(input, target, weight, gamma, alpha):
    return mt.softmax_focal_loss(input, target, gamma, alpha, weight, "sum")


def make_cases():
    torch.manual_seed(7)
    cases = [
        Case("carafe", mt.carafe, compositions.carafe,
             [_random(2, 6, 4, 5), _random(2, 2 * 9, 8, 10)], (3, 2, 2), (0, 1)),
        Case("carafe k5 s3", mt.carafe, compositions.carafe,
             [_random(1, 4, 3, 2), _random(1, 25, 9, 6)], (5, 1, 3), (0, 1)),
        Case("psa_mask collect", mt.psa_mask, compositions.psa_mask, [_random(2, 12, 4, 3)], ("collect", (4, 3)),
             (0,)),
        Case("psa_mask distribute", mt.psa_mask, compositions.psa_mask, [_random(2, 15, 3, 4)],
             ("distribute", (3, 5)), (0,)),
        Case("deform_roi_pool", mt.deform_roi_pool, compositions.deform_roi_pool,
             [_random(2, 3, 14, 16), interior_rois(4, 2, 14, 16), None], ((2, 3), 1.0, 2, 0.125), (0,)),
        Case("deform_roi_pool offset", mt.deform_roi_pool, compositions.deform_roi_pool,
             [_random(2, 3, 14, 16), interior_rois(4, 2, 14, 16), _random(4, 2, 2, 3)], ((2, 3), 1.0, 2, 0.125),
             (0, 2)),
        Case("deform_roi_pool adaptive", mt.deform_roi_pool, compositions.deform_roi_pool,
             [_random(1, 2, 12, 12), interior_rois(2, 1, 12, 12), _random(2, 2, 2, 2)], ((2, 2), 0.75, 0, 0.0625),
             (0, 2)),
        Case("three_interpolate", mt.three_interpolate, compositions.three_interpolate,
             [_random(2, 5, 7), torch.randint(-1, 8, (2, 6, 3), dtype=torch.int32), _random(2, 6, 3)], (), (0, 2)),
        Case("gather_points", mt.gather_points, compositions.gather_points,
             [_random(2, 5, 7), torch.randint(-1, 8, (2, 9), dtype=torch.int32)], (), (0,)),
        Case("group_points", mt.grouping_operation, compositions.gather_points,
             [_random(2, 5, 7), torch.randint(-1, 8, (2, 3, 4), dtype=torch.int32)], (), (0,)),
        Case("roi_align", mt.roi_align, compositions.roi_align,
             [_random(2, 3, 14, 16), interior_rois(4, 2, 14, 16)], ((2, 3), 1.0, 2), (0,)),
        Case("roi_align adaptive", mt.roi_align, compositions.roi_align,
             [_random(2, 3, 14, 16), interior_rois(4, 2, 14, 16)], (2, 0.75, 0, "avg", False), (0,)),
        Case("roi_align_rotated", mt.roi_align_rotated, compositions.roi_align_rotated,
             [_random(2, 3, 14, 16), turned_rois(4, 2, 14, 16)], ((2, 3), 0.75, 2), (0,)),
        Case("roi_align_rotated adaptive", mt.roi_align_rotated, compositions.roi_align_rotated,
             [_random(2, 3, 14, 16), turned_rois(4, 2, 14, 16)], (2, 1.0, 0, False, True), (0,)),
        Case("border_align", mt.border_align, compositions.border_align,
             [_random(2, 8, 6, 7), _random(2, 5, 4, low=-1.5, high=7.5)], (3,), (0,)),
        Case("sigmoid_focal_loss", _sigmoid_focal_loss, compositions.sigmoid_focal_loss,
             [_random(9, 5, low=-4, high=4), torch.randint(-1, 6, (9,), dtype=torch.int32), None], (2.0, 0.25), (0,)),
        Case("sigmoid_focal_loss weight", _sigmoid_focal_loss, compositions.sigmoid_focal_loss,
             [_random(9, 5, low=-4, high=4), torch.randint(0, 5, (9,), dtype=torch.int32), _random(5, low=0.5)],
             (1.5, 0.75), (0,)),
        Case("softmax_focal_loss", _softmax_focal_loss, compositions.softmax_focal_loss,
             [_random(9, 5, low=-3, high=3), torch.randint(-1, 5, (9,), dtype=torch.int32), None], (2.0, 0.25), (0,)),
        Case("softmax_focal_loss weight", _softmax_focal_loss, compositions.softmax_focal_loss,
             [_random(9, 5, low=-3, high=3), torch.randint(-1, 5, (9,), dtype=torch.int32), _random(5, low=0.5)],
             (1.5, 0.75), (0,)),
        Case("roi_pool", mt.roi_pool, compositions.roi_pool,
             [_random(2, 3, 14, 16), interior_rois(4, 2, 14, 16)], ((2, 3), 1.0), (0,)),
        Case("roi_pool scaled", mt.roi_pool, compositions.roi_pool,
             [_random(2, 3, 14, 16), interior_rois(4, 2, 28, 32)], ((3, 2), 0.5), (0,)),
        Case("prroi_pool", mt.prroi_pool, compositions.prroi_pool,
             [_random(2, 3, 14, 16), movable_rois(4, 2, 14, 16)], ((2, 3), 1.0), (0, 1)),
        Case("prroi_pool beyond the map", mt.prroi_pool, compositions.prroi_pool,
             [_random(2, 3, 6, 7), movable_rois(4, 2, 28, 32)], ((3, 2), 0.5), (0, 1)),
        Case("multi_scale_deformable_attn", mt.multi_scale_deformable_attn, compositions.multi_scale_deformable_attn,
             [_random(2, 20 + 6, 3, 4), torch.tensor([[4, 5], [2, 3]], dtype=torch.int32),
              torch.tensor([0, 20], dtype=torch.int32), _random(2, 7, 3, 2, 2, 2, low=-0.2, high=1.2),
              _random(2, 7, 3, 2, 2, low=0)], (), (0, 3, 4)),
        Case("deform_conv2d", mt.deform_conv2d, compositions.deform_conv2d,
             [_random(2, 4, 7, 6), _between_pixels(2, 2 * 12, 4, 3), _random(6, 2, 2, 3)], (2, 1, 1, 2, 2), (0, 1, 2)),
        Case("modulated_deform_conv2d", mt.modulated_deform_conv2d, compositions.modulated_deform_conv2d,
             [_random(2, 3, 5, 6), _between_pixels(2, 18, 5, 6), _random(2, 9, 5, 6, low=0), _random(4, 3, 3, 3),
              _random(4)], (1, 2, 2), (0, 1, 2, 3, 4)),
    ]
    return cases


CASES = make_cases()

# What mlu_emu has of them; it declines the others.
EMULATED = {"carafe", "psa_mask", "deform_roi_pool", "three_interpolate", "border_align", "roi_align_rotated",
            "sigmoid_focal_loss", "multi_scale_deformable_attn"}
EMULATED_IN_FLOAT = {"psa_mask", "multi_scale_deformable_attn"}  # of these in no other dtype, as on the device

# What one rounding of the result, a sum of some tens of terms, and the dtype's coordinates can cost.
TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-5, torch.float16: 1e-2, torch.bfloat16: 8e-2}
