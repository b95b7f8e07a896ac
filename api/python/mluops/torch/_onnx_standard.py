"""Tables for torch.onnx.export: operators that onnx.py gives to custom nodes, written in standard ones."""

from typing import Any, Callable, Dict

import torch


def _nms(op: Any, boxes: Any, scores: Any, iou_threshold: float, offset: int, score_threshold: float, max_num: int) -> Any:
    from onnx import TensorProto
    number = op.Shape(scores)
    narrow = op.Cast(boxes, to=TensorProto.FLOAT)
    if offset:  # adds to widths and to common parts alike
        narrow = op.Add(narrow, op.Constant(value_floats=[0.0, 0.0, float(offset), float(offset)]))
    ranked = op.Unsqueeze(op.Cast(scores, to=TensorProto.FLOAT), op.Constant(value_ints=[0, 1]))
    limits = [op.Constant(value_ints=[max_num]) if max_num > 0 else number, op.Constant(value_floats=[iou_threshold])]
    if score_threshold > 0:
        limits.append(op.Constant(value_floats=[score_threshold]))
    rows = op.NonMaxSuppression(op.Unsqueeze(narrow, op.Constant(value_ints=[0])), ranked, *limits)
    kept = op.Gather(rows, op.Constant(value_int=2), axis=1)
    count = op.Shape(kept)
    behind = op.Concat(op.Constant(value_ints=[0]), op.Sub(number, count), axis=0)
    return op.Pad(kept, behind), op.Cast(count, to=TensorProto.INT32)


class _Attention:
    """Writes multi_scale_deformable_attn: value [B, S, M, D], shapes [L, 2], starts [L], locations [B, Q, M, L, P, 2],
    weights [B, Q, M, L, P] -> [B, Q, M, D]. Each of a sample's four pixels is a row of value [B * S * M, D]."""

    def __init__(self, op: Any, value: Any, shapes: Any, starts: Any, locations: Any, weights: Any) -> None:
        from onnx import TensorProto
        self.op, self.value = op, value
        self.wide, self.whole = TensorProto.FLOAT, TensorProto.INT64
        if value.dtype == TensorProto.DOUBLE:
            self.wide = TensorProto.DOUBLE
        self.starts = self.column(op.Cast(starts, to=self.whole))
        self.height, self.width = (self.column(op.Gather(op.Cast(shapes, to=self.wide), self.ints(i), axis=1)) for i in (0, 1))
        self.weights = op.Cast(weights, to=self.wide)
        locations = op.Cast(locations, to=self.wide)
        self.left, self.right = self.pixels(locations, 0, self.width)
        self.top, self.bottom = self.pixels(locations, 1, self.height)

    def ints(self, *numbers: int) -> Any:
        return self.op.Constant(value_ints=list(numbers))

    def column(self, numbers: Any) -> Any:
        """[L] as [L, 1], beside the points."""
        return self.op.Reshape(numbers, self.ints(-1, 1))

    def number(self, value: float) -> Any:
        return self.op.Cast(self.op.Constant(value_float=value), to=self.wide)

    def pixels(self, locations: Any, axis: int, size: Any) -> Any:
        """Both pixels next to the samples along an axis, each with its weight."""
        op = self.op
        at = op.Sub(op.Mul(op.Gather(locations, op.Constant(value_int=axis), axis=5), size), self.number(0.5))
        low = op.Floor(at)
        part = op.Sub(at, low)
        return (low, op.Sub(self.number(1.0), part)), (op.Add(low, self.number(1.0)), part)

    def inside(self, pixel: Any, size: Any) -> Any:
        return self.op.And(self.op.GreaterOrEqual(pixel, self.number(0.0)), self.op.Less(pixel, size))

    def numbers_along(self, axis: int, *shape: int) -> Any:
        """0, 1, ... of a dimension of value."""
        op = self.op
        count = op.Squeeze(op.Shape(self.value, start=axis, end=axis + 1))
        return op.Reshape(op.Range(op.Constant(value_int=0), count, op.Constant(value_int=1)), self.ints(*shape))

    def corner(self, row: Any, column: Any) -> Any:
        """What the pixels of one corner add, [B, Q, M, 1, D]."""
        op = self.op
        inside = op.And(self.inside(row[0], self.height), self.inside(column[0], self.width))
        place = op.Where(inside, op.Add(op.Mul(row[0], self.width), column[0]), self.number(0.0))
        place = op.Add(op.Cast(place, to=self.whole), self.starts)
        pixels, heads = (op.Shape(self.value, start=axis, end=axis + 1) for axis in (1, 2))
        place = op.Add(place, op.Mul(self.numbers_along(0, -1, 1, 1, 1, 1), pixels))
        place = op.Add(op.Mul(place, heads), self.numbers_along(2, 1, 1, -1, 1, 1))
        weight = op.Mul(self.weights, op.Mul(row[1], column[1]))
        weight = op.Where(inside, weight, self.number(0.0))
        rows = op.Reshape(op.Cast(self.value, to=self.wide), op.Concat(self.ints(-1), op.Shape(self.value, start=3), axis=0))
        samples = op.Reshape(weight, op.Concat(op.Shape(weight, end=3), self.ints(1, -1), axis=0))
        picked = op.Gather(rows, op.Reshape(place, op.Concat(op.Shape(place, end=3), self.ints(-1), axis=0)), axis=0)
        return op.MatMul(samples, picked)

    def output(self) -> Any:
        op = self.op
        corners = [self.corner(row, column) for row in (self.top, self.bottom) for column in (self.left, self.right)]
        return op.CastLike(op.Squeeze(op.Sum(*corners), self.ints(3)), self.value)


def _deform_conv2d(op: Any, input: Any, offset: Any, mask: Any, weight: Any, bias: Any, *numbers: int) -> Any:
    stride, padding, dilation = ([int(n) for n in numbers[i:i + 2]] for i in (0, 2, 4))
    if bias is None:
        bias = op.CastLike(op.Expand(op.Constant(value_floats=[0.0]), op.Shape(weight, end=1)), weight)
    given = (input, weight, offset, bias) + (() if mask is None else (mask,))
    return op.DeformConv(*given, strides=stride, pads=padding * 2, dilations=dilation, group=numbers[6],
                         offset_group=numbers[7])


def standard_nms() -> Dict[Callable, Callable]:
    """nms, also of labels, as ONNX's NonMaxSuppression, which every runtime has:

        torch.onnx.export(model, inputs, dynamo=True, custom_translation_table=mluops.torch.onnx.standard_nms())

    It computes in float32, also where boxes of labels are moved apart, and takes a box whose corners are exchanged for
    one that is not: an IoU that is next to the threshold may fall on its other side.
    """
    from onnxscript import opset18 as op

    def nms(*given: Any) -> Any:
        return _nms(op, *given)

    return {torch.ops.mluops.nms.default: nms}


def standard() -> Dict[Callable, Callable]:
    """A table as that of standard_nms(), also with multi_scale_deformable_attn (four Gather and MatMul) and the
    deformable convolutions (DeformConv, which needs opset_version=19 or later).
    """
    from onnxscript import opset18, opset19

    def attention(*given: Any) -> Any:
        return _Attention(opset18, *given).output()

    def convolution(*given: Any) -> Any:
        return _deform_conv2d(opset19, *given)

    return {**standard_nms(), torch.ops.mluops.multi_scale_deformable_attn.default: attention,
            torch.ops.mluops.deform_conv2d.default: convolution}
