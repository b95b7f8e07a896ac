#!/usr/bin/env python3
"""Serves a model with a deformable convolution by onnxruntime: exports it to ONNX, runs it and compares.

Usage: onnxruntime_deform_conv.py (needs onnx, onnxscript, onnxruntime 1.16 and torch 2.8 or newer)
"""

import tempfile
from pathlib import Path

import onnxruntime
import torch

import mluops.onnxruntime
import mluops.torch as mt
import mluops.torch.onnx  # noqa: F401  teaches torch's exporter the operators


def main() -> None:
    torch.manual_seed(0)
    model = mt.ModulatedDeformConv2dPack(8, 8, kernel_size=3, padding=1).eval()
    image = torch.randn(1, 8, 16, 16)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.onnx")
        torch.onnx.export(model, (image,), path, dynamo=True)
        options = onnxruntime.SessionOptions()
        options.register_custom_ops_library(mluops.onnxruntime.library())
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        result, = session.run(None, {session.get_inputs()[0].name: image.numpy()})
    torch.testing.assert_close(torch.from_numpy(result), model(image).detach(), rtol=1e-4, atol=1e-5)
    print("onnxruntime agrees with torch, shape", result.shape)


if __name__ == "__main__":
    main()
