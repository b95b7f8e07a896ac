"""Deformable convolution (DCN)."""
from api.generate.describe import *

family("Deformable convolution (DCN)", "mluOpDCNForward, BackwardData and BackwardWeight of MLU-OPS 1.11.", numpy=False,
       hooks="""
/// Output pixels along an axis: less than 1 where the filter is larger than the padded map.
std::int64_t dcn_out_size(std::int64_t size, std::int64_t padding, std::int64_t kernel, std::int64_t stride,
                          std::int64_t dilation);
/// For the case text: rows above and below, columns left and right; a number of rows and one of columns.
std::string pads_text(const mluopsDcnShape& s);
std::string two_axes_text(std::int64_t h, std::int64_t w);
""", letters={"batch": "N", "offsets": "G * Kh * Kw * 2", "taps": "G * Kh * Kw", "group_ci": "Ci / conv_group"})

shape("mluopsDcnShape",
      "batch, h, w, ci; co, kernel_h, kernel_w; out_h, out_w; pad_top, pad_left; stride_h, stride_w; "
      "dilation_h, dilation_w; groups, deform_groups",
      "DCN: input [batch,h,w,ci], offset [batch,out_h,out_w,deform_groups,kernel_h,kernel_w,2] of rows and "
      "columns, mask [batch,out_h,out_w,deform_groups,kernel_h,kernel_w] or NULL, filter "
      "[co,kernel_h,kernel_w,ci/groups], output [batch,out_h,out_w,co]. groups divides ci and co, "
      "deform_groups ci. Nothing is empty. Offsets are arbitrary.")

prose("""
typedef struct mluOpDCNStruct* mluOpDCNDescriptor_t;
""")

descriptor("DCN", "dcn_desc", "mluOpDCNStruct", """
    int dimNb in 4..4 -- the dimensions of the images
    host const int pad[] py=padding -- [4]: rows above and below, columns left and right of the map, >= 0
    host const int stride[] -- [2]: rows, columns from an output pixel to the next, >= 1
    host const int dilation[] -- [2]: rows, columns from a tap of the filter to the next, >= 1
    int deformable_group >= 1 py=deform_groups -- parts of the input channels, each with offsets and masks of its own
    int conv_group >= 1 py=groups -- parts of the input and output channels that are convolved by themselves
    int im2col_step >= 1 -- images worked on together; without effect but that it divides the batch
    const mluOpDataType_t compute_type -- FLOAT
    """,
    order="", by_hand="""
/// What mluOpDCNDescriptor_t points to; no valid form until set.
struct mluOpDCNStruct {
  int pad[4] = {};
  int stride[2] = {};
  int dilation[2] = {};
  int deformable_group = 0;
  int conv_group = 0;
  int im2col_step = 0;
};
""",
    docs={"set": """Sets the form of a deformable convolution.

{fields}
BAD_PARAM: dcn_desc, pad, stride or dilation NULL, and what is not as above."""})


def divisor(name, size, tensor):
    return rule(f"{size} % {name} == 0", f"{name}: wanted a divisor of the {{{size}}} channels of {tensor}, got {{{name}}}")


def fits(axis, which, filter):
    """The dilated filter lies inside of the padded map."""
    of = {"h": "height", "w": "width"}[axis]
    return rule(f"out_{axis} >= 1", f"{filter}: wanted {of} that fits into the padded input ({{padded_{axis}}}), got "
                                    f"{{kernel_{axis}}} with dilation {{dilation[{which}]}}")


