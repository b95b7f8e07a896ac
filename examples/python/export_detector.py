#!/usr/bin/env python3
"""Writes a small detector for programs without Python: as an AOTInductor package and as a TorchScript file.

Usage: export_detector.py FOLDER (needs torch 2.6 or newer and a C++ compiler)

Writes detector.pt2, detector.traced, inputs.pt and expected.pt. examples/cpp/libtorch runs both models on the inputs with
libmluops_torch.so, which `python -m mluops.torch.library` compiles.
"""

import argparse
from pathlib import Path

import torch

import mluops.torch as mt


class Detector(torch.nn.Module):
    """Scores of given boxes, suppression, and the pooled features of the boxes that are kept."""

    def __init__(self) -> None:
        super().__init__()
        self.features = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.register_buffer("boxes", torch.tensor([[0.0, 0, 16, 16], [1, 0, 16, 15], [4, 4, 12, 12], [2, 8, 9, 15]]))

    def forward(self, image: torch.Tensor) -> tuple:
        features = self.features(image).relu()
        scores = features.mean((0, 2, 3))[:4]
        dets, kept = mt.nms(self.boxes, scores, 0.5)
        rois = torch.cat([dets.new_zeros(dets.shape[0], 1), dets[:, :4]], 1)
        return dets, kept, mt.roi_align(features, rois, (2, 2), 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    torch.manual_seed(0)
    model, image = Detector().eval(), torch.randn(1, 3, 16, 16)
    with torch.no_grad():
        torch._inductor.aoti_compile_and_package(torch.export.export(model, (image,)), package_path=str(folder / "detector.pt2"))
        torch.jit.save(torch.jit.trace(model, (image,)), folder / "detector.traced")
        torch.save([image], folder / "inputs.pt")
        torch.save(list(model(image)), folder / "expected.pt")
    print(f"wrote detector.pt2 and detector.traced to {folder}")


if __name__ == "__main__":
    main()
