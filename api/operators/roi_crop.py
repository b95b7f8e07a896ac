"""RoiCrop."""
from api.generate.describe import *

family("RoiCrop", "mlu_op.h of mlu-ops.", letters={"grids": "G", "out_h": "OH", "out_w": "OW"})

shape("mluopsRoiCropShape", "batch, h, w, c; grids, out_h, out_w", "grids is a multiple of batch.")

CROPS = dict(
    floats="FLOAT", keys="b=batch h w c grids={p.shape.grids / p.shape.batch} oh=out_h ow=out_w",
    say={"2": "y, x", "grids": "the number of grids", "out_h": "the height of a grid", "out_w": "the width of a grid",
         "c": "the channels of the images"},
    rules={"images": rule("grids % batch == 0", "grid: wanted dimension 0 to be a multiple of {batch} (the number of images), "
                                                "got {shape_text(grid)}")})

operator("roi_crop_forward", "mluOpRoiCropForward", 65, doc="""Bilinear samples of images at the points of grids.

A point y, x of a grid is the pixel (y + 1) (H - 1) / 2, (x + 1) (W - 1) / 2: -1 the first, 1 the last. Pixels
outside the image count 0; a point that is NaN or infinite gives 0.

Points are in T's type of sums. Cost: 8 flops an element of output. Source: Jaderberg et al., "Spatial Transformer
Networks", NIPS 2015; docs/op/roi_crop.md.""", args="""
    in input T image [batch, h, w, c]
    in grid T [grids, out_h, out_w, 2] -- y, x. G is a multiple of B: the first G/B grids sample the first image.
    out output T image [grids, out_h, out_w, c]
    """,
    order="descs layouts ranks dtypes sizes(input grid output) dense not_empty data images overlap",
    notes={'grid': 'arbitrary: pixels outside count 0'},
    **CROPS)

operator("roi_crop_backward", "mluOpRoiCropBackward", 66, doc="""Gradient of mluOpRoiCropForward with respect to input (scatter-add).""", args="""
    in grad_output T image [grids, out_h, out_w, c]
    in grid T [grids, out_h, out_w, 2]
    out grad_input T image [batch, h, w, c]
    """,
    order="descs layouts ranks dtypes sizes(grad_input grid grad_output) dense not_empty(grad_input grid grad_output) data images overlap",
    notes={'grid': 'likewise'},
    **CROPS, lead="grad_input")