def of(filter, output, bias):
    """What the three functions share, by their names of filter and output."""
    taps = {f"{t}.{size}": "that of the output" for t in ("offset", "mask") for size in ("batch", "out_h", "out_w")}
    small = "{0} >= 1 && {0} <= 2147483647"
    return dict(
        derive={"padded_h": "h + pad[0] + pad[1]", "out_h": "dcn_out_size(padded_h, 0, kernel_h, stride[0], dilation[0])",
                "padded_w": "w + pad[2] + pad[3]", "out_w": "dcn_out_size(padded_w, 0, kernel_w, stride[1], dilation[1])",
                "group_ci": "ci / conv_group", "taps": "dim_product({deformable_group, kernel_h, kernel_w})",
                "offsets": "dim_product({2, deformable_group, kernel_h, kernel_w})",
                "columns": "dim_product({im2col_step, out_h, out_w, kernel_h, kernel_w, ci})"},
        say={f"{output}.batch": "the batch", **taps, "co": "the number of filters",
             "group_ci": "the channels of a convolution group",
             "out_h": "the height that follows from input, filter and dcn_desc",
             "out_w": "the width that follows from input, filter and dcn_desc",
             "offsets": "two for each tap of each deformable group", "taps": "one for each tap of each deformable group"},
        rules={"set": rule("im2col_step >= 1", "im2col_step (dcn_desc was never set): wanted >= 1, got {im2col_step}"),
               "deformable": divisor("deformable_group", "ci", "input"),
               "groups_in": divisor("conv_group", "ci", "input"), "groups_out": divisor("conv_group", "co", output),
               "kernel_h_": rule(small.format("kernel_h"), "filter: wanted >= 1 and <= 2147483647, got {kernel_h}"),
               "kernel_w_": rule(small.format("kernel_w"), "filter: wanted >= 1 and <= 2147483647, got {kernel_w}"),
               "fits_h": fits("h", 0, filter), "fits_w": fits("w", 1, filter),
               "step": rule("im2col_step <= batch && batch % im2col_step == 0",
                            "im2col_step: wanted a divisor of the batch, {batch}, got {im2col_step}"),
               "columns_": rule("columns >= 0 && columns <= 2147483647",
                                "input: wanted im2col_step * Ho * Wo * Kh * Kw * Ci < 2^31 (STRICT), got more",
                                "NOT_SUPPORTED", strict=True),
               "masks": rule("(grad_mask.desc != nullptr) == (mask.desc != nullptr)",
                             'grad_mask: wanted it exactly when mask is given, got only '
                             '{mask.desc != nullptr ? "mask" : "grad_mask"}')},
        fill={"pad_top": "pad[0]", "pad_left": "pad[2]", "stride_h": "stride[0]", "stride_w": "stride[1]",
              "dilation_h": "dilation[0]", "dilation_w": "dilation[1]", "groups": "conv_group",
              "deform_groups": "deformable_group"},
        keys="n=batch h w ci co kh=kernel_h kw=kernel_w stride={two_axes_text(p.shape.stride_h, p.shape.stride_w)} "
             "pad={pads_text(p.shape)} dilation={two_axes_text(p.shape.dilation_h, p.shape.dilation_w)} g=groups "
             f"dg=deform_groups mask? bias={bias}", lead="input")


def form(images, bias=""):
    """Everything but data."""
    every = f"{images} {bias}"
    needed = " ".join(images.split()[:4])
    return (f"descriptor descs({needed}) set layouts({every}) ranks({every}) dtypes({every}) dense({every}) not_empty({images}) "
            f"deformable groups_in groups_out kernel_h_ kernel_w_ fits_h fits_w sizes({every}) step columns_")


def gradient(name):
    return f"descs({name}) layouts({name}) ranks({name}) dtypes({name}) sizes({name}) strides({name})"


getter("mluOpGetDCNForwardWorkspaceSize", "dcn_forward", "dcn_desc input offset mask filter bias output", "size form")

