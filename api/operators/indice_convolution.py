"""IndiceConvolution."""
from api.generate.describe import *

family("IndiceConvolution", "statuses as MLU-OPS gives them; mmcv's indice_conv.", numpy=False,
       letters={"inputs": "L", "outputs": "M", "volume": "D, H, W", "offsets": "K", "places": "P"},
       includes="common/op/indice_pairs.h", hooks="""
/// Filters as [offsets, ci, co], whatever their layout.
struct FilterForm {
  std::int64_t offsets, ci, co;
  std::int64_t strides[3];
};
/// filters has four dimensions or more and is countable.
FilterForm form_of(const TensorArg& filters);
/// Four dimensions or more.
Status is_filter(const TensorArg& filters, int most_axes);
/// Ranks by layout: ARRAY has the axes of space first, then ci and co. EXTENDED: 2 to 4 axes. `status`: what is wrong.
Status has_filter_layout(const TensorArg& filters, int least_axes, int most_axes, bool strict, mluOpStatus_t status);
/// A place of indice_pairs for each row, where inverse is 0.
Status rows_have_places(const TensorArg& rows, const TensorArg& pairs, std::int64_t inverse);
/// Numbers of pairs of the gradient in features.
Status are_data_pairs(const IndiceConvolutionBackwardDataArgs& args);
/// For the case text: the sides of filters of so many offsets, a cube of three axes or a row; the order of filters.
std::string sides_text(const mluopsIndicePairs& pairs);
const char* filters_text(const mluopsIndiceConvolutionShape& s, const mluopsIndicePairs& pairs);
""")

struct("mluopsIndicePairs", """
  int64_t offsets, places;
  const int32_t* indice_pairs;
  const int64_t* indice_num;
""", doc="""Pairs of rows: indice_pairs [offsets,2,places], whose numbers are arbitrary; the first indice_num[k] of each offset
count, 0 <= indice_num[k] <= places.""")

SHAPE = struct("mluopsIndiceConvolutionShape", """
  mluOpDataType_t dtype;
  int64_t inputs, outputs;
  int64_t ci, co;
  int64_t filter_strides[3];
  int32_t inverse;
""", doc="""features [inputs,ci], output [outputs,co]; element (k,i,o) of the filters is strides[0]*k + strides[1]*i +
strides[2]*o, all of them a dense tensor. inverse: inputs are the second row of the pairs, outputs the first.""")


def of(rows, filters, results, least_axes, status, layout_status, special):
    """What the three functions share, by their names of the tensors."""
    every = f"{rows} {filters} indice_pairs {results}"
    return dict(
        order=f"descs numbers(sub_m inverse) no_inverse hook(is_filter {filters} 3) ranks({rows} indice_pairs {results}) "
              f"dtypes({rows} {filters} {results}) dense({every}) indexable({rows}.0 {results}.0) "
              f"sizes({rows} {results}) volume_ hook(rows_have_places {rows} indice_pairs inverse) "
              f"hook(check_indice_pairs indice_pairs indice_num) "
              f"hook(has_filter_layout {filters} {least_axes} 3 strict MLUOP_STATUS_{layout_status}) {special} | done_if_empty({every}) data workspace overlap",
        derive={"ci": f"form_of({filters}).ci", "co": f"form_of({filters}).co", "volume": f"form_of({filters}).offsets",
                "most": "most_pairs(indice_pairs, indice_num)"},
        say={"ci": f"the input channels of {filters}", "co": f"the output channels of {filters}"},
        rules={"no_inverse": rule("inverse == 0", "inverse: wanted 0, got 1", status, strict=True),
               "volume_": rule("volume == offsets", f"indice_pairs: wanted dimension 0 to be {{volume}} (the volume of {filters}), "
                                                    "got {offsets} in {shape_text(indice_pairs)}")},
        fill={"pairs": "indice_pairs_of(indice_pairs, indice_num)", "inverse": "static_cast<std::int32_t>(args.inverse)",
              "filter_strides[3]": "{" + ", ".join(f"form_of({filters}).strides[{i}]" for i in range(3)) + "}"},
        shape=SHAPE, lead=rows,
        keys="l=inputs m=outputs ci co k={sides_text(p.pairs)} inverse filters={filters_text(p.shape, p.pairs)}")


getter("mluOpGetIndiceConvolutionForwardWorkspaceSize", "indice_convolution_forward",
       "features filters indice_pairs features_out indice_num num_act_out inverse sub_m", "size form", """
    most, ci, element_bytes(features)
    most, co, element_bytes(features)
    features_out.desc->elements, element_bytes(features)
    """, "a row of inputs and one of outputs for each pair of the offset with most of them, and the outputs once more",
       size="size")

