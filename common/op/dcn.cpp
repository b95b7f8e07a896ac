#include "common/op/dcn.h"

#include <limits>

#include <algorithm>

#include "common/case_text.h"
#include "common/shape.h"

namespace mluops::op {
namespace {

bool present(const TensorArg& t) {
  return t.desc != nullptr;
}

/// The 4-D tensors of a call; mask among them if it is there.
template <class F>
Status for_images(const DcnArgs& a, F&& f) {
  for (const TensorArg* t : {&a.input, &a.offset, &a.mask, &a.filter, &a.output}) {
    if (present(*t)) MLUOPS_RETURN_IF_FINISHED(f(*t));
  }
  return Status::go_on();
}

Status check_types(const DcnArgs& a) {
  const mluOpExtContract_t contract = a.handle->contract;
  const auto has_form = [&](const TensorArg& t) -> Status {
    MLUOPS_RETURN_IF_FINISHED(has_image_layout(t, a.input, contract));
    return has_rank(t, 4);
  };
  MLUOPS_RETURN_IF_FINISHED(for_images(a, has_form));
  if (present(a.bias)) {
    MLUOPS_RETURN_IF_FINISHED(has_layout(a.bias, MLUOP_LAYOUT_ARRAY));
    MLUOPS_RETURN_IF_FINISHED(has_rank(a.bias, 1));
  }
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(a.input, contract));
  MLUOPS_RETURN_IF_FINISHED(for_images(a, [&](const TensorArg& t) { return same_dtype(t, a.input); }));
  if (present(a.bias)) MLUOPS_RETURN_IF_FINISHED(same_dtype(a.bias, a.input));
  const auto is_plain = [&](const TensorArg& t) { return are_dense_and_countable({t}, contract); };
  MLUOPS_RETURN_IF_FINISHED(for_images(a, is_plain));
  if (present(a.bias)) MLUOPS_RETURN_IF_FINISHED(is_plain(a.bias));
  return for_images(a, [](const TensorArg& t) { return not_empty(t); });
}

/// Output pixels along an axis: less than 1 where the filter is larger than the padded map.
std::int64_t out_size(std::int64_t size, std::int64_t padding, std::int64_t kernel, std::int64_t stride,
                      std::int64_t dilation) {
  const std::int64_t free = size + padding - dilation * (kernel - 1) - 1;
  return free < 0 ? 0 : free / stride + 1;
}

Status check_output_size(const DcnArgs& a, Axis axis, const int* pad, int which) {
  const mluOpDCNStruct& d = *a.dcn_desc;
  const std::int64_t kernel = size_of(a.filter, axis), size = size_of(a.input, axis);
  MLUOPS_RETURN_IF_FINISHED(in_range("filter", kernel, 1, std::numeric_limits<std::int32_t>::max()));
  const std::int64_t padding = std::int64_t{pad[0]} + pad[1];
  const std::int64_t wanted = out_size(size, padding, kernel, d.stride[which], d.dilation[which]);
  if (wanted < 1) {
    return Status::bad_param(std::string(a.filter.name) + ": wanted " + (which == 0 ? "height" : "width") +
                             " that fits into the padded " + a.input.name + " (" + std::to_string(size + padding) +
                             "), got " + std::to_string(kernel) + " with dilation " +
                             std::to_string(d.dilation[which]));
  }
  return has_dim(a.output, axis, wanted,
                 which == 0 ? "the height that follows from input, filter and dcn_desc"
                            : "the width that follows from input, filter and dcn_desc");
}

Status divides(const char* name, std::int64_t parts, const TensorArg& t, std::int64_t channels) {
  if (channels % parts == 0) return Status::go_on();
  return Status::bad_param(std::string(name) + ": wanted a divisor of the " + std::to_string(channels) +
                           " channels of " + t.name + ", got " + std::to_string(parts));
}

Status check_groups(const DcnArgs& a) {
  const mluOpDCNStruct& d = *a.dcn_desc;
  const std::int64_t ci = size_of(a.input, Axis::kC), co = size_of(a.filter, Axis::kN);
  MLUOPS_RETURN_IF_FINISHED(divides("deformable_group", d.deformable_group, a.input, ci));
  MLUOPS_RETURN_IF_FINISHED(divides("conv_group", d.conv_group, a.input, ci));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, Axis::kC, co, "the number of filters"));
  MLUOPS_RETURN_IF_FINISHED(divides("conv_group", d.conv_group, a.output, co));
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.filter, Axis::kC, ci / d.conv_group, "the channels of a convolution group"));
  if (present(a.bias)) return has_dim(a.bias, 0, co, "the number of filters");
  return Status::go_on();
}

