#include "common/op/masked_im2col.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

/// The image, not empty, and the chosen pixels; their columns, of which each channel has `window` in `col`.
Status check_column_tensors(const TensorArg& image, const TensorArg& h, const TensorArg& w, const TensorArg& col,
                            std::int64_t window, mluOpExtContract_t contract) {
  MLUOPS_RETURN_IF_FINISHED(has_layout(image, MLUOP_LAYOUT_NCHW));
  MLUOPS_RETURN_IF_FINISHED(has_rank(image, 4));
  MLUOPS_RETURN_IF_FINISHED(has_dim(image, 0, 1, "one image"));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(image, contract));
  MLUOPS_RETURN_IF_FINISHED(are_arrays({h, w, col}));
  MLUOPS_RETURN_IF_FINISHED(same_dtype(col, image));
  for (const TensorArg& t : {h, w}) {
    MLUOPS_RETURN_IF_FINISHED(has_dtype(t, MLUOP_DTYPE_INT32));
    MLUOPS_RETURN_IF_FINISHED(has_rank(t, 1));
  }
  MLUOPS_RETURN_IF_FINISHED(has_dim(w, 0, h.desc->dims[0], h.name));
  MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable({image, h, w, col}, contract));
  MLUOPS_RETURN_IF_FINISHED(not_empty(image));
  MLUOPS_RETURN_IF_FINISHED(has_countable_pixels(image));
  MLUOPS_RETURN_IF_FINISHED(has_rank(col, 2));
  const std::int64_t channels = image.desc->dims[1];
  if (window == 1) {
    MLUOPS_RETURN_IF_FINISHED(has_dim(col, 0, channels, "the channels of the image"));
  } else if (col.desc->dims[0] % window != 0 || col.desc->dims[0] / window != channels) {
    return Status::bad_param(std::string(col.name) + ": wanted dimension 0 to be " + std::to_string(channels) +
                             " channels times a window of " + std::to_string(window) + ", got " + dims_text(*col.desc));
  }
  return has_dim(col, 1, h.desc->dims[0], h.name);
}

}  // namespace

Status check_masked_im2col_forward(const MaskedIm2colArgs& a, mluopsMaskedIm2colForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  const auto all = {a.feature, a.mask_h_idx, a.mask_w_idx, a.data_col};
  MLUOPS_RETURN_IF_FINISHED(have_descs(all));
  MLUOPS_RETURN_IF_FINISHED(at_least("kernel_h", a.kernel_h, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("kernel_w", a.kernel_w, 1));
  const std::int64_t window = std::int64_t{a.kernel_h} * a.kernel_w;
  MLUOPS_RETURN_IF_FINISHED(
      check_column_tensors(a.feature, a.mask_h_idx, a.mask_w_idx, a.data_col, window, a.handle->contract));
  if (is_empty(a.data_col)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data(all));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.feature, a.mask_h_idx, a.mask_w_idx}, {a.data_col}));
  const auto& dims = a.feature.desc->dims;
  problem = {{a.feature.desc->dtype, dims[1], dims[2], dims[3], a.data_col.desc->dims[1], a.kernel_h, a.kernel_w,
              a.pad_h, a.pad_w},
             a.feature.data,
             static_cast<const std::int32_t*>(a.mask_h_idx.data),
             static_cast<const std::int32_t*>(a.mask_w_idx.data),
             const_cast<void*>(a.data_col.data)};
  return Status::go_on();
}

Status check_masked_col2im_forward(const MaskedCol2imArgs& a, mluopsMaskedCol2imForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.col, a.mask_h_idx, a.mask_w_idx, a.im}));
  MLUOPS_RETURN_IF_FINISHED(check_column_tensors(a.im, a.mask_h_idx, a.mask_w_idx, a.col, 1, a.handle->contract));
  MLUOPS_RETURN_IF_FINISHED(have_data({a.im}));
  if (!is_empty(a.col)) MLUOPS_RETURN_IF_FINISHED(have_data({a.col, a.mask_h_idx, a.mask_w_idx}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.col, a.mask_h_idx, a.mask_w_idx}, {a.im}));
  const auto& dims = a.im.desc->dims;
  problem = {{a.im.desc->dtype, dims[1], dims[2], dims[3], a.col.desc->dims[1], 1, 1, 0, 0},
             a.col.data,
             static_cast<const std::int32_t*>(a.mask_h_idx.data),
             static_cast<const std::int32_t*>(a.mask_w_idx.data),
             const_cast<void*>(a.im.data)};
  return Status::go_on();
}

std::string case_keys(const mluopsMaskedIm2colForwardProblem& p) {
  const mluopsMaskedIm2colShape& s = p.shape;
  CaseKeys keys = CaseKeys()("c", s.c)("h", s.h)("w", s.w)("m", s.m)("kh", s.kernel_h)("kw", s.kernel_w);
  return keys("padh", s.pad_h)("padw", s.pad_w).text();
}
std::string case_keys(const mluopsMaskedCol2imForwardProblem& p) {
  const mluopsMaskedIm2colShape& s = p.shape;
  return CaseKeys()("c", s.c)("h", s.h)("w", s.w)("m", s.m).text();
}

}  // namespace mluops::op
