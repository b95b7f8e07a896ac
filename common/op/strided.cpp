#include "common/op/strided.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "common/dtype.h"

namespace mluops::op {
namespace {

constexpr std::int64_t kMostElements = std::numeric_limits<std::int64_t>::max() / 16;

std::string strides_text(const TensorDesc& t) {
  std::string text = "[";
  for (std::size_t i = 0; i < t.strides.size(); ++i) text += (i ? ", " : "") + std::to_string(t.strides[i]);
  return text + "] for " + dims_text(t);
}

bool lie_alike(const TensorDesc& a, const TensorDesc& b) {
  if (a.dims.size() != b.dims.size()) return false;
  for (std::size_t i = 0; i < a.dims.size(); ++i) {
    if (a.dims[i] != 1 && a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

std::uintptr_t end_of(const TensorArg& t) {
  return reinterpret_cast<std::uintptr_t>(t.data) + static_cast<std::uintptr_t>(reach_of(*t.desc) * element_bytes(t));
}

/// One element's copy is a move of a register.
template <std::size_t kBytes>
void copy_row(const unsigned char* from, std::int64_t from_step, unsigned char* to, std::int64_t to_step,
              std::int64_t n) {
  constexpr auto kSize = static_cast<std::int64_t>(kBytes);
  if (from_step == 1 && to_step == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * kBytes);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_step * kSize, from + i * from_step * kSize, kBytes);
}

void copy_row(std::int64_t bytes, const unsigned char* from, std::int64_t from_step, unsigned char* to,
              std::int64_t to_step, std::int64_t n) {
  if (bytes == 2) return copy_row<2>(from, from_step, to, to_step, n);
  if (bytes == 4) return copy_row<4>(from, from_step, to, to_step, n);
  copy_row<8>(from, from_step, to, to_step, n);
}

}  // namespace

// ---- checks ----

std::int64_t reach_of(const TensorDesc& t) {
  if (t.elements == 0) return 0;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < t.dims.size(); ++i) {
    std::int64_t far = 0;
    if (t.dims[i] == 1) continue;
    if (t.strides[i] < 0 || __builtin_mul_overflow(t.strides[i], t.dims[i] - 1, &far) ||
        __builtin_add_overflow(last, far, &last)) {
      return -1;
    }
  }
  return last < kMostElements ? last + 1 : -1;
}

Status has_reach(const TensorArg& t, mluOpExtContract_t contract) {
  const std::int64_t reach = reach_of(*t.desc),
                     limit = contract == MLUOP_EXT_CONTRACT_EXTENDED ? kMostElements : std::int64_t{1} << 31;
  if (reach >= 0 && reach < limit) return Status::go_on();
  return Status::not_supported(
      text_of(t.name, ": wanted strides >= 0 that reach fewer than ", limit, " elements, got ", strides_text(*t.desc)));
}

bool elements_apart(const TensorDesc& t) {
  if (is_contiguous(t)) return true;
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t i = 0; i < t.dims.size(); ++i) {
    if (t.dims[i] > 1) axes.emplace_back(t.strides[i], t.dims[i]);
  }
  std::sort(axes.begin(), axes.end());
  std::int64_t reach = 0;
  for (const auto& [stride, size] : axes) {
    if (stride <= reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

Status has_elements_apart(const TensorArg& t) {
  if (elements_apart(*t.desc)) return Status::go_on();
  return Status::not_supported(
      text_of(t.name, ": wanted elements that share no memory, got strides ", strides_text(*t.desc)));
}

Status apart_or_in_place(const TensorArg& in, const TensorArg& out) {
  if (in.data == out.data && in.desc->dtype == out.desc->dtype && lie_alike(*in.desc, *out.desc)) {
    return Status::go_on();
  }
  const auto in_begin = reinterpret_cast<std::uintptr_t>(in.data),
             out_begin = reinterpret_cast<std::uintptr_t>(out.data);
  if (in_begin >= end_of(out) || out_begin >= end_of(in)) return Status::go_on();
  return Status::bad_param(text_of(out.name, ": wanted memory of its own, got memory shared with ", in.name));
}

// ---- copies ----

DenseTensors::DenseTensors(std::initializer_list<TensorArg> tensors) : count_(tensors.size()) {
  std::copy(tensors.begin(), tensors.end(), given_.begin());
  dense_ = given_;
  if (std::all_of(tensors.begin(), tensors.end(), [](const TensorArg& t) { return is_contiguous(*t.desc); })) return;
  find_axes(tensors);
  descs_.reserve(count_);
  for (std::size_t i = 0; i < count_; ++i) {
    mluOpTensorStruct& desc = descs_.emplace_back();
    desc.dtype = given_[i].desc->dtype;
    desc.elements = given_[i].desc->elements;
    desc.dims = {desc.elements};
    desc.strides = {1};
    dense_[i].desc = &desc;
    if (!lies_dense(i)) use_copy(i);
  }
}

void DenseTensors::find_axes(std::initializer_list<TensorArg> tensors) {
  const TensorDesc& shape = *tensors.begin()->desc;
  for (std::size_t i = 0; i < shape.dims.size(); ++i) {
    if (shape.dims[i] == 1) continue;
    Axis& axis = axes_.emplace_back(Axis{shape.dims[i], {}});
    for (std::size_t t = 0; t < count_; ++t) axis.strides[t] = given_[t].desc->strides[i];
  }
  const std::size_t output = count_ - 1;
  std::stable_sort(axes_.begin(), axes_.end(),
                   [output](const Axis& a, const Axis& b) { return a.strides[output] > b.strides[output]; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < axes_.size(); ++i) {
    Axis &outer = axes_[kept], &inner = axes_[i];
    bool one = true;
    for (std::size_t t = 0; t < count_; ++t) one = one && outer.strides[t] == inner.strides[t] * inner.size;
    if (one) inner.size *= outer.size;
    axes_[one ? kept : ++kept] = inner;
  }
  if (!axes_.empty()) axes_.resize(kept + 1);
}

bool DenseTensors::lies_dense(std::size_t tensor) const {
  std::int64_t wanted = 1;
  for (std::size_t i = axes_.size(); i-- > 0; wanted *= axes_[i].size) {
    if (axes_[i].strides[tensor] != wanted) return false;
  }
  return true;
}

void DenseTensors::use_copy(std::size_t tensor) {
  TensorArg& dense = dense_[tensor];
  const std::int64_t bytes = dense.desc->elements * element_bytes(dense);
  copies_[tensor] = std::make_unique_for_overwrite<unsigned char[]>(static_cast<std::size_t>(bytes));
  if (tensor + 1 < count_) copy(tensor, dense.data, true, copies_[tensor].get());
  dense.data = copies_[tensor].get();
}

Status DenseTensors::write_back(Status status) const {
  const std::size_t output = count_ - 1;
  if (!status.failed() && copies_[output] != nullptr) {
    copy(output, copies_[output].get(), false, data_of<void>(given_[output]));
  }
  return status;
}

/// Row by row of the innermost axis.
void DenseTensors::copy(std::size_t tensor, const void* from, bool to_dense, void* to) const {
  const auto* source = static_cast<const unsigned char*>(from);
  auto* target = static_cast<unsigned char*>(to);
  const std::int64_t bytes = element_bytes(given_[tensor]), n = axes_.back().size, step = axes_.back().strides[tensor];
  std::vector<std::int64_t> index(axes_.size());
  for (std::int64_t place = 0, row = 0;; row += n) {  // of a row in the tensor and among the dense elements
    const std::int64_t from_place = to_dense ? place : row, to_place = to_dense ? row : place;
    copy_row(bytes, source + from_place * bytes, to_dense ? step : 1, target + to_place * bytes, to_dense ? 1 : step,
             n);
    std::size_t axis = axes_.size() - 1;
    for (; axis > 0; --axis) {
      const Axis& outer = axes_[axis - 1];
      place += outer.strides[tensor];
      if (++index[axis - 1] < outer.size) break;
      place -= outer.strides[tensor] * outer.size;
      index[axis - 1] = 0;
    }
    if (axis == 0) return;
  }
}

}  // namespace mluops::op
