// Non-maximum suppression through the C API from C++: handles and descriptors are released by destructors, and a failed
// call becomes an exception with the library's text.
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "mlu_op.h"
#include "mlu_op_ext.h"

namespace {

void check(mluOpStatus_t status) {
  if (status == MLUOP_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(mluOpGetErrorString(status)) + ": " + mluOpExtGetLastErrorText());
}

template <typename T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, mluOpStatus_t (*)(T)>;

template <typename T>
Owned<T> create(mluOpStatus_t (*make)(T*), mluOpStatus_t (*destroy)(T)) {
  T made = nullptr;
  check(make(&made));
  return {made, destroy};
}

Owned<mluOpTensorDescriptor_t> tensor(mluOpDataType_t dtype, std::initializer_list<int> dims) {
  auto desc = create(mluOpCreateTensorDescriptor, mluOpDestroyTensorDescriptor);
  check(mluOpSetTensorDescriptor(desc.get(), MLUOP_LAYOUT_ARRAY, dtype, static_cast<int>(dims.size()), dims.begin()));
  return desc;
}

/// Indices of the boxes [N, 4] (x1, y1, x2, y2) that are kept, best score first.
std::vector<std::int32_t> nms(mluOpHandle_t handle, const std::vector<float>& boxes, const std::vector<float>& scores,
                              float iou_threshold) {
  const int n = static_cast<int>(scores.size());
  const auto boxes_desc = tensor(MLUOP_DTYPE_FLOAT, {n, 4}), scores_desc = tensor(MLUOP_DTYPE_FLOAT, {n});
  const auto kept_desc = tensor(MLUOP_DTYPE_INT32, {n});
  const auto settings = create(mluOpCreateNmsDescriptor, mluOpDestroyNmsDescriptor);
  check(mluOpSetNmsDescriptor(settings.get(), MLUOP_NMS_BOX_DIAGONAL, MLUOP_NMS_OUTPUT_TARGET_INDICES,
                              MLUOP_NMS_ALGO_EXCLUDE_BOUNDARY, MLUOP_NMS_HARD_NMS, iou_threshold, 0.0f, n, 0.0f, 0.0f,
                              0, false));
  std::vector<std::int32_t> kept(scores.size());
  std::int32_t count = 0;
  check(mluOpNms(handle, settings.get(), boxes_desc.get(), boxes.data(), scores_desc.get(), scores.data(), nullptr, 0,
                 kept_desc.get(), kept.data(), &count));
  kept.resize(static_cast<std::size_t>(count));
  return kept;
}

}  // namespace

int main() try {
  const auto handle = create(mluOpCreate, mluOpDestroy);
  const std::vector<float> boxes{0, 0, 10, 10, 1, 1, 11, 11, 20, 20, 30, 30}, scores{0.9f, 0.8f, 0.7f};
  const std::vector<std::int32_t> kept = nms(handle.get(), boxes, scores, 0.5f);
  std::printf("kept:");
  for (const std::int32_t index : kept) std::printf(" %d", static_cast<int>(index));
  std::printf("\n");
  return kept == std::vector<std::int32_t>{0, 2} ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
