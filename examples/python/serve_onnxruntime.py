#!/usr/bin/env python3
"""Serves a model with a deformable convolution and RoIAlign over HTTP, by onnxruntime.

Usage: serve_onnxruntime.py (needs onnx, onnxscript, onnxruntime 1.16 and torch 2.8 or newer to export)

The serving process needs no torch: onnxruntime, mluops and the file model.onnx are enough.
"""

import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import torch

import mluops.onnxruntime
import mluops.torch as mt
import mluops.torch.onnx  # noqa: F401  teaches torch's exporter the operators
from http_server import Predict, ask_all, serving

IMAGES = 8


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = mt.ModulatedDeformConv2dPack(3, 8, kernel_size=3, padding=1)
        self.register_buffer("boxes", torch.tensor([[0.0, 0, 0, 16, 16], [0, 4, 4, 12, 12]]))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return mt.roi_align(self.features(image).relu(), self.boxes, (2, 2), 1.0, sampling_ratio=2)


def load(path: Path) -> Predict:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # requests run side by side instead
    options.register_custom_ops_library(mluops.onnxruntime.library())
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    name, shape = session.get_inputs()[0].name, tuple(session.get_inputs()[0].shape)

    def predict(image: np.ndarray) -> np.ndarray:
        if image.shape != shape or image.dtype != np.float32:
            raise ValueError(f"image: wanted {shape} of float32, got {image.shape} of {image.dtype}")
        return session.run(None, {name: image})[0]

    return predict


def main() -> None:
    torch.manual_seed(0)
    model = Model().eval()
    images = [torch.randn(1, 3, 16, 16) for _ in range(IMAGES)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        torch.onnx.export(model, (images[0],), str(path), dynamo=True)
        with serving(load(path)) as address:
            answers = ask_all(address, [image.numpy() for image in images])
    for image, answer in zip(images, answers):
        torch.testing.assert_close(torch.from_numpy(answer), model(image).detach(), rtol=1e-4, atol=1e-5)
    print(f"onnxruntime served {len(answers)} requests as torch computes them, shape {answers[0].shape}")


if __name__ == "__main__":
    main()