/// offset or mask: a pixel of theirs for each of the output's.
Status check_of_taps(const DcnArgs& a, const TensorArg& t, std::int64_t numbers, const char* meaning) {
  for (const Axis axis : {Axis::kN, Axis::kH, Axis::kW}) {
    MLUOPS_RETURN_IF_FINISHED(has_dim(t, axis, size_of(a.output, axis), "that of the output"));
  }
  const auto wanted = checked_product(
      {numbers, a.dcn_desc->deformable_group, size_of(a.filter, Axis::kH), size_of(a.filter, Axis::kW)});
  if (!wanted) return Status::bad_param(std::string(a.filter.name) + ": wanted fewer taps, got more than int64 counts");
  return has_dim(t, Axis::kC, *wanted, meaning);
}

Status check_relations(const DcnArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(has_dim(a.output, Axis::kN, size_of(a.input, Axis::kN), "the batch"));
  MLUOPS_RETURN_IF_FINISHED(check_groups(a));
  MLUOPS_RETURN_IF_FINISHED(check_output_size(a, Axis::kH, a.dcn_desc->pad, 0));
  MLUOPS_RETURN_IF_FINISHED(check_output_size(a, Axis::kW, a.dcn_desc->pad + 2, 1));
  MLUOPS_RETURN_IF_FINISHED(check_of_taps(a, a.offset, 2, "two for each tap of each deformable group"));
  if (present(a.mask)) return check_of_taps(a, a.mask, 1, "one for each tap of each deformable group");
  return Status::go_on();
}

/// im2col_step divides the batch, and STRICT: the columns of so many images can be counted with 31 bits.
Status check_step(const DcnArgs& a) {
  const std::int64_t batch = size_of(a.input, Axis::kN), step = a.dcn_desc->im2col_step;
  if (step > batch || batch % step != 0) {
    return Status::bad_param("im2col_step: wanted a divisor of the batch, " + std::to_string(batch) + ", got " +
                             std::to_string(step));
  }
  if (a.handle->contract == MLUOP_EXT_CONTRACT_EXTENDED) return Status::go_on();
  const auto columns =
      checked_product({step, size_of(a.output, Axis::kH), size_of(a.output, Axis::kW), size_of(a.filter, Axis::kH),
                       size_of(a.filter, Axis::kW), size_of(a.input, Axis::kC)});
  if (columns && *columns <= std::numeric_limits<std::int32_t>::max()) return Status::go_on();
  return Status::not_supported(std::string(a.input.name) +
                               ": wanted im2col_step * Ho * Wo * Kh * Kw * Ci < 2^31 (STRICT), got more");
}

/// Everything but data.
Status check_form(const DcnArgs& a) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(not_null("dcn_desc", a.dcn_desc));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.input, a.offset, a.filter, a.output}));
  MLUOPS_RETURN_IF_FINISHED(at_least("im2col_step (dcn_desc was never set)", a.dcn_desc->im2col_step, 1));
  MLUOPS_RETURN_IF_FINISHED(check_types(a));
  MLUOPS_RETURN_IF_FINISHED(check_relations(a));
  return check_step(a);
}

