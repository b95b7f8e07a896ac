"""PriorBox."""
from api.generate.describe import *

family("PriorBox", "mlu_op.h of mlu-ops and its design document.", hooks="""
/// Boxes of a pixel; more than any tensor has where that leaves int64.
std::int64_t count_priors(std::int64_t sizes, std::int64_t ratios, std::int64_t squares);
""", letters={"sizes": "M", "ratios": "R", "squares": "M", "priors": "P"})

shape("mluopsPriorBoxShape", "sizes, ratios; max_sizes /* 0 or sizes */; h, w",
      "min_sizes [sizes], aspect_ratios [ratios], variances [4], max_sizes [max_sizes]; output and var [h, "
      "w, sizes * ratios + max_sizes, 4].")

SAY = {"variances.4": "x1, y1, x2, y2", "output.4": "x1, y1, x2, y2",
       "priors": "min_sizes times aspect_ratios, plus max_sizes"}

operator("prior_box", "mluOpPriorBox", 70, doc="""Makes the boxes of SSD: at every pixel of a map those of given sizes and aspect ratios, in the coordinates of the
image.

Boxes are computed in double. M, R or 4 of 0: BAD_PARAM. height or width 0: SUCCESS. Cost: 8 numbers a box
written. Source: Liu et al., "SSD", ECCV 2016; Paddle's prior_box; docs/op/prior_box.md.""", args="""
    in min_sizes T [sizes] -- M >= 1
    in aspect_ratios T [ratios] -- R >= 1
    in variances T [4]
    in max_sizes T [squares] -- or [0], ARRAY; the data may then be NULL
    const int height:h >= 0 -- of the map
    const int width:w >= 0 -- likewise
    const int im_height >= 1 -- of the image, >= 1: coordinates are divided by them
    const int im_width >= 1 -- likewise
    const float step_h > 0 -- pixels of the image from one centre to the next
    const float step_w > 0 -- likewise
    const float offset -- of the first centre, in steps
    const bool clip -- coordinates are clamped to [0, 1]
    const bool min_max_aspect_ratios_order:min_max_order -- false: of each min_size first a box for each ratio, then
        -- the box of its max_size; true: first its square, then the box of its max_size, then one for each ratio but
        -- the first within 1e-6 of 1, whose box is the square; without such a ratio the last one has no box
    out output T [height, width, priors, 4] -- x1, y1, x2, y2, where P = M R, plus M with max_sizes
    out var T like output -- the shape of output: variances, again and again
    """,
    order="descs numbers ranks not_empty(min_sizes aspect_ratios) sizes(min_sizes aspect_ratios variances) "
          "all_or_none sizes(output var) dtypes layouts dense done_if_empty(output) "
          "data(min_sizes aspect_ratios variances output var) data(max_sizes: max_sizes) overlap",
    keys="h w sizes ratios squares={p.shape.max_sizes != 0 ? 1 : 0} imh=im_height imw=im_width steph=step_h stepw=step_w offset clip minmax=min_max_order",
    say=SAY, floats="FLOAT",
    derive={"priors": "count_priors(sizes, ratios, squares)"}, sizes={"priors": "sizes * ratios + squares"},
    rules={"all_or_none": rule("squares == 0 || squares == sizes", "max_sizes: wanted dimension 0 to be {sizes} (those of "
                               "min_sizes, or none), got {squares} in {shape_text(max_sizes)}")},
    fill={"shape.max_sizes": "squares", "max_sizes": "is_empty(max_sizes) ? nullptr : max_sizes.data"}, members="""
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