operator("indice_convolution_forward", "mluOpIndiceConvolutionForward", 46, doc="""A convolution over the pairs that mluOpGetIndicePairs found.

  features_out[o,:] = sum over k and the pairs (i, o) of k of  features[i,:] * filters[k]     (zeros without pairs)
  The pairs of k are indice_pairs[k,0,p], indice_pairs[k,1,p], p < indice_num[k]; inverse: outputs stand in [k,0,:],
  inputs in [k,1,:]. A pair with an index outside its tensor counts nothing.

A tensor empty: SUCCESS, nothing written. Cost: 2*Ci*Co flops a pair. Source: Yan et al., "SECOND", 2018; mmcv's indice_conv.""", args="""
    in features T any [inputs, ci]
    in filters T any [volume, ci, co] -- layout ARRAY; NDHWC: [Co, D, H, W, Ci]; NCDHW: [Co, Ci, D, H, W]; EXTENDED
        -- also two or four axes of space: ARRAY, and NHWC, NCHW, HWCN
    in indice_pairs INT32 any [offsets, 2, places] -- K = D*H*W, P = L; inverse: any number of places P
    host const int64_t indice_num[] py=indice_pair_num -- K numbers of pairs in the host's memory, each at most P
    const int64_t num_act_out py=num_activate_out -- M
    const int64_t inverse in 0..1 -- 1 under EXTENDED alone
    const int64_t sub_m in 0..1 py=subm -- without effect
    workspace
    out features_out T any [outputs, co]
    """,
    **of("features", "filters", "features_out", 3, "NOT_SUPPORTED", "NOT_SUPPORTED", "hook(has_dim features_out 0 num_act_out \"num_act_out\")"),
    members="shape, mluopsIndicePairs pairs, features, filters, features_out")

getter("mluOpGetIndiceConvolutionBackwardDataWorkspaceSize", "indice_convolution_backward_data",
       "output_grad filters indice_pairs input_grad indice_num inverse", "size form", """
    most, ci, element_bytes(input_grad)
    most, co, element_bytes(input_grad)
    filters.desc->elements + input_grad.desc->elements, element_bytes(input_grad)
    """, "a row of each gradient for each pair of the offset with most of them, filters and input_grad once more")

operator("indice_convolution_backward_data", "mluOpIndiceConvolutionBackwardData", 47, doc="""Gradient of mluOpIndiceConvolutionForward in features.

  input_grad[i,:] = sum over k and the pairs (i, o) of k of  output_grad[o,:] * transpose of filters[k]

STRICT: no offset has more than M pairs.""", args="""
    in output_grad:grad_output T any [outputs, co] py=output_grad
    in filters T any [volume, ci, co] -- layouts of the forward function; NHWC, NCHW and HWCN (two axes) under STRICT too
    in indice_pairs INT32 any [offsets, 2, places]
    host const int64_t indice_num[] py=indice_pair_num -- as in the forward function
    const int64_t inverse in 0..1 -- 1 under EXTENDED alone
    const int64_t sub_m in 0..1 py=subm -- 1: M equals L; STRICT: K is odd and no offset has more pairs than the middle one
    workspace void* workspace, const size_t workspace_size
    out input_grad:grad_input T any [inputs, ci] py=input_grad
    """,
    **of("input_grad", "filters", "output_grad", 2, "NOT_SUPPORTED", "BAD_PARAM", "hook(are_data_pairs)"),
    members="shape, mluopsIndicePairs pairs, grad_output, filters, grad_input")

getter("mluOpGetIndiceConvolutionBackwardFilterWorkspaceSize", "indice_convolution_backward_filter",
       "features output_grad indice_pairs filters_grad indice_num inverse sub_m", "size form", """
    most, ci, element_bytes(features)
    most, co, element_bytes(features)
    filters_grad.desc->elements, element_bytes(features)
    """, "a row of inputs and one of outputs for each pair of the offset with most of them, and filters_grad once more",
       size="size")

operator("indice_convolution_backward_filter", "mluOpIndiceConvolutionBackwardFilter", 48, doc="""Gradient of mluOpIndiceConvolutionForward in filters.

  filters_grad[k] = sum over the pairs (i, o) of k of  transpose of features[i,:] * output_grad[o,:]""", args="""
    in features T any [inputs, ci]
    in output_grad:grad_output T any [outputs, co] py=output_grad
    in indice_pairs INT32 any [offsets, 2, places]
    host const int64_t indice_num[] py=indice_pair_num -- as in the forward function
    const int64_t inverse in 0..1 -- 1 under EXTENDED alone, else BAD_PARAM
    const int64_t sub_m in 0..1 py=subm -- without effect
    workspace void* workspace, const size_t workspace_size
    out filters_grad:grad_filters T any [volume, ci, co] py=filters_grad -- shapes and layouts of filters in
        -- mluOpIndiceConvolutionBackwardData
    """,
    **of("features", "filters_grad", "output_grad", 2, "BAD_PARAM", "NOT_SUPPORTED", ""),
    members="shape, mluopsIndicePairs pairs, features, grad_output, grad_filters")