Status check_gradient(const TensorArg& gradient, const TensorArg& like, mluOpExtContract_t contract) {
  MLUOPS_RETURN_IF_FINISHED(have_descs({gradient}));
  MLUOPS_RETURN_IF_FINISHED(has_image_layout(gradient, like, contract));
  MLUOPS_RETURN_IF_FINISHED(has_rank(gradient, 4));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(gradient, like));
  MLUOPS_RETURN_IF_FINISHED(same_dims(gradient, like));
  return is_dense(gradient, MLUOP_STATUS_NOT_SUPPORTED);
}

Status check_gradients(const DcnArgs& a, const DcnDataGradients& g) {
  MLUOPS_RETURN_IF_FINISHED(check_gradient(g.input, a.input, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(check_gradient(g.offset, a.offset, a.handle->contract));
  if (present(g.mask) != present(a.mask)) {
    return Status::bad_param(std::string(g.mask.name) + ": wanted it exactly when " + a.mask.name +
                             " is given, got only " + (present(a.mask) ? a.mask : g.mask).name);
  }
  return present(g.mask) ? check_gradient(g.mask, a.mask, a.handle->contract) : Status::go_on();
}

Status check_data(const DcnArgs& a) {
  for (const TensorArg* t : {&a.mask, &a.bias}) MLUOPS_RETURN_IF_FINISHED(present_or_absent(*t));
  MLUOPS_RETURN_IF_FINISHED(have_data({a.input, a.offset, a.filter, a.output}));
  return a.workspace_size > 0 ? not_null("workspace", a.workspace) : Status::go_on();
}

mluopsDcnShape shape_of(const DcnArgs& a) {
  const mluOpDCNStruct& d = *a.dcn_desc;
  return {a.input.desc->dtype,
          size_of(a.input, Axis::kN),
          size_of(a.input, Axis::kH),
          size_of(a.input, Axis::kW),
          size_of(a.input, Axis::kC),
          size_of(a.filter, Axis::kN),
          size_of(a.filter, Axis::kH),
          size_of(a.filter, Axis::kW),
          size_of(a.output, Axis::kH),
          size_of(a.output, Axis::kW),
          d.pad[0],
          d.pad[2],
          d.stride[0],
          d.stride[1],
          d.dilation[0],
          d.dilation[1],
          d.conv_group,
          d.deformable_group};
}

void* result(const TensorArg& t) {
  return const_cast<void*>(t.data);
}

}  // namespace

Status check_dcn_descriptor(mluOpDCNDescriptor_t dcn_desc, const DcnForm& form) {
  MLUOPS_RETURN_IF_FINISHED(not_null("dcn_desc", dcn_desc));
  MLUOPS_RETURN_IF_FINISHED(in_range("dimNb", form.dimensions, 4, 4));
  MLUOPS_RETURN_IF_FINISHED(not_null("pad", form.pad));
  MLUOPS_RETURN_IF_FINISHED(not_null("stride", form.stride));
  MLUOPS_RETURN_IF_FINISHED(not_null("dilation", form.dilation));
  for (int i = 0; i < 4; ++i) MLUOPS_RETURN_IF_FINISHED(at_least("pad", form.pad[i], 0));
  for (int i = 0; i < 2; ++i) MLUOPS_RETURN_IF_FINISHED(at_least("stride", form.stride[i], 1));
  for (int i = 0; i < 2; ++i) MLUOPS_RETURN_IF_FINISHED(at_least("dilation", form.dilation[i], 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("deformable_group", form.deformable_group, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("conv_group", form.conv_group, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("im2col_step", form.im2col_step, 1));
  if (form.compute_type == MLUOP_DTYPE_FLOAT) return Status::go_on();
  return Status::bad_param(std::string("compute_type: wanted DTYPE_FLOAT, got ") + dtype_name(form.compute_type));
}

Status check_dcn_forward(const DcnArgs& a, mluopsDcnForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a));
  MLUOPS_RETURN_IF_FINISHED(check_data(a));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.offset, a.mask, a.filter, a.bias}, {a.output}));
  problem = {shape_of(a),   a.input.data, a.offset.data,    a.mask.data,
             a.filter.data, a.bias.data,  result(a.output), a.input.desc->layout};
  return Status::go_on();
}

