#!/usr/bin/env python3
"""One model in this process, one way: a step of training and a prediction.

Usage: one.py MODEL WAY FILE [--repeats N]
WAY: ours: mmcv's operators through mluops.mmcv.install(), in float and then in double; plain: in double, with stand-ins
written in torch. FILE gets losses, gradients, predictions, times and memory (torch.save).
"""

import argparse
import re
import statistics
import sys
import time
import warnings
from pathlib import Path

import torch

import absent

sys.path.insert(1, str(Path(__file__).parent.parent))  # compositions.py

LEARNING_RATE = 1e-4


def install():
    """mluops behind mmcv.ops; what of it gets called is noted in the set returned."""
    import mluops.mmcv
    from mluops.mmcv._table import operator_of
    called = set()

    def noting(name, function):
        def call(*arguments, **keywords):
            called.add(operator_of(name))
            return function(*arguments, **keywords)
        return call

    for name, function in mluops.mmcv.ENTRY_POINTS.items():
        mluops.mmcv.ENTRY_POINTS[name] = noting(name, function)
    for (module, function, method), ours in mluops.mmcv.METHODS.items():
        operator = NAMES_OF_METHODS.get(function)
        if operator:
            mluops.mmcv.METHODS[module, function, method] = noting(operator, ours)
    mluops.mmcv.install()
    return called


# Operators that mmcv's Python code is replaced for, as entry points: functions of the extension they stand for.
NAMES_OF_METHODS = {"CARAFEFunction": "carafe_forward", "DeformRoIPoolFunction": "deform_roi_pool_forward",
                    "FurthestPointSampling": "furthest_point_sampling_forward",
                    "multi_scale_deformable_attn_pytorch": "ms_deform_attn_forward",
                    "points_in_boxes_part": "points_in_boxes_part_forward",
                    "points_in_boxes_all": "points_in_boxes_all_forward", "PSAMaskFunction": "psamask_forward"}


def widened(value):
    """The model's inputs in double."""
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: widened(each) for key, each in value.items()}
    return [widened(each) for each in value] if isinstance(value, (list, tuple)) else value


def promoting(function):
    """A function of two tensors for one dtype, as torch's own promote: mmdet makes boxes and grids in float."""
    def call(a, b, *arguments, **keywords):
        dtype = torch.promote_types(a.dtype, b.dtype)
        return function(a.to(dtype), b.to(dtype), *arguments, **keywords)
    return call


def promoting_einsum(function):
    plain = promoting(lambda a, b, equation: function(equation, a, b))
    return lambda equation, *tensors: plain(*tensors, equation) if len(tensors) == 2 else function(equation, *tensors)


def least_rectangles_in_float():
    """OpenCV's, which mmrotate turns corners to boxes with, takes no double."""
    import cv2
    function = cv2.minAreaRect
    cv2.minAreaRect = lambda points: function(points.astype("float32"))


def without_check_of_dtypes():
    """mmcv's Python refuses sparse convolutions in double before it calls the extension."""
    import mmcv.ops.sparse_ops as sparse
    extension = sparse.ext_module

    def forward(features, filters, pairs, numbers, rows, inverse=False, subm=False):
        return extension.indice_conv_forward(features, filters, pairs, numbers, rows, int(inverse), int(subm))

    def backward(features, filters, gradient, pairs, numbers, inverse=False, subm=False):
        return extension.indice_conv_backward(features, filters, gradient, pairs, numbers, int(inverse), int(subm))

    sparse.indice_conv, sparse.indice_conv_backward = forward, backward


class Run:
    def __init__(self, model, wide):
        self.model, self.wide = model, wide
        torch.manual_seed(0)
        self.network = model.build()
        for module in self.network.modules():
            if isinstance(module, (torch.nn.Dropout, torch.nn.Dropout2d)):
                module.p = 0.0  # float and double would drop other values
            if isinstance(module, torch.nn.MultiheadAttention):
                module.dropout = 0.0
        if wide:
            self.network.double()
            torch.cdist = promoting(torch.cdist)
            torch.nn.functional.grid_sample = promoting(torch.nn.functional.grid_sample)
            torch.einsum = promoting_einsum(torch.einsum)
            least_rectangles_in_float()
        self.optimizer = torch.optim.SGD(self.network.parameters(), LEARNING_RATE)

    def data(self, training):
        torch.manual_seed(1)
        data = self.network.data_preprocessor(self.model.inputs(training), training)
        if self.wide:
            data["inputs"] = widened(data["inputs"])
        if self.wide and self.model.wide_boxes:
            for sample in data["data_samples"]:
                sample.gt_instances.bboxes = sample.gt_instances.bboxes.double()
        return data

    def step(self):
        data = self.data(True)
        begin = time.process_time()
        total, parts = self.network.parse_losses(self.network(**data, mode="loss"))
        self.optimizer.zero_grad()
        total.backward()
        self.optimizer.step()
        return {name: float(part) for name, part in parts.items()}, time.process_time() - begin

    def gradients(self):
        return {name: p.grad.clone() for name, p in self.network.named_parameters() if p.grad is not None}

    def predict(self):
        data = self.data(False)
        begin = time.process_time()
        with torch.no_grad():
            samples = self.network(**data, mode="predict")
        return [tensors(sample) for sample in samples], time.process_time() - begin


def tensors(sample):
    """What a prediction says, but for masks, which are thresholded."""
    found = {}
    for part in ("pred_instances", "pred_instances_3d", "pred_sem_seg", "seg_logits", "pts_seg_logits"):
        if part in sample:
            for name, value in sample.get(part).items():
                value = getattr(value, "tensor", value)
                if isinstance(value, torch.Tensor) and name != "masks":
                    found[f"{part}.{name}"] = value.clone()
    return found


def peak_mib():
    """Of this program: getrusage's peak would count that of the process it was started from, too."""
    return int(re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[1]) >> 10


def follow(run, repeats=1):
    """A step, whose losses and gradients count, some more for their time, and as many predictions."""
    run.network.train()
    losses, _ = run.step()
    gradients = run.gradients()
    steps = [run.step() for _ in range(repeats)]
    run.network.eval()
    predictions = [run.predict() for _ in range(repeats)]
    return dict(losses=losses, gradients=gradients, second=steps[0][0]["loss"], prediction=predictions[0][0],
                step_seconds=statistics.median(seconds for _, seconds in steps),
                predict_seconds=statistics.median(seconds for _, seconds in predictions),
                mib=peak_mib())


def ours(model, repeats):
    called = install()
    narrow = follow(Run(model, False), repeats)
    without_check_of_dtypes()
    return {**narrow, "operators": sorted(called), "double": follow(Run(model, True))}


def plain(model):
    import mmcv  # noqa: F401
    import standins
    standins.without_extension()
    run = Run(model, True)
    standins.replace()
    found = follow(run)
    assert "mluops" not in sys.modules
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("way", choices=["ours", "plain"])
    parser.add_argument("file")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    absent.stand_in()
    from builders import BY_NAME
    model = BY_NAME[options.model]
    torch.save(ours(model, options.repeats) if options.way == "ours" else plain(model), options.file)


if __name__ == "__main__":
    main()
