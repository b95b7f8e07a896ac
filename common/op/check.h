// Words the operator rules are written in. Each check returns go_on or BAD_PARAM / NOT_SUPPORTED with a text that names
// the argument, what was wanted and what was got.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "common/handle.h"
#include "common/scalars.h"
#include "common/status.h"
#include "common/tensor_desc.h"

namespace mluops::op {

/// A tensor argument under the name the C prototype gives it.
struct TensorArg {
  const char* name;
  mluOpTensorDescriptor_t desc;
  const void* data;
};

/// check(t, more...) of each tensor.
template <class Check, class... More>
Status check_each(std::initializer_list<TensorArg> tensors, Check check, const More&... more) {
  for (const TensorArg& t : tensors) MLUOPS_RETURN_IF_FINISHED(check(t, more...));
  return Status::go_on();
}

/// "handle", "carafe_desc" and other plain pointers.
Status not_null(const char* name, const void* pointer);
/// A pointer and the name that a text gives it.
struct Given {
  const char* name;
  const void* pointer;
};
/// not_null() for each.
Status are_given(std::initializer_list<Given> pointers);
/// Descriptors are there ("<name>_desc").
Status have_descs(std::initializer_list<TensorArg> tensors);
Status has_data(const TensorArg& t);
/// Descriptor and data come together or not at all.
Status present_or_absent(const TensorArg& t);
Status has_rank(const TensorArg& t, int wanted);
Status has_layout(const TensorArg& t, mluOpTensorLayout_t wanted);
/// Dimensions of an image tensor by their meaning: NHWC has them in this order, NCHW has the channels second.
enum class Axis { kN, kH, kW, kC };
/// Where the layout of t has an axis.
int axis_of(const TensorArg& t, Axis axis);
/// Size of t along an axis. t has rank 4 and an image layout.
std::int64_t size_of(const TensorArg& t, Axis axis);
bool is_nchw(const TensorArg& t);
/// NHWC; under EXTENDED NCHW too, when `like`, the operator's first image tensor, has it.
Status has_image_layout(const TensorArg& t, const TensorArg& like, mluOpExtContract_t contract);
/// HALF or FLOAT; under EXTENDED also DOUBLE and BFLOAT16.
Status has_float_dtype(const TensorArg& t, mluOpExtContract_t contract);
/// FLOAT; under EXTENDED also HALF, DOUBLE and BFLOAT16.
Status is_float(const TensorArg& t, mluOpExtContract_t contract);
/// Each is FLOAT; under EXTENDED the first has_float_dtype() and the others have its dtype.
Status are_float(std::initializer_list<TensorArg> tensors, mluOpExtContract_t contract);
Status has_dtype(const TensorArg& t, mluOpDataType_t wanted);
/// t's dtype is that of `like`.
Status same_dtype(const TensorArg& t, const TensorArg& like);
/// t.dims[axis]
std::int64_t size_of(const TensorArg& t, int axis);
/// t.dims[axis] == wanted, where `meaning` says in words what wanted is.
Status has_dim(const TensorArg& t, int axis, std::int64_t wanted, const char* meaning);
/// has_dim() for an axis of an image tensor.
Status has_dim(const TensorArg& t, Axis axis, std::int64_t wanted, const char* meaning);
/// What has_dim() asks of an axis.
struct AxisSize {
  int axis;  ///< of an image tensor that of Axis
  std::int64_t wanted;
  const char* meaning;
};
/// has_dim() for each.
Status has_sizes(const TensorArg& t, std::initializer_list<AxisSize> sizes);
/// has_dim() for axes of an image tensor.
Status has_image_sizes(const TensorArg& t, std::initializer_list<AxisSize> sizes);
/// The product of sizes; -1, which no dimension is, where it leaves int64.
std::int64_t dim_product(std::initializer_list<std::int64_t> sizes);
/// All dimensions equal those of `like`.
Status same_dims(const TensorArg& t, const TensorArg& like);
/// A number in [low, high].
Status in_range(const char* name, std::int64_t value, std::int64_t low, std::int64_t high);
/// A number from low on.
Status at_least(const char* name, std::int64_t value, std::int64_t low);
/// A float > 0, NaN is none.
Status is_positive(const char* name, const Scalar& value);
/// A float that is no NaN.
Status is_number(const char* name, double value);
/// A float >= 0, NaN is none.
Status is_not_negative(const char* name, double value);
/// Dense row-major, else `code`.
Status is_dense(const TensorArg& t, mluOpStatus_t code);
/// Fewer than 2^31 elements (EXTENDED: no limit but int64 bytes), else NOT_SUPPORTED. Without elements: the product of
/// the other sizes is within int64 bytes. An absent tensor is countable.
Status is_countable(const TensorArg& t, mluOpExtContract_t contract);
/// No dimension is 0.
Status not_empty(const TensorArg& t);
/// t.dims[axis] is at most 2^31 - 1, so that INT32 indices reach all of it, else NOT_SUPPORTED.
Status is_indexable(const TensorArg& t, int axis);
/// Descriptor of the one INT32 that a count is written to: one for all calls, because making it allocates.
mluOpTensorStruct* one_int32();
Status has_data_unless_empty(const TensorArg& t);
/// No output shares a byte with an input or another output (BAD_PARAM).
Status share_nothing(std::initializer_list<TensorArg> inputs, std::initializer_list<TensorArg> outputs);
/// Tells MLUOP_CAPTURE all tensors of a call.
void note_tensors(std::initializer_list<TensorArg> inputs, std::initializer_list<TensorArg> outputs);

/// Writes the bytes of a workspace, the sum of its arrays', each the product of its factors, and ends the check;
/// NOT_SUPPORTED when that leaves int64.
Status tell_workspace(std::initializer_list<std::initializer_list<std::int64_t>> arrays, std::size_t* size);
/// Bytes of an element of t.
std::int64_t element_bytes(const TensorArg& t);

/// Element count is 0.
bool is_empty(const TensorArg& t);
bool any_empty(std::initializer_list<TensorArg> tensors);

/// An image of t has at most 2^31 - 1 pixels, so that INT32 numbers reach all of them, else NOT_SUPPORTED.
Status has_countable_pixels(const TensorArg& t);

/// Makes `desc` that of a tensor without descriptor: like `like`, in `dtype`. Only what share_nothing() asks for.
void describe_like(mluOpTensorStruct& desc, mluOpTensorDescriptor_t like, mluOpDataType_t dtype);
/// Windows of `kernel` pixels, dilated, that lie inside of `size` pixels and their padding.
std::int64_t windows(std::int64_t size, std::int64_t kernel, std::int64_t pad, std::int64_t dilation,
                     std::int64_t stride);

/// The data of t as a problem struct has it.
template <class T>
T* data_of(const TensorArg& t) {
  return static_cast<T*>(const_cast<void*>(t.data));
}

/// "[2, 3]"
std::string shape_text(const TensorArg& t);
/// A text of words and numbers.
template <class... Parts>
std::string text_of(const Parts&... parts) {
  std::string text;
  const auto add = [&](const auto& part) {
    using Part = std::remove_cvref_t<decltype(part)>;
    if constexpr (std::is_arithmetic_v<Part>) {
      text += std::to_string(part);
    } else if constexpr (std::is_enum_v<Part>) {
      text += std::to_string(static_cast<int>(part));
    } else {
      text += part;
    }
  };
  (add(parts), ...);
  return text;
}

}  // namespace mluops::op
