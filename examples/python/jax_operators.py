"""Five operators with gradients under jax.jit, by jax.ffi: no Python runs in a call.

Compiles ../cpp/jax/operators.cpp against the installed jax (20 seconds of CPU time) into a folder of the caller's. Arrays
are float32, images NHWC; rois, idx and indices have no gradient. Needs Linux and a C++ compiler.
"""

import ctypes
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import numpy as np

SOURCE = Path(__file__).resolve().parent.parent / "cpp/jax/operators.cpp"
NAMES = ("gather_points", "three_interpolate", "psa_mask", "carafe", "roi_align")


def register(folder):
    """Compiles the operators into the folder and makes them known to jax."""
    flags = subprocess.run([sys.executable, "-m", "mluops", "--cflags", "--libs"], check=True, capture_output=True, text=True)
    library = Path(folder) / "libmluops_jax.so"
    subprocess.run(["c++", "-std=c++17", "-O1", "-shared", "-fPIC", SOURCE, "-o", library, "-isystem", jax.ffi.include_dir(),
                    *shlex.split(flags.stdout)], check=True)
    loaded = ctypes.CDLL(str(library))
    for name in NAMES:
        for target in (f"jax_{name}", f"jax_{name}_backward"):
            jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(getattr(loaded, target)), platform="cpu")


def _call(name, results, inputs, numbers):
    return jax.ffi.ffi_call(name, results, vmap_method="sequential")(*inputs, **numbers)


def _operator(name, shape, inputs, differentiable, **numbers):
    """A call with gradients of the first inputs, as many as differentiable says."""

    @jax.custom_vjp
    def forward(*inputs):
        return _call(f"jax_{name}", jax.ShapeDtypeStruct(shape, np.float32), inputs, numbers)

    def backward(inputs, grad):
        results = [jax.ShapeDtypeStruct(each.shape, np.float32) for each in inputs[:differentiable]]
        found = _call(f"jax_{name}_backward", results, (*inputs, grad), numbers)
        return (*found, *[None] * (len(inputs) - differentiable))

    forward.defvjp(lambda *inputs: (forward(*inputs), inputs), backward)
    return forward(*inputs)


def gather_points(points, idx):
    return _operator("gather_points", (*points.shape[:2], idx.shape[1]), (points, idx), 1)


def three_interpolate(features, indices, weights):
    return _operator("three_interpolate", (*features.shape[:2], indices.shape[1]), (features, weights, indices), 2)


def psa_mask(x, psa_type, mask_size):
    n, h, w, _ = x.shape
    return _operator("psa_mask", (n, h, w, h * w), (x,), 1, type=np.int32(psa_type), height=np.int32(mask_size[0]),
                     width=np.int32(mask_size[1]))


def carafe(features, masks, kernel_size, group_size, scale_factor):
    n, h, w, c = features.shape
    return _operator("carafe", (n, h * scale_factor, w * scale_factor, c), (features, masks), 2,
                     kernel=np.int32(kernel_size), group=np.int32(group_size), scale=np.int32(scale_factor))


def roi_align(features, rois, output_size, spatial_scale=1.0, sampling_ratio=0, aligned=True):
    shape = (rois.shape[0], *output_size, features.shape[3])
    return _operator("roi_align", shape, (features, rois), 1, scale=np.float32(spatial_scale),
                     samples=np.int32(sampling_ratio), aligned=bool(aligned))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        register(folder)
        image, boxes = jax.numpy.ones((1, 32, 32, 8)), jax.numpy.array([[0.0, 4, 4, 20, 20]])
        loss = jax.jit(jax.value_and_grad(lambda image: (roi_align(image, boxes, (7, 7)) ** 2).sum()))
        value, gradient = loss(image)
        print(f"loss {value:.1f}, gradient {gradient.shape}")
