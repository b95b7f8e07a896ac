"""corner_pool_ext of mmdet 2.0."""

from . import bottom_pool, left_pool, right_pool, top_pool

__all__ = [f"{place}_pool_{way}" for place in ("bottom", "left", "right", "top") for way in ("backward", "forward")]

PACKAGE = "mmdet"
NAMES = ("corner_pool_ext", "*.corner_pool_ext")

bottom_pool_forward, bottom_pool_backward = bottom_pool.forward, bottom_pool.backward
left_pool_forward, left_pool_backward = left_pool.forward, left_pool.backward
right_pool_forward, right_pool_backward = right_pool.forward, right_pool.backward
top_pool_forward, top_pool_backward = top_pool.forward, top_pool.backward
