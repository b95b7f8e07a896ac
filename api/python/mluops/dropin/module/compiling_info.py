"""mmdet.ops.utils.compiling_info: what mmdet says of its compilers."""

__all__ = ["get_compiler_version", "get_compiling_cuda_version"]

PACKAGE = "mmdet"
NAMES = ("*.ops.utils.compiling_info",)
UNSERVED = tuple(f"*.{name}_{kind}" for name in ("affine_grid", "grid_sampler") for kind in ("cuda", "ext"))


def get_compiler_version():
    return "none (mluops)"


def get_compiling_cuda_version():
    return "not available"
