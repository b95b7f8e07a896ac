"""numpy front end. Arrays are NHWC like those of the C API; dtypes float32 and float16 (float64 under the extended
contract), the same for all arrays T of a call. Inputs that are not C-contiguous are copied; `out` arrays must be
C-contiguous and of the right shape and dtype, are overwritten, and are returned.

Every function raises BadParamError when the library refuses an argument, with the library's own words.
"""

from operator import index
from typing import Optional, Sequence, Tuple

import numpy as np

from . import _calls
from ._arguments import PsaType, Size, pair, psa_type_number
from ._context import DOUBLE, FLOAT, HALF, INT32, Tensor, numpy_door

Array = np.ndarray

_CODES = {np.dtype(np.float16): HALF, np.dtype(np.float32): FLOAT, np.dtype(np.float64): DOUBLE,
          np.dtype(np.int32): INT32}


def _input(array: Array, name: str, rank: int) -> Array:
    dense = np.ascontiguousarray(array)
    if dense.ndim != rank:
        raise ValueError(f"{name}: wanted {rank} dimensions, got {dense.ndim} {dense.shape}")
    return dense


def _zeroed_if_empty(source: Array, target: Array) -> Array:
    """The library leaves the outputs of an empty input alone; here they are what a sum over nothing is."""
    if source.size == 0:
        target.fill(0)
    return target


def _output(out: Optional[Array], name: str, shape: Tuple[int, ...], dtype: np.dtype) -> Array:
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        got = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ValueError(f"{name}: wanted an array {dtype} {shape}, got {got}")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError(f"{name}: wanted a writable C-contiguous array")
    return out


def _outputs(out: Optional[Sequence[Array]], names: Sequence[str], shapes: Sequence[tuple],
             dtype: np.dtype) -> Tuple[Array, ...]:
    given = [None] * len(names) if out is None else list(out)
    if len(given) != len(names):
        raise ValueError(f"out: wanted {len(names)} arrays ({', '.join(names)}), got {len(given)}")
    return tuple(_output(o, n, s, dtype) for o, n, s in zip(given, names, shapes))


def _tensor(array: Array, name: str = "array") -> Tensor:
    code = _CODES.get(array.dtype)
    if code is None:
        known = ", ".join(str(dtype) for dtype in _CODES)
        raise TypeError(f"{name}: wanted dtype {known}, got {array.dtype}")
    return code, array.shape, array.ctypes.data


def _int32(indices: Array, rank: int) -> Array:
    """Indices as int32; a 64-bit value that does not fit is out of range, hence -1 or the largest number."""
    array = _input(indices, "indices", rank)
    if array.dtype == np.int64:
        limits = np.iinfo(np.int32)
        return np.clip(array, limits.min, limits.max).astype(np.int32)
    return array


def carafe(input: Array, mask: Array, kernel_size: int, group_size: int, scale_factor: int, *,
           out: Optional[Array] = None) -> Array:
    """Content-aware upsampling.

    output[n,y,x,c] = sum over kh,kw of mask[n,y,x,(g*K+kh)*K+kw] * input[n, y//s+kh-r, x//s+kw-r, c], with
    g = c // (C//G) and r = (K-1)//2; taps outside the map are skipped.

    Args:
        input: T [N, H, W, C]; C divisible by G.
        mask: T [N, s*H, s*W, G*K*K].
        kernel_size, group_size, scale_factor: K (odd), G, s.
        out: T [N, s*H, s*W, C].
    Returns: T [N, s*H, s*W, C].
    """
    x, m = _input(input, "input", 4), _input(mask, "mask", 4)
    kernel_size, group_size, scale_factor = map(index, (kernel_size, group_size, scale_factor))
    n, h, w, c = x.shape
    y = _output(out, "out", (n, h * scale_factor, w * scale_factor, c), x.dtype)
    _calls.carafe_forward(numpy_door.context(), kernel_size, group_size, scale_factor, _tensor(x, "input"),
                          _tensor(m, "mask"), _tensor(y))
    return y


def carafe_backward(input: Array, mask: Array, grad_output: Array, kernel_size: int, group_size: int,
                    scale_factor: int, *, out: Optional[Tuple[Array, Array]] = None) -> Tuple[Array, Array]:
    """Gradients of carafe.

    Args:
        input, mask: as given to carafe.
        grad_output: T [N, s*H, s*W, C].
        out: grad_input T [N, H, W, C] and grad_mask T [N, s*H, s*W, G*K*K].
    Returns: grad_input, grad_mask; grad_mask is exactly 0 for taps outside the map.
    """
    x, m, g = _input(input, "input", 4), _input(mask, "mask", 4), _input(grad_output, "grad_output", 4)
    gx, gm = _outputs(out, ("grad_input", "grad_mask"), (x.shape, m.shape), x.dtype)
    _calls.carafe_backward(numpy_door.context(), index(kernel_size), index(group_size), index(scale_factor),
                           _tensor(x, "input"), _tensor(m, "mask"), _tensor(g, "grad_output"), _tensor(gx),
                           _tensor(gm))
    return gx, gm


