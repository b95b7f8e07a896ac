"""numba.cuda where numba finds no CUDA: the kernels of KITTI's evaluation and of second.pytorch, by their names. Kernels import,
and those that mluops has no operator for raise when they are launched."""

import functools
import warnings

import numpy as np
import torch

from .. import _stacked
from ...torch._buffers import fill
from ...torch.op.bbox_overlaps import bbox_overlaps
from ...torch.op.rotated import box_iou_rotated

__all__ = ["nms_kernel", "rotate_iou_kernel", "rotate_iou_kernel_eval", "rotate_nms_kernel"]

PACKAGE = "numba"


def _boxes(array, count, numbers):
    return torch.from_numpy(np.asarray(array, np.float32)).reshape(-1, numbers)[:count]


# ---- kernels; boxes are x, y, w, h, angle in radians, counterclockwise where y points down


def _rotated(boxes, others, mode="iou"):
    return box_iou_rotated(boxes[:, :5].contiguous(), others[:, :5].contiguous(), mode, clockwise=False)


def rotate_iou_kernel(n, k, dev_boxes, dev_query_boxes, dev_iou):
    rotate_iou_kernel_eval(n, k, dev_boxes, dev_query_boxes, dev_iou)


def rotate_iou_kernel_eval(n, k, dev_boxes, dev_query_boxes, dev_iou, criterion=-1):
    """A criterion of -1 gives IoUs, 0 shared areas divided by those of the queries, 1 divided by those of the boxes, and
    any other one the shared areas."""
    boxes, queries = _boxes(dev_boxes, n, 5), _boxes(dev_query_boxes, k, 5)
    if criterion == 0:
        found = _rotated(queries, boxes, "iof").t()
    else:
        found = _rotated(boxes, queries, "iou" if criterion == -1 else "iof")
    if criterion not in (-1, 0, 1):
        found = found * boxes[:, 2:4].prod(1, keepdim=True)
    fill("dev_iou", torch.from_numpy(dev_iou), found)


def _suppressed(overlaps, boxes, threshold, dev_mask):
    """For each box, bits of those that it suppresses; in its own word of 64 only later ones."""
    count, words = len(boxes), -(-len(boxes) // 64)
    numbers, found = torch.arange(count), [np.zeros((0, words * 8), np.uint8)]
    for rows in _stacked.blocks(count, count):
        own = numbers[rows, None]
        over = (overlaps(boxes[rows], boxes) > threshold) & ((numbers // 64 != own // 64) | (numbers > own))
        packed = np.packbits(over.numpy(), axis=1, bitorder="little")
        found.append(np.pad(packed, ((0, 0), (0, words * 8 - packed.shape[1]))))
    fill("dev_mask", torch.from_numpy(dev_mask.view(np.int64)), torch.from_numpy(np.concatenate(found).view("<i8")))


def nms_kernel(n_boxes, nms_overlap_thresh, dev_boxes, dev_mask):
    """Boxes x1, y1, x2, y2, score; the last pixel counts."""
    boxes = _boxes(dev_boxes, n_boxes, 5)[:, :4].contiguous()
    _suppressed(lambda some, all_: bbox_overlaps(some, all_, offset=1), boxes, nms_overlap_thresh, dev_mask)


def rotate_nms_kernel(n_boxes, nms_overlap_thresh, dev_boxes, dev_mask):
    _suppressed(_rotated, _boxes(dev_boxes, n_boxes, 6), nms_overlap_thresh, dev_mask)


_KERNELS = {each.__name__: each for each in (nms_kernel, rotate_iou_kernel, rotate_iou_kernel_eval, rotate_nms_kernel)}
_KERNELS["nms_kernel_v2"] = nms_kernel


class _Kernel:
    """A function of the program that numba would compile: kernel[blocks, threads, stream](...)."""

    def __init__(self, function):
        functools.update_wrapper(self, function)

    def __getitem__(self, configuration):
        return self

    def __call__(self, *args):
        if self.__name__ not in _KERNELS:
            raise NotImplementedError(f"{self.__name__}: numba finds no CUDA, and mluops has no operator for this kernel; it "
                                      f"has {', '.join(sorted(_KERNELS))}")
        return _KERNELS[self.__name__](*args)


# ---- arrays and streams


class _DeviceArray(np.ndarray):
    def copy_to_host(self, ary=None, stream=None):
        if ary is None:
            return np.array(self)
        np.copyto(ary, self.reshape(ary.shape))
        return ary


class _Stream:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def auto_synchronize(self):
        return self

    def synchronize(self):
        return None


def _to_device(obj, stream=None, copy=True, to=None):
    return np.array(obj).view(_DeviceArray)


def _device_array(shape, dtype=np.float64, *args, **kwargs):
    return np.zeros(shape, dtype).view(_DeviceArray)


def _compiled(func_or_sig=None, *args, **kwargs):
    """numba.cuda.jit, with and without arguments."""
    def decorate(function):
        if function.__name__ in _KERNELS:
            warnings.warn(f"mluops.dropin: numba finds no CUDA; mluops stands for {function.__name__}", stacklevel=4)
        return _Kernel(function)

    return decorate(func_or_sig) if callable(func_or_sig) else decorate


def _without_cuda(ours):
    """Makes a function of numba.cuda from the original, which is called where CUDA is available."""
    def wrap(original):
        @functools.wraps(original)
        def call(*args, **kwargs):
            from numba import cuda
            return (original if cuda.is_available() else ours)(*args, **kwargs)

        return call

    return wrap


WRAPS = {("numba.cuda", name): _without_cuda(ours) for name, ours in {
    "jit": _compiled, "to_device": _to_device, "device_array": _device_array, "stream": _Stream,
    "select_device": lambda *args: None, "synchronize": lambda: None}.items()}
