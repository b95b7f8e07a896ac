#!/usr/bin/env python3
"""mmcv's own nms and RoIAlign on the CPU, with mmcv-lite, which has no compiled operators of its own.

Usage: mmcv_nms.py (needs mmcv-lite or mmcv)
"""

import mluops.mmcv

mluops.mmcv.install()  # before the program uses mmcv's operators

import torch  # noqa: E402
from mmcv.ops import RoIAlign, nms  # noqa: E402


def main() -> None:
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30]])
    scores = torch.tensor([0.9, 0.8, 0.7])
    _, kept = nms(boxes, scores, iou_threshold=0.5)
    print("kept boxes", kept.tolist())
    assert kept.tolist() == [0, 2]

    pool = RoIAlign((7, 7), spatial_scale=0.25)
    pooled = pool(torch.randn(1, 16, 50, 50), torch.tensor([[0.0, 10, 10, 90, 90]]))
    print("pooled", tuple(pooled.shape))


if __name__ == "__main__":
    main()
