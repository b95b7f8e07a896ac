#include "common/op/rois.h"

#include "common/half.h"

namespace mluops::op {
namespace {

double read_element(const TensorArg& t, std::int64_t index) {
  switch (t.desc->dtype) {
    case MLUOP_DTYPE_HALF:
      return half_to_float(static_cast<const std::uint16_t*>(t.data)[index]);
    case MLUOP_DTYPE_BFLOAT16:
      return bfloat16_to_float(static_cast<const std::uint16_t*>(t.data)[index]);
    case MLUOP_DTYPE_DOUBLE:
      return static_cast<const double*>(t.data)[index];
    default:
      return static_cast<const float*>(t.data)[index];
  }
}

}  // namespace

Status check_batch_indices(const TensorArg& rois, std::int64_t batch) {
  for (std::int64_t i = 0; i < rois.desc->dims[0]; ++i) {
    const double index = read_element(rois, i * rois.desc->dims[1]);
    if (index > -1.0 && index < static_cast<double>(batch)) continue;
    return Status::bad_param(std::string(rois.name) + ": wanted batch index in [0, " + std::to_string(batch - 1) +
                             "], got " + std::to_string(index) + " in RoI " + std::to_string(i));
  }
  return Status::go_on();
}

}  // namespace mluops::op
