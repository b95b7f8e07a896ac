#!/usr/bin/env python3
"""three_interpolate on numpy arrays: features of new points from their three nearest known points.

Usage: numpy_three_interpolate.py
"""

import numpy as np

import mluops


def main() -> None:
    generator = np.random.default_rng(0)
    features = generator.standard_normal((1, 4, 100), dtype=np.float32)  # batch, channels, known points
    known, new = generator.random((100, 3)), generator.random((20, 3))
    squared = ((new[:, None] - known[None]) ** 2).sum(-1)
    nearest = np.argsort(squared, axis=1)[:, :3].astype(np.int32)[None]
    weights = 1 / np.take_along_axis(squared[None], nearest, axis=2)
    weights = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)

    result = mluops.three_interpolate(features, nearest, weights)
    expected = (features[0][:, nearest[0]] * weights[0]).sum(-1)
    np.testing.assert_allclose(result[0], expected, rtol=1e-5, atol=1e-6)
    print("shape", result.shape, "checked against numpy")


if __name__ == "__main__":
    main()
