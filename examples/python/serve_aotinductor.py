#!/usr/bin/env python3
"""Serves a model with a deformable convolution and RoIAlign over HTTP, compiled ahead of time by AOTInductor.

Usage: serve_aotinductor.py [--package model.pt2] (needs torch 2.6 or newer and a C++ compiler)

torch.export and AOTInductor compile the model once into model.pt2. The serving process loads that file: it needs torch and
mluops.torch, but not the Python code of the model.
"""

import argparse
import tempfile
import threading
from pathlib import Path

import numpy as np
import torch

import mluops.torch as mt
from http_server import Predict, ask_all, serving

IMAGES = 8


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = mt.ModulatedDeformConv2dPack(3, 8, kernel_size=3, padding=1)
        self.register_buffer("boxes", torch.tensor([[0.0, 0, 0, 16, 16], [0, 4, 4, 12, 12]]))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return mt.roi_align(self.features(image).relu(), self.boxes, (2, 2), 1.0)


def load(path: Path) -> Predict:
    run = torch._inductor.aoti_load_package(str(path))
    # The package has one runner. A call that waits for it would hold the GIL, which operators of the running call need.
    one_at_a_time = threading.Lock()

    @torch.inference_mode()
    def predict(image: np.ndarray) -> np.ndarray:
        if image.shape != (1, 3, 16, 16) or image.dtype != np.float32:
            raise ValueError(f"image: wanted (1, 3, 16, 16) of float32, got {image.shape} of {image.dtype}")
        with one_at_a_time:
            return run(torch.from_numpy(image)).numpy()

    return predict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=Path, help="keep the compiled model here")
    options = parser.parse_args()
    torch.manual_seed(0)
    model = Model().eval()
    images = [torch.randn(1, 3, 16, 16) for _ in range(IMAGES)]
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        path = options.package or Path(folder) / "model.pt2"
        torch._inductor.aoti_compile_and_package(torch.export.export(model, (images[0],)), package_path=str(path))
        with serving(load(path)) as address:
            answers = ask_all(address, [image.numpy() for image in images])
        for image, answer in zip(images, answers):
            torch.testing.assert_close(torch.from_numpy(answer), model(image), rtol=1e-4, atol=1e-5)
    print(f"AOTInductor served {len(answers)} requests as eager torch computes them, shape {answers[0].shape}")


if __name__ == "__main__":
    main()
