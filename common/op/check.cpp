#include "common/op/check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "common/capture.h"
#include "common/shape.h"

namespace mluops::op {
namespace {

bool overlaps(const TensorArg& a, const TensorArg& b) {
  const auto begin = [](const TensorArg& t) { return reinterpret_cast<std::uintptr_t>(t.data); };
  const auto end = [&](const TensorArg& t) {
    return begin(t) + static_cast<std::uintptr_t>(t.desc->elements) * dtype_size(t.desc->dtype);
  };
  return begin(a) < end(b) && begin(b) < end(a);
}

Status disjoint(const TensorArg& output, const TensorArg& other) {
  if (output.desc == nullptr || other.desc == nullptr || is_empty(output) || is_empty(other)) return Status::go_on();
  if (!overlaps(output, other)) return Status::go_on();
  return Status::bad_param(text_of(output.name, ": wanted memory of its own, got memory shared with ", other.name));
}

}  // namespace

Status not_null(const char* name, const void* pointer) {
  if (pointer != nullptr) return Status::go_on();
  return Status::bad_param(text_of(name, ": wanted a pointer, got NULL"));
}

Status are_given(std::initializer_list<Given> pointers) {
  for (const Given& each : pointers) MLUOPS_RETURN_IF_FINISHED(not_null(each.name, each.pointer));
  return Status::go_on();
}

Status have_descs(std::initializer_list<TensorArg> tensors) {
  for (const TensorArg& t : tensors) {
    if (t.desc == nullptr) return Status::bad_param(text_of(t.name, "_desc: wanted a descriptor, got NULL"));
  }
  return Status::go_on();
}

Status has_data(const TensorArg& t) {
  return not_null(t.name, t.data);
}

Status present_or_absent(const TensorArg& t) {
  if ((t.desc == nullptr) == (t.data == nullptr)) return Status::go_on();
  return Status::bad_param(text_of(t.name, ": wanted descriptor and data both given or both NULL, got only ",
                                   t.desc != nullptr ? "the descriptor" : "the data"));
}

Status has_rank(const TensorArg& t, int wanted) {
  if (rank(*t.desc) == wanted) return Status::go_on();
  return Status::bad_param(
      text_of(t.name, ": wanted ", wanted, " dimensions, got ", rank(*t.desc), " ", dims_text(*t.desc)));
}

Status has_layout(const TensorArg& t, mluOpTensorLayout_t wanted) {
  if (t.desc->layout == wanted) return Status::go_on();
  return Status::bad_param(
      text_of(t.name, ": wanted layout ", layout_name(wanted), ", got ", layout_name(t.desc->layout)));
}

int axis_of(const TensorArg& t, Axis axis) {
  constexpr int kNchw[] = {0, 2, 3, 1};
  const int nhwc = static_cast<int>(axis);
  return is_nchw(t) ? kNchw[nhwc] : nhwc;
}

bool is_nchw(const TensorArg& t) {
  return t.desc->layout == MLUOP_LAYOUT_NCHW;
}

std::int64_t size_of(const TensorArg& t, Axis axis) {
  return t.desc->dims[static_cast<std::size_t>(axis_of(t, axis))];
}

Status has_image_layout(const TensorArg& t, const TensorArg& like, mluOpExtContract_t contract) {
  const bool nchw = contract == MLUOP_EXT_CONTRACT_EXTENDED && is_nchw(like);
  return has_layout(t, nchw ? MLUOP_LAYOUT_NCHW : MLUOP_LAYOUT_NHWC);
}

Status has_float_dtype(const TensorArg& t, mluOpExtContract_t contract) {
  const mluOpDataType_t dtype = t.desc->dtype;
  if (dtype == MLUOP_DTYPE_HALF || dtype == MLUOP_DTYPE_FLOAT) return Status::go_on();
  const bool extended = contract == MLUOP_EXT_CONTRACT_EXTENDED;
  if (extended && (dtype == MLUOP_DTYPE_DOUBLE || dtype == MLUOP_DTYPE_BFLOAT16)) return Status::go_on();
  return Status::bad_param(
      text_of(t.name, ": wanted dtype ",
              extended ? "DTYPE_HALF, DTYPE_FLOAT, DTYPE_DOUBLE or DTYPE_BFLOAT16" : "DTYPE_HALF or DTYPE_FLOAT",
              ", got ", dtype_name(dtype)));
}

Status is_float(const TensorArg& t, mluOpExtContract_t contract) {
  if (contract == MLUOP_EXT_CONTRACT_EXTENDED) return has_float_dtype(t, contract);
  return has_dtype(t, MLUOP_DTYPE_FLOAT);
}

Status are_float(std::initializer_list<TensorArg> tensors, mluOpExtContract_t contract) {
  if (contract != MLUOP_EXT_CONTRACT_EXTENDED) return check_each(tensors, has_dtype, MLUOP_DTYPE_FLOAT);
  MLUOPS_RETURN_IF_FINISHED(has_float_dtype(*tensors.begin(), contract));
  return check_each(tensors, same_dtype, *tensors.begin());
}

Status has_dtype(const TensorArg& t, mluOpDataType_t wanted) {
  if (t.desc->dtype == wanted) return Status::go_on();
  return Status::bad_param(text_of(t.name, ": wanted dtype ", dtype_name(wanted), ", got ", dtype_name(t.desc->dtype)));
}

Status same_dtype(const TensorArg& t, const TensorArg& like) {
  if (t.desc->dtype == like.desc->dtype) return Status::go_on();
  return Status::bad_param(text_of(t.name, ": wanted the dtype of ", like.name, ", ", dtype_name(like.desc->dtype),
                                   ", got ", dtype_name(t.desc->dtype)));
}

std::int64_t size_of(const TensorArg& t, int axis) {
  return t.desc->dims[static_cast<std::size_t>(axis)];
}

Status has_dim(const TensorArg& t, int axis, std::int64_t wanted, const char* meaning) {
  const std::int64_t got = t.desc->dims[static_cast<std::size_t>(axis)];
  if (got == wanted) return Status::go_on();
  return Status::bad_param(text_of(t.name, ": wanted dimension ", axis, " to be ", wanted, " (", meaning, "), got ",
                                   got, " in ", dims_text(*t.desc)));
}

Status has_dim(const TensorArg& t, Axis axis, std::int64_t wanted, const char* meaning) {
  return has_dim(t, axis_of(t, axis), wanted, meaning);
}

Status has_sizes(const TensorArg& t, std::initializer_list<AxisSize> sizes) {
  for (const auto& [axis, wanted, meaning] : sizes) MLUOPS_RETURN_IF_FINISHED(has_dim(t, axis, wanted, meaning));
  return Status::go_on();
}

Status has_image_sizes(const TensorArg& t, std::initializer_list<AxisSize> sizes) {
  for (const auto& [axis, wanted, meaning] : sizes) {
    MLUOPS_RETURN_IF_FINISHED(has_dim(t, static_cast<Axis>(axis), wanted, meaning));
  }
  return Status::go_on();
}

std::int64_t dim_product(std::initializer_list<std::int64_t> sizes) {
  return checked_product(sizes).value_or(-1);
}

Status same_dims(const TensorArg& t, const TensorArg& like) {
  if (t.desc->dims == like.desc->dims) return Status::go_on();
  return Status::bad_param(
      text_of(t.name, ": wanted the shape of ", like.name, ", ", dims_text(*like.desc), ", got ", dims_text(*t.desc)));
}

Status in_range(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return Status::go_on();
  const std::string upper = high == std::numeric_limits<std::int64_t>::max() ? "" : " and <= " + std::to_string(high);
  return Status::bad_param(text_of(name, ": wanted >= ", low, upper, ", got ", value));
}

Status at_least(const char* name, std::int64_t value, std::int64_t low) {
  return in_range(name, value, low, std::numeric_limits<std::int64_t>::max());
}

Status is_positive(const char* name, const Scalar& value) {
  if (value.value > 0) return Status::go_on();
  return Status::bad_param(text_of(name, ": wanted > 0, got ", value.value));
}

Status is_number(const char* name, double value) {
  return std::isnan(value) ? Status::bad_param(text_of(name, ": wanted a number, got nan")) : Status::go_on();
}

Status is_not_negative(const char* name, double value) {
  return value >= 0 ? Status::go_on() : Status::bad_param(text_of(name, ": wanted >= 0, got ", value));
}

Status is_dense(const TensorArg& t, mluOpStatus_t code) {
  if (is_contiguous(*t.desc)) return Status::go_on();
  return Status::error(code,
                       text_of(t.name, ": wanted a dense row-major tensor, got strides for ", dims_text(*t.desc)));
}

Status is_countable(const TensorArg& t, mluOpExtContract_t contract) {
  if (t.desc == nullptr) return Status::go_on();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 16;
  if (t.desc->elements == 0) {  // a part of the sizes is multiplied all the same
    std::int64_t product = 1;
    for (const std::int64_t size : t.desc->dims) {
      if (size == 0 || (!__builtin_mul_overflow(product, size, &product) && product < kMost)) continue;
      return Status::not_supported(
          text_of(t.name, ": wanted sizes beside 0 whose product is below ", kMost, ", got ", dims_text(*t.desc)));
    }
  }
  const std::int64_t limit = contract == MLUOP_EXT_CONTRACT_EXTENDED ? kMost : std::int64_t{1} << 31;
  if (t.desc->elements >= 0 && t.desc->elements < limit) return Status::go_on();
  return Status::not_supported(text_of(t.name, ": wanted fewer than ", limit, " elements, got ",
                                       t.desc->elements < 0 ? "more than 2^63" : std::to_string(t.desc->elements),
                                       " in ", dims_text(*t.desc)));
}

Status not_empty(const TensorArg& t) {
  if (!is_empty(t)) return Status::go_on();
  return Status::bad_param(text_of(t.name, ": wanted a non-empty tensor, got ", dims_text(*t.desc)));
}

Status is_indexable(const TensorArg& t, int axis) {
  const std::int64_t got = t.desc->dims[static_cast<std::size_t>(axis)],
                     limit = std::numeric_limits<std::int32_t>::max();
  if (got <= limit) return Status::go_on();
  return Status::not_supported(
      text_of(t.name, ": wanted dimension ", axis, " to be <= ", limit, ", got ", got, " in ", dims_text(*t.desc)));
}

Status has_data_unless_empty(const TensorArg& t) {
  return is_empty(t) ? Status::go_on() : has_data(t);
}

Status share_nothing(std::initializer_list<TensorArg> inputs, std::initializer_list<TensorArg> outputs) {
  for (auto out = outputs.begin(); out != outputs.end(); ++out) {
    for (const TensorArg& in : inputs) MLUOPS_RETURN_IF_FINISHED(disjoint(*out, in));
    for (auto other = outputs.begin(); other != out; ++other) MLUOPS_RETURN_IF_FINISHED(disjoint(*out, *other));
  }
  return Status::go_on();
}

void note_tensors(std::initializer_list<TensorArg> inputs, std::initializer_list<TensorArg> outputs) {
  if (!capturing()) return;
  for (const TensorArg& t : inputs) note_tensor(t.name, t.desc, t.data, false);
  for (const TensorArg& t : outputs) note_tensor(t.name, t.desc, t.data, true);
}

Status tell_workspace(std::initializer_list<std::initializer_list<std::int64_t>> arrays, std::size_t* size) {
  std::int64_t sum = 0;
  for (const auto& factors : arrays) {
    const std::optional<std::int64_t> bytes = checked_product(factors);
    if (!bytes || __builtin_add_overflow(sum, *bytes, &sum)) {
      return Status::not_supported("workspace_size: wanted fewer than 2^63 bytes, got more");
    }
  }
  *size = static_cast<std::size_t>(sum);
  return Status::nothing_to_do();
}

std::int64_t element_bytes(const TensorArg& t) {
  return static_cast<std::int64_t>(dtype_size(t.desc->dtype));
}

bool is_empty(const TensorArg& t) {
  return t.desc->elements == 0;
}

bool any_empty(std::initializer_list<TensorArg> tensors) {
  return std::any_of(tensors.begin(), tensors.end(), is_empty);
}

Status has_countable_pixels(const TensorArg& t) {
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const std::int64_t h = size_of(t, Axis::kH), w = size_of(t, Axis::kW);
  if (h == 0 || w <= most / h) return Status::go_on();
  return Status::not_supported(text_of(t.name, ": wanted height times width <= ", most, ", got ", dims_text(*t.desc)));
}

void describe_like(mluOpTensorStruct& desc, mluOpTensorDescriptor_t like, mluOpDataType_t dtype) {
  desc.dtype = dtype;
  desc.elements = like == nullptr ? 0 : like->elements;
}

std::int64_t windows(std::int64_t size, std::int64_t kernel, std::int64_t pad, std::int64_t dilation,
                     std::int64_t stride) {
  const std::int64_t room = size + 2 * pad - (kernel - 1) * dilation - 1;
  return room < 0 ? 0 : room / stride + 1;
}

std::string shape_text(const TensorArg& t) {
  return dims_text(*t.desc);
}

mluOpTensorStruct* one_int32() {
  static mluOpTensorStruct one = [] {
    mluOpTensorStruct desc;
    desc.dtype = MLUOP_DTYPE_INT32;
    desc.dims = {1};
    desc.strides = {1};
    desc.elements = 1;
    return desc;
  }();
  return &one;
}

}  // namespace mluops::op
