#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "api/c/boundary.h"
#include "common/dtype.h"
#include "common/op/check.h"
#include "mlu_op.h"

using namespace mluops;

struct mluOpTensorSetStruct {
  std::vector<int> sizes;
  std::vector<mluOpTensorStruct> tensors;
};

namespace {

constexpr std::int64_t kMostMembers = 1 << 20;

Status count_members(int dims, const int* sizes, std::int64_t& count) {
  MLUOPS_RETURN_IF_FINISHED(op::at_least("setDimNb", dims, 1));
  MLUOPS_RETURN_IF_FINISHED(op::not_null("setDimSize", sizes));
  count = 1;
  for (int i = 0; i < dims; ++i) {
    MLUOPS_RETURN_IF_FINISHED(op::in_range("setDimSize", sizes[i], 1, kMostMembers));
    count *= sizes[i];
    if (count > kMostMembers) {
      return Status::bad_param(op::text_of("setDimSize: wanted at most ", kMostMembers, " tensors, got more"));
    }
  }
  return Status::go_on();
}

/// The place of a member in the list.
Status find_member(const mluOpTensorSetStruct* set, int dims, const int* index, std::size_t& place) {
  MLUOPS_RETURN_IF_FINISHED(op::not_null("tensorSetDesc", set));
  const auto wanted = static_cast<std::int64_t>(set->sizes.size());
  MLUOPS_RETURN_IF_FINISHED(op::in_range("setDimNb", dims, wanted, wanted));
  MLUOPS_RETURN_IF_FINISHED(op::not_null("tensorIndex", index));
  std::int64_t at = 0;
  for (std::size_t i = 0; i < set->sizes.size(); ++i) {
    MLUOPS_RETURN_IF_FINISHED(op::in_range("tensorIndex", index[i], 0, set->sizes[i] - 1));
    at = at * set->sizes[i] + index[i];
  }
  place = static_cast<std::size_t>(at);
  return Status::go_on();
}

/// Bytes of the tensors in front of one; none where that leaves int64.
std::optional<std::int64_t> bytes_before(const mluOpTensorSetStruct& set, std::size_t place) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < place; ++i) {
    const mluOpTensorStruct& t = set.tensors[i];
    std::int64_t bytes = 0;
    if (t.elements < 0 || __builtin_mul_overflow(t.elements, static_cast<std::int64_t>(dtype_size(t.dtype)), &bytes) ||
        __builtin_add_overflow(sum, bytes, &sum)) {
      return std::nullopt;
    }
  }
  return sum;
}

}  // namespace

mluOpStatus_t mluOpCreateTensorSetDescriptor(mluOpTensorSetDescriptor_t* tensorSetDesc, const int setDimNb,
                                             const int setDimSize[]) {
  return guard(__func__, [&]() -> Status {
    std::int64_t count = 0;
    MLUOPS_RETURN_IF_FINISHED(op::not_null("tensorSetDesc", tensorSetDesc));
    MLUOPS_RETURN_IF_FINISHED(count_members(setDimNb, setDimSize, count));
    *tensorSetDesc = new mluOpTensorSetStruct{std::vector<int>(setDimSize, setDimSize + setDimNb),
                                              std::vector<mluOpTensorStruct>(static_cast<std::size_t>(count))};
    return Status::go_on();
  });
}

mluOpStatus_t mluOpGetTensorSetDescriptor(mluOpTensorSetDescriptor_t tensorSetDesc, int* setDimNb, int setDimSize[]) {
  return guard(__func__, {{"tensorSetDesc", tensorSetDesc}, {"setDimNb", setDimNb}, {"setDimSize", setDimSize}}, [&] {
    *setDimNb = static_cast<int>(tensorSetDesc->sizes.size());
    std::copy(tensorSetDesc->sizes.begin(), tensorSetDesc->sizes.end(), setDimSize);
  });
}

mluOpStatus_t mluOpDestroyTensorSetDescriptor(mluOpTensorSetDescriptor_t tensorSetDesc) {
  return guard(__func__, {{"tensorSetDesc", tensorSetDesc}}, [&] { delete tensorSetDesc; });
}

mluOpStatus_t mluOpInitTensorSetMemberDescriptor(mluOpTensorSetDescriptor_t tensorSetDesc, const int setDimNb,
                                                 const int tensorIndex[], mluOpTensorLayout_t layout,
                                                 mluOpDataType_t dtype, const int dimNb, const int dimSize[]) {
  std::size_t place = 0;
  const mluOpStatus_t found =
      guard(__func__, [&]() { return find_member(tensorSetDesc, setDimNb, tensorIndex, place); });
  if (found != MLUOP_STATUS_SUCCESS) return found;
  return mluOpSetTensorDescriptor(&tensorSetDesc->tensors[place], layout, dtype, dimNb, dimSize);
}

mluOpStatus_t mluOpInitTensorSetMemberDescriptorPositionAndScale(mluOpTensorSetDescriptor_t tensorSetDesc,
                                                                 const int setDimNb, const int tensorIndex[],
                                                                 const int position, const float scale) {
  std::size_t place = 0;
  const mluOpStatus_t found =
      guard(__func__, [&]() { return find_member(tensorSetDesc, setDimNb, tensorIndex, place); });
  if (found != MLUOP_STATUS_SUCCESS) return found;
  return mluOpSetTensorDescriptorPositionAndScale(&tensorSetDesc->tensors[place], position, scale);
}

mluOpStatus_t mluOpGetTensorSetDescriptorSize(mluOpTensorSetDescriptor_t tensorSetDesc, int* sizeInBytes) {
  return guard(__func__, {{"tensorSetDesc", tensorSetDesc}, {"sizeInBytes", sizeInBytes}}, [&]() -> Status {
    const std::optional<std::int64_t> bytes = bytes_before(*tensorSetDesc, tensorSetDesc->tensors.size());
    if (!bytes || *bytes > std::numeric_limits<int>::max()) {
      return Status::not_supported("sizeInBytes: wanted at most 2^31 - 1 bytes, got more");
    }
    *sizeInBytes = static_cast<int>(*bytes);
    return Status::go_on();
  });
}

mluOpStatus_t mluOpGetTensorAndDataFromTensorSet(mluOpTensorSetDescriptor_t tensorSetDesc, const int setDimNb,
                                                 const int tensorIndex[], void* data,
                                                 mluOpTensorDescriptor_t* tensorDesc, void** dataAddrInDevice) {
  return guard(__func__, [&]() -> Status {
    std::size_t place = 0;
    MLUOPS_RETURN_IF_FINISHED(find_member(tensorSetDesc, setDimNb, tensorIndex, place));
    MLUOPS_RETURN_IF_FINISHED(op::not_null("tensorDesc", tensorDesc));
    MLUOPS_RETURN_IF_FINISHED(op::not_null("dataAddrInDevice", dataAddrInDevice));
    const std::optional<std::int64_t> offset = bytes_before(*tensorSetDesc, place);
    if (!offset) return Status::not_supported("tensorIndex: wanted fewer than 2^63 bytes before it, got more");
    *tensorDesc = &tensorSetDesc->tensors[place];
    *dataAddrInDevice = data == nullptr ? nullptr : static_cast<char*>(data) + *offset;
    return Status::go_on();
  });
}
