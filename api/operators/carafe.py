"""CARAFE."""
from api.generate.describe import *

family("CARAFE", "CARAFE design documents; statuses as MLU-OPS 1.11 gives them.",
       letters={"ho": "s*H", "wo": "s*W", "taps": "G*K*K"})

shape("mluopsCarafeShape", "n, h, w, c; ho, wo; kernel, group, scale", "ho = scale*h, wo = scale*w.")

descriptor("Carafe", "carafe_desc", "mluOpCarafeStruct", """
    const int dimNb in 4..4
    const int kernel_size >= 1
    const int group_size >= 1
    const int scale_factor >= 1
    """,
    order="dimNb kernel_size odd group_size scale_factor", members={"dimNb": "dim_nb"},
    rules={"odd": rule("kernel_size % 2 != 0", "kernel_size: wanted an odd number, got {kernel_size}")},
    docs={"set": """Sets dimNb (must be 4), kernel_size K (odd, >= 1), group_size G >= 1, scale_factor s >= 1.
BAD_PARAM: carafe_desc NULL or a value out of range; then nothing is stored."""})

SIZES = dict(
    lead="input", keys="n h w c k=kernel g=group s=scale", fixed={"dimNb": "4"},
    renamed={"input": "features", "mask": "masks"},
    say={"n": "the batch of input", "ho": "scale_factor * height of input", "wo": "scale_factor * width of input",
         "c": "the channels of input", "taps": "group_size * kernel_size * kernel_size"},
    derive={"ho": "dim_product({h, scale_factor})", "wo": "dim_product({w, scale_factor})",
            "taps": "dim_product({kernel_size, kernel_size, group_size})"},
    fill={"kernel": "kernel_size", "group": "group_size", "scale": "scale_factor"})
GROUPS = rule("c % group_size == 0", "input: wanted channels divisible by group_size {group_size}, got {c}")


def limit(name, most):
    return rule(f"{name} <= {most}", f"{name}: wanted <= {most}, got {{{name}}}", "NOT_SUPPORTED", strict=True)


operator("carafe_forward", "mluOpCarafeForward", 0, doc="""Content-aware upsampling: output pixel = K x K taps of the input pixel below it, weighted by its own mask.

  output[n,y,x,c] = sum over kh,kw of mask[n,y,x,(g*K+kh)*K+kw] * input[n, y/s+kh-r, x/s+kw-r, c],
  g = c / (C/G), r = (K-1)/2; taps outside the map are skipped.

Empty tensors: SUCCESS, nothing written. Cost: 2*N*s*H*s*W*K*K*C flops. Source: Wang et al., "CARAFE", ICCV 2019;
CARAFE design document.""", args="""
    descriptor const mluOpCarafeDescriptor_t carafe_desc -- K, G, s. STRICT: K <= 45 and s <= 5, else NOT_SUPPORTED.
    in input T image [n, h, w, c] py=features -- C divisible by G
    in mask T image [n, ho, wo, taps] py=masks
    out output T image [n, ho, wo, c]
    """,
    order="descriptor descs fields kernel scale ranks layouts strides dtypes sizes groups done_if_empty(input mask output) data "
          "countable overlap",
    rules={"groups": GROUPS, "kernel": limit("kernel_size", 45), "scale": limit("scale_factor", 5)}, strided="BAD_PARAM",
    **SIZES)

operator("carafe_backward", "mluOpCarafeBackward", 1, doc="""Gradients of mluOpCarafeForward.

Empty tensors: SUCCESS, nothing written. Cost: 4*N*s*H*s*W*K*K*C flops. Source: as mluOpCarafeForward.""", args="""
    descriptor const mluOpCarafeDescriptor_t carafe_desc -- K, G, s. STRICT: K <= 137, else NOT_SUPPORTED.
    in input T image [n, h, w, c] py=features
    in mask T image [n, ho, wo, taps] py=masks
    in grad_output T image [n, ho, wo, c]
    out grad_input T like input py=grad_features
    out grad_mask T like mask py=grad_masks -- exactly 0 for taps outside the map
    """,
    order="descriptor descs fields ranks layouts sizes groups dtypes strides "
          "done_if_empty(input mask grad_output grad_input grad_mask) data kernel countable overlap",
    rules={"groups": GROUPS, "kernel": limit("kernel_size", 137)},
    **SIZES)

