"""PriorBox."""
from api.generate.describe import *

family("PriorBox", "mlu_op.h of mlu-ops and its design document.", hooks="""
/// Boxes of a pixel; more than any tensor has where that leaves int64.
std::int64_t count_priors(std::int64_t sizes, std::int64_t ratios, std::int64_t squares);
""")

SHAPE = struct("mluopsPriorBoxShape", """
  mluOpDataType_t dtype;
  int64_t sizes, ratios;
  int64_t max_sizes; /* 0 or sizes */
  int64_t h, w;
""", doc="""min_sizes [sizes], aspect_ratios [ratios], variances [4], max_sizes [max_sizes]; output and var
[h, w, sizes * ratios + max_sizes, 4].""")

SAY = {"variances.4": "x1, y1, x2, y2", "output.4": "x1, y1, x2, y2",
       "priors": "min_sizes times aspect_ratios, plus max_sizes"}

operator("prior_box", "mluOpPriorBox", 70, doc="""Makes the boxes of SSD: at every pixel of a map those of given sizes and aspect ratios, in the coordinates of the
image.

@param min_sizes      T [M], ARRAY, M >= 1.
@param aspect_ratios  T [R], ARRAY, R >= 1.
@param variances      T [4], ARRAY.
@param max_sizes      T [M] or [0], ARRAY; the data may then be NULL.
@param height, width  of the map, >= 0.
@param im_height, im_width  of the image, >= 1: coordinates are divided by them.
@param step_h, step_w  pixels of the image from one centre to the next, > 0.
@param offset         of the first centre, in steps.
@param clip           coordinates are clamped to [0, 1].
@param min_max_aspect_ratios_order  false: of each min_size first a box for each ratio, then that of its max_size.
true: first its square, then that of its max_size, then those of the ratios but the first within 1e-6 of 1, for which
the square stands; without such a ratio the last one has no box.
@param output         T [height, width, P, 4], ARRAY: x1, y1, x2, y2, where P = M R, plus M with max_sizes;
overwritten.
@param var            T, the shape of output: variances, again and again; overwritten.
T: FLOAT; EXTENDED also HALF, DOUBLE, BFLOAT16; boxes are computed in double. M, R or 4 of 0: BAD_PARAM. height or
width 0: SUCCESS. Strided tensors: NOT_SUPPORTED. Cost: 8 numbers a box written. Source: Liu et al., "SSD", ECCV
2016; Paddle's prior_box; docs/op/prior_box.md.""", args="""
    in min_sizes T [sizes]
    in aspect_ratios T [ratios]
    in variances T [4]
    in max_sizes T [squares]
    const int height:h >= 0
    const int width:w >= 0
    const int im_height >= 1
    const int im_width >= 1
    const float step_h > 0
    const float step_w > 0
    const float offset
    const bool clip
    const bool min_max_aspect_ratios_order:min_max_order
    out output T [height, width, priors, 4]
    out var T like output
    """,
    order="descs numbers ranks not_empty(min_sizes aspect_ratios) sizes(min_sizes aspect_ratios variances) "
          "all_or_none sizes(output var) dtypes layouts dense done_if_empty(output) "
          "data(min_sizes aspect_ratios variances output var) data(max_sizes: max_sizes) overlap",
    shape=SHAPE, keys="h w sizes ratios squares={p.shape.max_sizes != 0 ? 1 : 0} imh=im_height imw=im_width steph=step_h stepw=step_w offset clip minmax=min_max_order",
    say=SAY, floats="FLOAT",
    derive={"priors": "count_priors(sizes, ratios, squares)"}, sizes={"priors": "sizes * ratios + squares"},
    rules={"all_or_none": rule("squares == 0 || squares == sizes", "max_sizes: wanted dimension 0 to be {sizes} (those of "
                               "min_sizes, or none), got {squares} in {shape_text(max_sizes)}")},
    fill={"shape.max_sizes": "squares", "max_sizes": "is_empty(max_sizes) ? nullptr : max_sizes.data"},
    sample={"squares": "random_.chance(2) ? 0 : sizes", "priors": "sizes * ratios + squares"}, members="""
  mluopsPriorBoxShape shape;
  const void* min_sizes;
  const void* aspect_ratios;
  const void* variances;
  const void* max_sizes; /* NULL without */
  void* output;
  void* var;
  int32_t im_height, im_width; /* >= 1 */
  double step_h, step_w;       /* > 0 */
  double offset;
  int32_t clip, min_max_order; /* 0 or 1 */
""")
