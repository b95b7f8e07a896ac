#include "common/op/correlation.h"

#include "common/case_text.h"

namespace mluops::op {
namespace {

Status check_numbers(const CorrelationNumbers& n) {
  MLUOPS_RETURN_IF_FINISHED(at_least("kernel_h", n.kernel_h, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("kernel_w", n.kernel_w, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("max_displacement", n.max_displacement, 0));
  MLUOPS_RETURN_IF_FINISHED(at_least("stride_h", n.stride_h, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("stride_w", n.stride_w, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("pad_h", n.pad_h, 0));
  MLUOPS_RETURN_IF_FINISHED(at_least("pad_w", n.pad_w, 0));
  MLUOPS_RETURN_IF_FINISHED(at_least("dilation_h", n.dilation_h, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("dilation_w", n.dilation_w, 1));
  MLUOPS_RETURN_IF_FINISHED(at_least("dilation_patch_h", n.dilation_patch_h, 1));
  return at_least("dilation_patch_w", n.dilation_patch_w, 1);
}

/// Windows that lie inside of `size` pixels and their padding.
std::int64_t windows(std::int64_t size, std::int64_t kernel, std::int64_t pad, std::int64_t dilation,
                     std::int64_t stride) {
  const std::int64_t room = size + 2 * pad - (kernel - 1) * dilation - 1;
  return room < 0 ? 0 : room / stride + 1;
}

mluopsCorrelationShape correlation_shape_of(const TensorArg& image, const CorrelationNumbers& n) {
  const std::int64_t h = size_of(image, Axis::kH), w = size_of(image, Axis::kW);
  return {image.desc->dtype,
          size_of(image, Axis::kN),
          h,
          w,
          size_of(image, Axis::kC),
          windows(h, n.kernel_h, n.pad_h, n.dilation_h, n.stride_h),
          windows(w, n.kernel_w, n.pad_w, n.dilation_w, n.stride_w),
          n.max_displacement,
          n.kernel_h,
          n.kernel_w,
          n.stride_h,
          n.stride_w,
          n.pad_h,
          n.pad_w,
          n.dilation_h,
          n.dilation_w,
          n.dilation_patch_h,
          n.dilation_patch_w};
}

/// `images` have the shape of the first of them.
Status check_correlation_tensors(std::initializer_list<TensorArg> images, const TensorArg& products,
                                 const CorrelationNumbers& n, mluOpExtContract_t contract,
                                 mluopsCorrelationShape& shape) {
  const TensorArg& image = *images.begin();
  for (const TensorArg& t : images) {
    MLUOPS_RETURN_IF_FINISHED(has_image_layout(t, image, contract));
    MLUOPS_RETURN_IF_FINISHED(has_rank(t, 4));
  }
  MLUOPS_RETURN_IF_FINISHED(are_arrays({products}));
  MLUOPS_RETURN_IF_FINISHED(has_rank(products, 5));
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(image, contract));
  for (const TensorArg& t : images) {
    MLUOPS_RETURN_IF_FINISHED(same_dtype(t, image));
    MLUOPS_RETURN_IF_FINISHED(same_dims(t, image));
  }
  MLUOPS_RETURN_IF_FINISHED(same_dtype(products, image));
  shape = correlation_shape_of(image, n);
  if (!is_empty(image)) {
    const auto outside = [&](const char* name, std::int64_t size) {
      return Status::bad_param(std::string(name) + ": wanted a window inside of " + std::to_string(size) +
                               " pixels and their padding, got more");
    };
    if (shape.out_h == 0) return outside("kernel_h", shape.h);
    if (shape.out_w == 0) return outside("kernel_w", shape.w);
  }
  const std::int64_t displacements = 2 * std::int64_t{n.max_displacement} + 1;
  MLUOPS_RETURN_IF_FINISHED(has_dim(products, 0, shape.n, "the number of images"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(products, 1, displacements, "2 max_displacement + 1"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(products, 2, displacements, "2 max_displacement + 1"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(products, 3, shape.out_h, "the windows down"));
  MLUOPS_RETURN_IF_FINISHED(has_dim(products, 4, shape.out_w, "the windows across"));
  for (const TensorArg& t : images) MLUOPS_RETURN_IF_FINISHED(are_dense_and_countable({t}, contract));
  return are_dense_and_countable({products}, contract);
}

}  // namespace

Status check_correlation_forward(const CorrelationForwardArgs& a, mluopsCorrelationForwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.input1, a.input2, a.output}));
  MLUOPS_RETURN_IF_FINISHED(check_numbers(a.numbers));
  mluopsCorrelationShape shape;
  MLUOPS_RETURN_IF_FINISHED(
      check_correlation_tensors({a.input1, a.input2}, a.output, a.numbers, a.handle->contract, shape));
  if (is_empty(a.input1)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.input1, a.input2, a.output}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.input1, a.input2}, {a.output}));
  problem = {shape, a.input1.data, a.input2.data, const_cast<void*>(a.output.data), a.input1.desc->layout};
  return Status::go_on();
}

Status check_correlation_backward(const CorrelationBackwardArgs& a, mluopsCorrelationBackwardProblem& problem) {
  MLUOPS_RETURN_IF_FINISHED(not_null("handle", a.handle));
  MLUOPS_RETURN_IF_FINISHED(have_descs({a.grads, a.input1, a.input2, a.grads1, a.grads2}));
  MLUOPS_RETURN_IF_FINISHED(check_numbers(a.numbers));
  mluopsCorrelationShape shape;
  MLUOPS_RETURN_IF_FINISHED(check_correlation_tensors({a.input1, a.input2, a.grads1, a.grads2}, a.grads, a.numbers,
                                                      a.handle->contract, shape));
  if (is_empty(a.input1)) return Status::nothing_to_do();
  MLUOPS_RETURN_IF_FINISHED(have_data({a.grads, a.input1, a.input2, a.grads1, a.grads2}));
  MLUOPS_RETURN_IF_FINISHED(no_overlap({a.grads, a.input1, a.input2}, {a.grads1, a.grads2}));
  problem = {shape,
             a.grads.data,
             a.input1.data,
             a.input2.data,
             const_cast<void*>(a.grads1.data),
             const_cast<void*>(a.grads2.data),
             a.input1.desc->layout};
  return Status::go_on();
}

namespace {

template <class Problem>
std::string correlation_keys(const Problem& p) {
  const mluopsCorrelationShape& s = p.shape;
  CaseKeys keys = CaseKeys()("n", s.n)("h", s.h)("w", s.w)("c", s.c)("displacement", s.max_displacement);
  keys("kh", s.kernel_h)("kw", s.kernel_w)("sh", s.stride_h)("sw", s.stride_w)("ph", s.pad_h)("pw", s.pad_w);
  keys("dh", s.dilation_h)("dw", s.dilation_w);
  return keys("eh", s.dilation_patch_h)("ew", s.dilation_patch_w).text();
}

}  // namespace

std::string case_keys(const mluopsCorrelationForwardProblem& p) {
  return correlation_keys(p);
}
std::string case_keys(const mluopsCorrelationBackwardProblem& p) {
  return correlation_keys(p);
}

}  // namespace mluops::op