def deform_roi_pool(input: Array, rois: Array, offset: Optional[Array], output_size: Size,
                    spatial_scale: float = 1.0, sampling_ratio: int = 0, gamma: float = 0.1, *,
                    out: Optional[Array] = None) -> Array:
    """Deformable RoI pooling: the mean of bilinear samples in each bin, bins shifted by gamma * RoI size * offset.

    Args:
        input: T [B, H, W, C].
        rois: T [R, 5]: batch index, x1, y1, x2, y2.
        offset: T [R, 2, PH, PW] (plane 0 is x, plane 1 is y) or None.
        output_size: PH, PW, or one number for both.
        spatial_scale: multiplies the corners of the RoIs; 0.5 is then subtracted.
        sampling_ratio: samples per axis and bin; <= 0 means ceil(RoI size / bins).
        gamma: scale of offset.
        out: T [R, PH, PW, C].
    Returns: T [R, PH, PW, C].
    """
    x, r = _input(input, "input", 4), _input(rois, "rois", 2)
    o = None if offset is None else _input(offset, "offset", 4)
    ph, pw = map(index, pair(output_size))
    y = _zeroed_if_empty(x, _output(out, "out", (r.shape[0], ph, pw, x.shape[3]), x.dtype))
    pooling = (ph, pw, float(spatial_scale), index(sampling_ratio), float(gamma))
    _calls.deform_roi_pool_forward(numpy_door.context(), pooling, _tensor(x, "input"), _tensor(r, "rois"),
                                   None if o is None else _tensor(o, "offset"), _tensor(y))
    return y


def deform_roi_pool_backward(grad_output: Array, input: Array, rois: Array, offset: Optional[Array],
                             spatial_scale: float = 1.0, sampling_ratio: int = 0, gamma: float = 0.1, *,
                             out: Optional[Sequence[Array]] = None) -> Tuple[Array, Optional[Array]]:
    """Gradients of deform_roi_pool. grad_offset uses the unclamped sample coordinates, so in the border bands it is
    not the derivative of the forward function.

    Args:
        grad_output: T [R, PH, PW, C].
        input, rois, offset, ...: as given to deform_roi_pool.
        out: grad_input T [B, H, W, C] and, with offset, grad_offset T [R, 2, PH, PW].
    Returns: grad_input, grad_offset (None without offset).
    """
    g, x, r = _input(grad_output, "grad_output", 4), _input(input, "input", 4), _input(rois, "rois", 2)
    o = None if offset is None else _input(offset, "offset", 4)
    pooling = (g.shape[1], g.shape[2], float(spatial_scale), index(sampling_ratio), float(gamma))
    if o is None:
        gx, go = _outputs(out, ("grad_input",), (x.shape,), x.dtype)[0], None
    else:
        gx, go = _outputs(out, ("grad_input", "grad_offset"), (x.shape, o.shape), x.dtype)
        _zeroed_if_empty(x, go)
    _calls.deform_roi_pool_backward(numpy_door.context(), pooling, _tensor(g, "grad_output"), _tensor(x, "input"),
                                    _tensor(r, "rois"), None if o is None else _tensor(o, "offset"), _tensor(gx),
                                    None if go is None else _tensor(go))
    return gx, go


def psa_mask(x: Array, psa_type: PsaType, mask_size: Size, *,
             out: Optional[Array] = None) -> Array:
    """Point-wise spatial attention: lays the mask of every pixel over the feature map.

    For every pixel (h,w) and mask cell (i,j) whose target (p,q) = (h+i-(hm-1)//2, w+j-(wm-1)//2) is in the map,
    collect: y[n,h,w,p*W+q] = x[n,h,w,i*wm+j]; distribute: y[n,p,q,h*W+w] = x[n,h,w,i*wm+j]; other y are 0.

    Args:
        x: T [N, H, W, hm*wm]; float32, under the extended contract any float type.
        psa_type: "collect" (0) or "distribute" (1).
        mask_size: hm, wm, or one number for both.
        out: T [N, H, W, H*W].
    Returns: T [N, H, W, H*W].
    """
    dense = _input(x, "x", 4)
    n, h, w, _ = dense.shape
    y = _zeroed_if_empty(dense, _output(out, "out", (n, h, w, h * w), dense.dtype))
    hm, wm = map(index, pair(mask_size))
    _calls.psa_mask_forward(numpy_door.context(), psa_type_number(psa_type), hm, wm, _tensor(dense, "x"), _tensor(y))
    return y


