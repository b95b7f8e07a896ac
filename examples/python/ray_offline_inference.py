#!/usr/bin/env python3
"""Detects boxes on a folder of images with Ray Data, on several local worker processes.

Usage: ray_offline_inference.py [FOLDER] [--workers 2] [--out detections.json]
(needs ray[data], pillow and torch; without FOLDER it makes a few images)

Each worker is a process of its own with its own model, and uses its share of the machine's cores. On a cluster, start
the script with `ray job submit` and raise --workers: nothing else changes.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

import numpy as np
import ray
import torch
from PIL import Image

import mluops.torch as mt

SIZE, CELL = 64, 8


class Detector(torch.nn.Module):
    """A small detector with the operators of a large one: deformable convolution, RoIAlign, NMS. Weights are random."""

    def __init__(self) -> None:
        super().__init__()
        self.features = mt.ModulatedDeformConv2dPack(3, 8, kernel_size=3, stride=CELL, padding=1)
        self.head = torch.nn.Linear(8, 1)
        corners = torch.arange(0, SIZE, CELL, dtype=torch.float32)
        y, x = torch.meshgrid(corners, corners, indexing="ij")
        self.boxes = torch.stack([x, y, x + 2 * CELL, y + 2 * CELL], -1).reshape(-1, 4)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """An image [3, 64, 64] to boxes and scores [n, 5], best first."""
        rois = torch.cat([torch.zeros(len(self.boxes), 1), self.boxes], 1)
        pooled = mt.roi_align(self.features(image[None]).relu(), rois, (2, 2), 1 / CELL).mean((2, 3))
        kept, _ = mt.nms(self.boxes, self.head(pooled)[:, 0].sigmoid(), iou_threshold=0.3)
        return kept


def make_detector() -> Detector:
    torch.manual_seed(0)
    return Detector().eval()


@torch.inference_mode()
def detect(model: Detector, image: np.ndarray) -> np.ndarray:
    return model(torch.tensor(image).permute(2, 0, 1).float() / 255).numpy()


class Worker:
    """What each process of Ray keeps: the model, and a number of threads that leaves the other workers theirs."""

    def __init__(self, threads: int) -> None:
        torch.set_num_threads(threads)  # mluops.torch uses torch's number
        self.model = make_detector()

    def __call__(self, row: dict) -> dict:
        return {"path": row["path"], "boxes": detect(self.model, row["image"]).tolist(), "process": os.getpid()}


def make_images(folder: Path, count: int) -> None:
    random = np.random.default_rng(0)
    for i in range(count):
        Image.fromarray(random.integers(0, 256, (SIZE, SIZE, 3), np.uint8)).save(folder / f"{i:03}.png")


def run(folder: Path, workers: int) -> list:
    """A row per image, in the order of their names."""
    threads = max(1, (os.cpu_count() or 1) // workers)
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    images = ray.data.read_images(str(folder), size=(SIZE, SIZE), mode="RGB", include_paths=True,
                                  override_num_blocks=4 * workers)
    results = images.map(Worker, fn_constructor_args=[threads], compute=ray.data.ActorPoolStrategy(size=workers))
    rows = sorted(results.take_all(), key=lambda row: row["path"])
    ray.shutdown()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("detections.json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        if options.folder is None:
            make_images(Path(made), 12)
        rows = run(options.folder or Path(made), options.workers)
        model = make_detector()
        for row in rows:  # the workers' results are those of this process, bit by bit
            image = np.asarray(Image.open(row["path"]).convert("RGB").resize((SIZE, SIZE), Image.BILINEAR))
            if options.folder is None and not np.array_equal(detect(model, image), np.asarray(row["boxes"], np.float32)):
                raise SystemExit(f"{row['path']}: a worker's boxes differ from this process's")
    options.out.write_text(json.dumps({Path(row["path"]).name: row["boxes"] for row in rows}))
    processes, boxes = {row["process"] for row in rows}, sum(len(row["boxes"]) for row in rows)
    print(f"{len(rows)} images, {len(processes)} workers, {boxes} boxes")


if __name__ == "__main__":
    main()