operator("dcn_forward", "mluOpDCNForward", 52, doc="""Deformable convolution: a convolution whose taps are bilinear samples at learnt places (v1), weighted (v2).

  output[n,y,x,o] = bias[o] + sum over taps k = (i, j) and the channels c of o's group of
                    filter[o,i,j,c] * mask[n,y,x,g,k] * sample(input[n,:,:,c], v, u),
  v = y * stride_h - pad_top + i * dilation_h + offset[n,y,x,g,k,0],
  u = x * stride_w - pad_left + j * dilation_w + offset[n,y,x,g,k,1],  g the deformable group of c;
  a sample is 0 unless -1 < v < H and -1 < u < W, and pixels outside the map are 0.

An empty tensor: BAD_PARAM. STRICT: im2col_step * Ho * Wo * Kh * Kw * Ci < 2^31, else NOT_SUPPORTED. Cost:
N*Ho*Wo*Kh*Kw*Ci*(4 + Co/conv_group) multiply-adds. Source: Dai et al., "Deformable Convolutional Networks", ICCV
2017; Zhu et al., "Deformable ConvNets v2", CVPR 2019; docs/op/dcn.md.""", args="""
    descriptor const mluOpDCNDescriptor_t dcn_desc
    in input T image [batch, h, w, ci]
    in offset T image [batch, out_h, out_w, offsets] -- of each deformable group and tap the rows, then the columns
    in? mask T image [batch, out_h, out_w, taps] -- NULL with a NULL descriptor: 1 (v1)
    in filter T image [co, kernel_h, kernel_w, group_ci] py=weight
    in? bias T [co] -- NULL with a NULL descriptor: 0
    workspace
    out output T image [batch, out_h, out_w, co] -- Ho = (H + pad_top + pad_bottom - dilation_h * (Kh - 1) - 1) /
        -- stride_h + 1, Wo likewise
    """,
    order=form("input filter output offset mask", "bias") + " | both(mask bias) data workspace overlap",
    **of("filter", "output", "{p.bias != nullptr ? 1 : 0}"),
    notes={'mask': 'may be NULL', 'bias': '[co]; may be NULL'})

getter("mluOpGetDCNBakcwardDataWorkspaceSize", "dcn_backward_data",
       "dcn_desc input offset mask filter grad_output grad_input grad_offset grad_mask", "size form",
       more="The name is the vendor's, letter by letter.")

operator("dcn_backward_data", "mluOpDCNBackwardData", 53, doc="""Gradients of mluOpDCNForward in input (a scatter-add), offset and mask.

Bitwise reproducible at any number of threads.""", args="""
    descriptor const mluOpDCNDescriptor_t dcn_desc
    in input T image [batch, h, w, ci]
    in offset T image [batch, out_h, out_w, offsets]
    in? mask T image [batch, out_h, out_w, taps]
    in filter T image [co, kernel_h, kernel_w, group_ci] py=weight
    in grad_output T image [batch, out_h, out_w, co]
    workspace void* workspace, const size_t workspace_size
    out grad_input T like input
    out grad_offset T like offset -- a sample outside the map has gradient 0; one on a pixel has the slope towards
        -- greater coordinates
    out? grad_mask T like mask -- NULL with a NULL descriptor exactly where mask is
    """,
    order=" ".join([form("input filter grad_output offset mask"), gradient("grad_input"), gradient("grad_offset"), "masks",
                    gradient("grad_mask"), "| both(mask grad_mask) data workspace overlap"]),
    **of("filter", "grad_output", "{0}"),  # such a call has none
    notes={'mask': 'may be NULL', 'grad_mask': 'NULL exactly when mask is'})

getter("mluOpGetDCNBackwardWeightWorkspaceSize", "dcn_backward_weight",
       "dcn_desc input offset mask grad_output grad_filter grad_bias", "size form")

operator("dcn_backward_weight", "mluOpDCNBackwardWeight", 54, doc="""Gradients of mluOpDCNForward in filter and bias.

Bitwise reproducible at any number of threads.""", args="""
    descriptor const mluOpDCNDescriptor_t dcn_desc
    in input T image [batch, h, w, ci]
    in offset T image [batch, out_h, out_w, offsets]
    in? mask T image [batch, out_h, out_w, taps]
    in grad_output T image [batch, out_h, out_w, co]
    workspace
    out grad_filter T image [co, kernel_h, kernel_w, group_ci] py=grad_weight
    out? grad_bias T [co] -- NULL with a NULL descriptor: not wanted
    """,
    order=form("input grad_filter grad_output offset mask", "grad_bias") + " | both(mask grad_bias) data workspace overlap",
    **of("grad_filter", "grad_output", "{p.grad_bias != nullptr ? 1 : 0}"),
    notes={'mask': 'may be NULL', 'grad_bias': '[co]; may be NULL'})
