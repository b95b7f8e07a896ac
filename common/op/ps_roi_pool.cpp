#include "common/op/ps_roi_pool.h"

#include <limits>

#include "common/case_text.h"
#include "common/op/rois.h"

namespace mluops::op {
namespace {

Status check_numbers(const PsRoiPoolNumbers& n, mluOpExtContract_t contract) {
  MLUOPS_RETURN_IF_FINISHED(at_least("pooled_height", n.pooled_height, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("pooled_width", n.pooled_width, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("output_dim", n.output_dim, 1));
  if (contract != MLUOP_EXT_CONTRACT_EXTENDED && n.pooled_width != n.pooled_height) {
    return Status::bad_param("pooled_width: wanted pooled_height (" + std::to_string(n.pooled_height) + "), got " +
                             std::to_string(n.pooled_width));
  }
  return is_positive("spatial_scale", n.spatial_scale);
}

/// mapping_channel counts channels in 32 bits; no product of the three leaves int64 before it is compared.
Status has_channels(const TensorArg& image, const PsRoiPoolNumbers& n) {
  const std::int64_t bins = std::int64_t{n.pooled_height} * n.pooled_width;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (bins > kMost / n.output_dim) {
    return Status::not_supported(std::string(image.name) + ": wanted at most " + std::to_string(kMost) + " channels");
  }
  return has_dim(image, Axis::kC, bins * n.output_dim, "pooled_height * pooled_width * output_dim");
}

/// Bins (output, top_grad or mapping_channel).
Status check_bins(const TensorArg& bins, const TensorArg& image, const TensorArg& rois, const PsRoiPoolNumbers& n) {
  MLUOPS_RETURN_IF_FINISHED(has_layout(bins, image.desc->layout));
  MLUOPS_RETURN_IF_FINISHED(has_rank(bins, 4));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kN, rois.desc->dims[0], "the number of RoIs"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kH, n.pooled_height, "pooled_height"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(bins, Axis::kW, n.pooled_width, "pooled_width"));
  return has_dim(bins, Axis::kC, n.output_dim, "output_dim");
}

/// Both directions: the image (input or bottom_grad), the bins, rois, and where they come from.
Status check_tensors(const TensorArg& image, const TensorArg& bins, const TensorArg& rois, const TensorArg& mapping,
                     const PsRoiPoolNumbers& n, mluOpExtContract_t contract) {
  MLUOPS_RETURN_IF_FINISHED(have_descs({image, rois, bins}));
  if (mapping.desc == nullptr || !is_empty(mapping)) MLUOPS_RETURN_IF_FINISHED(present_or_absent(mapping));
  MLUOPS_RETURN_IF_FINISHED(check_numbers(n, contract));
  MLUOPS_RETURN_IF_FINISHED(has_image_layout(image, image, contract));
  MLUOPS_RETURN_IF_FINISHED(has_rank(image, 4));
  MLUOPS_RETURN_IF_FINISHED(are_arrays({rois}));
  MLUOPS_RETURN_IF_FINISHED(is_rois(rois));
  MLUOPS_RETURN_IF_FINISHED(check_bins(bins, image, rois, n));
  MLUOPS_RETURN_IF_FINISHED(is_float(image, contract));
  for (const TensorArg* t : {&bins, &rois}) MLUOPS_RETURN_IF_FINISHED(same_dtype(*t, image));
  MLUOPS_RETURN_IF_FINISHED(has_channels(image, n));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable({image, rois, bins}, contract));
  if (mapping.desc != nullptr) {
    MLUOPS_RETURN_IF_FINISHED(check_bins(mapping, image, rois, n));
    MLUOPS_RETURN_IF_FINISHED(has_dtype(mapping, MLUOP_DTYPE_INT32));
    MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable({mapping}, contract));
  }
  if (contract == MLUOP_EXT_CONTRACT_EXTENDED || is_empty(image)) return Status::go_on();
  return not_empty(rois);
}

mluopsPsRoiPoolShape shape_of(const TensorArg& image, const TensorArg& rois, const PsRoiPoolNumbers& n) {
  return {image.desc->dtype,    size_of(image, Axis::kN), size_of(image, Axis::kH), size_of(image, Axis::kW),
          rois.desc->dims[0],   n.pooled_height,          n.pooled_width,           n.output_dim,
          n.spatial_scale.value};
}

}  // namespace

Status check_ps_roi_pool_forward(const PsRoiPoolForwardArgs& a, mluopsPsRoiPoolForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(check_tensors(a.input, a.output, a.rois, a.mapping_channel, a.numbers, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(in_range("group_size", a.group_size, a.numbers.pooled_height, a.numbers.pooled_height));
  if (is_empty(a.input) || is_empty(a.output)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.input, a.rois, a.output}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input, a.rois}, {a.output, a.mapping_channel}));
  const mluopsPsRoiPoolShape shape = shape_of(a.input, a.rois, a.numbers);
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.rois, shape.batch));
  problem = {shape,
             a.input.data,
             a.rois.data,
             const_cast<void*>(a.output.data),
             int32_data(a.mapping_channel),
             a.input.desc->layout,
             a.numbers.spatial_scale.of(shape.dtype)};
  return Status::go_on();
}

Status check_ps_roi_pool_backward(const PsRoiPoolBackwardArgs& a, mluopsPsRoiPoolBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(
      check_tensors(a.bottom_grad, a.top_grad, a.rois, a.mapping_channel, a.numbers, a.handle->contract));
  if (is_empty(a.bottom_grad)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.bottom_grad}));
  if (!is_empty(a.top_grad)) MLUOPS_RETURN_IF_FINISHED(have_data({a.top_grad, a.rois}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.top_grad, a.rois, a.mapping_channel}, {a.bottom_grad}));
  const mluopsPsRoiPoolShape shape = shape_of(a.bottom_grad, a.rois, a.numbers);
  MLUOPS_RETURN_IF_FINISHED(check_batch_indices(a.rois, shape.batch));
  problem = {shape,
             a.top_grad.data,
             a.rois.data,
             static_cast<const std::int32_t*>(a.mapping_channel.data),
             const_cast<void*>(a.bottom_grad.data),
             a.bottom_grad.desc->layout,
             a.numbers.spatial_scale.of(shape.dtype)};
  return Status::go_on();
}

namespace {

template <class Problem>
std::string ps_pool_keys(const Problem& p) {
  const mluopsPsRoiPoolShape& s = p.shape;
  CaseKeys keys = CaseKeys()("b", s.batch)("h", s.h)("w", s.w)("d", s.output_dim)("r", s.rois)("ph", s.pooled_h);
  return keys("pw", s.pooled_w)
      .scalar("scale", p.exact_spatial_scale, s.dtype)("mapping", p.mapping_channel != nullptr ? 1 : 0)
      .text();
}

}  // namespace

std::string case_keys(const mluopsPsRoiPoolForwardProblem& p) {
  return ps_pool_keys(p);
}
std::string case_keys(const mluopsPsRoiPoolBackwardProblem& p) {
  return ps_pool_keys(p);
}

}  // namespace mluops::op