Status check_dcn_backward_data(const DcnArgs& a, const DcnDataGradients& g, mluopsDcnBackwardDataProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a));
  MLUOPS_RETURN_IF_FINISHED(check_gradients(a, g));
  MLUOPS_RETURN_IF_FINISHED(check_data(a));
  MLUOPS_RETURN_IF_FINISHED(have_data({g.input, g.offset}));
  MLUOPS_RETURN_IF_FINISHED(present_or_absent(g.mask));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.offset, a.mask, a.filter, a.output}, {g.input, g.offset, g.mask}));
  problem = {shape_of(a),   a.input.data,    a.offset.data,    a.mask.data,    a.filter.data,
             a.output.data, result(g.input), result(g.offset), result(g.mask), a.input.desc->layout};
  return Status::go_on();
}

Status check_dcn_backward_weight(const DcnArgs& a, mluopsDcnBackwardWeightProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(check_form(a));
  MLUOPS_RETURN_IF_FINISHED(check_data(a));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.offset, a.mask, a.output}, {a.filter, a.bias}));
  problem = {shape_of(a),   a.input.data,     a.offset.data,  a.mask.data,
             a.output.data, result(a.filter), result(a.bias), a.input.desc->layout};
  return Status::go_on();
}

Status check_dcn_workspace(const DcnArgs& a, const DcnDataGradients* gradients, std::size_t* size) {
  MLUOPS_RETURN_IF_FINISHED(not_null("workspace_size", size));
  MLUOPS_RETURN_IF_FINISHED(check_form(a));
  if (gradients != nullptr) MLUOPS_RETURN_IF_FINISHED(check_gradients(a, *gradients));
  *size = 0;
  return Status::nothing_to_do();
}

namespace {

/// Pixels behind the map that give so many output pixels: as many as before it where that will do.
std::int64_t pad_behind(std::int64_t size, std::int64_t pad, std::int64_t kernel, std::int64_t stride,
                        std::int64_t dilation, std::int64_t out) {
  if (out_size(size, 2 * pad, kernel, stride, dilation) == out) return pad;
  return std::max<std::int64_t>(0, (out - 1) * stride + dilation * (kernel - 1) + 1 - size - pad);
}

CaseKeys keys_of(const mluopsDcnShape& s, const void* mask) {
  const std::int64_t pads[] = {s.pad_top, pad_behind(s.h, s.pad_top, s.kernel_h, s.stride_h, s.dilation_h, s.out_h),
                               s.pad_left, pad_behind(s.w, s.pad_left, s.kernel_w, s.stride_w, s.dilation_w, s.out_w)};
  const std::int64_t strides[] = {s.stride_h, s.stride_w}, dilations[] = {s.dilation_h, s.dilation_w};
  CaseKeys keys;
  keys("n", s.batch)("h", s.h)("w", s.w)("ci", s.ci)("co", s.co)("kh", s.kernel_h)("kw", s.kernel_w);
  keys("stride", axes_text(strides, 2))("pad", axes_text(pads, 4))("dilation", axes_text(dilations, 2));
  return keys("g", s.groups)("dg", s.deform_groups)("mask", mask != nullptr ? 1 : 0);
}

}  // namespace

std::string case_keys(const mluopsDcnForwardProblem& p) {
  return keys_of(p.shape, p.mask)("bias", p.bias != nullptr ? 1 : 0).text();
}
std::string case_keys(const mluopsDcnBackwardDataProblem& p) {
  return keys_of(p.shape, p.mask)("bias", 0).text();  // such a call has none
}
std::string case_keys(const mluopsDcnBackwardWeightProblem& p) {
  return keys_of(p.shape, p.mask)("bias", p.grad_bias != nullptr ? 1 : 0).text();
}

}  // namespace mluops::op