def psa_mask_backward(grad_output: Array, psa_type: PsaType, mask_size: Size, *,
                      out: Optional[Array] = None) -> Array:
    """Gradient of psa_mask: T [N, H, W, hm*wm] from grad_output T [N, H, W, H*W]."""
    dy = _input(grad_output, "grad_output", 4)
    hm, wm = map(index, pair(mask_size))
    dx = _output(out, "out", dy.shape[:3] + (hm * wm,), dy.dtype)
    _calls.psa_mask_backward(numpy_door.context(), psa_type_number(psa_type), hm, wm,
                             _tensor(dy, "grad_output"), _tensor(dx))
    return dx


def three_interpolate(features: Array, indices: Array, weights: Array, *, out: Optional[Array] = None) -> Array:
    """Interpolates N points from three of M neighbours each.

    output[b,c,n] = sum over j of weights[b,n,j] * features[b,c,indices[b,n,j]]; an index outside [0,M-1] drops
    that neighbour only.

    Args:
        features: T [B, C, M].
        indices: int32 or int64 [B, N, 3].
        weights: T [B, N, 3], not normalised.
        out: T [B, C, N].
    Returns: T [B, C, N].
    """
    f, i, w = _input(features, "features", 3), _int32(indices, 3), _input(weights, "weights", 3)
    y = _zeroed_if_empty(f, _output(out, "out", f.shape[:2] + (i.shape[1],), f.dtype))
    _calls.three_interpolate_forward(numpy_door.context(), _tensor(f, "features"), _tensor(i, "indices"),
                                     _tensor(w, "weights"), _tensor(y))
    return y


def three_interpolate_backward(grad_output: Array, indices: Array, weights: Array, points: int, *,
                               out: Optional[Array] = None) -> Array:
    """Gradient of three_interpolate with respect to features.

    Args:
        grad_output: T [B, C, N].
        indices, weights: as given to three_interpolate.
        points: M.
        out: T [B, C, M].
    Returns: T [B, C, M].
    """
    g, i, w = _input(grad_output, "grad_output", 3), _int32(indices, 3), _input(weights, "weights", 3)
    gf = _output(out, "out", g.shape[:2] + (points,), g.dtype)
    _calls.three_interpolate_backward(numpy_door.context(), _tensor(g, "grad_output"), _tensor(i, "indices"),
                                      _tensor(w, "weights"), _tensor(gf))
    return gf


def border_align(input: Array, boxes: Array, pool_size: int, *,
                 out: Optional[Tuple[Array, Array]] = None) -> Tuple[Array, Array]:
    """Maximum of pool_size+1 bilinear samples along each border of each box.

    Args:
        input: T [N, H, W, 4*C]; channel border*C+c, borders top, left, bottom, right.
        boxes: T [N, K, 4]: x1, y1, x2, y2.
        pool_size: samples per border less one, >= 1.
        out: output T [N, K, 4, C] and argmax int32 [N, K, 4, C].
    Returns: output T [N, K, 4, C] and argmax int32 [N, K, 4, C], the number of the first maximum.
    """
    x, b = _input(input, "input", 4), _input(boxes, "boxes", 3)
    shape = (x.shape[0], b.shape[1], 4, x.shape[3] // 4)
    y, argmax = (None, None) if out is None else out
    y, argmax = _output(y, "output", shape, x.dtype), _output(argmax, "argmax", shape, np.dtype(np.int32))
    _calls.border_align_forward(numpy_door.context(), index(pool_size), _tensor(x, "input"), _tensor(b, "boxes"),
                                _tensor(y), _tensor(argmax))
    return y, argmax


def border_align_backward(grad_output: Array, boxes: Array, argmax: Array, pool_size: int, height: int, width: int, *,
                          out: Optional[Array] = None) -> Array:
    """Gradient of border_align with respect to input.

    Args:
        grad_output: T [N, K, 4, C].
        boxes, pool_size: as given to border_align.
        argmax: int32 [N, K, 4, C], from border_align.
        height, width: H, W of the input.
        out: T [N, H, W, 4*C].
    Returns: T [N, H, W, 4*C].
    """
    g, b, a = _input(grad_output, "grad_output", 4), _input(boxes, "boxes", 3), _input(argmax, "argmax", 4)
    gx = _output(out, "out", (g.shape[0], height, width, 4 * g.shape[3]), g.dtype)
    _calls.border_align_backward(numpy_door.context(), index(pool_size), _tensor(g, "grad_output"), _tensor(b, "boxes"),
                                 _tensor(a, "argmax"), _tensor(gx))
    return gx
