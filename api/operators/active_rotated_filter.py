"""ActiveRotatedFilter."""
from api.generate.describe import *

family("ActiveRotatedFilter", "mluOpActiveRotatedFilterForward of MLU-OPS 1.11; mmcv's active_rotated_filter.",
       letters={"filters": "M*R", "channels": "C*O"})

shape("mluopsActiveRotatedFilterShape",
      "m, c /* output and input channels */; o, h, w, r /* orientations, height and width of a filter, "
      "rotations */", "Indices are arbitrary numbers.")

getter("mluOpGetActiveRotatedFilterForwardWorkspaceSize", "active_rotated_filter_forward", "input",
       "handle desc_pointers(input) size", "input.desc->elements, element_bytes(input)", "as many as input has")

operator("active_rotated_filter_forward", "mluOpActiveRotatedFilterForward", 88, doc="""Copies of a filter, rotated and with its orientations moved on.

  output[m*R+k, c*O*H*W + indices[j,k] - 1] = input[m,c,j],  j the place of a weight among O*H*W, k the copy;
  0 where nothing goes; of several weights at one place the last counts; an index outside [1, O*H*W] goes nowhere

An empty tensor: BAD_PARAM. Cost: M*R*C*O*H*W copies. Source: Zhou et al., "Oriented Response Networks", CVPR 2017;
mmcv's active_rotated_filter; docs/op/active_rotated_filter.md.""", args="""
    in input T [m, c, o, h, w] -- H = W. STRICT: H is 1 or 3, O a power of two up to 128.
    in indices INT32 [o, h, w, r] -- counted from 1. STRICT: R is 2, 4 or 8.
    workspace void* workspace, const size_t workspace_size
    out output T [filters, channels, h, w]
    """,
    order="descs ranks layouts dtypes sizes(input indices output) square one_or_three power_of_two rotations dense "
          "not_empty(input indices output) workspace data overlap",
    keys="m c o k=h r",
    say={"o": "the orientations of input", "h": "the height of input", "w": "the width of input",
         "filters": "the output channels times the rotations", "channels": "the input channels times the orientations"},
    derive={"filters": "dim_product({m, r})", "channels": "dim_product({c, o})"},
    rules={"square": rule("h == w", "input: wanted the same height and width, got {shape_text(input)}"),
           "one_or_three": rule("h == 1 || h == 3", "input: wanted height 1 or 3, got {h}", strict=True),
           "power_of_two": rule("o > 0 && o <= 128 && (o & (o - 1)) == 0",
                                "input: wanted a power of two of orientations, at most 128, got {o}", strict=True),
           "rotations": rule("r == 2 || r == 4 || r == 8", "indices: wanted 2, 4 or 8 rotations, got {r}", strict=True)},
    smallest={"r": 2})
