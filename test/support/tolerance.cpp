#include "test/support/tolerance.h"

namespace mluops::test {

Tolerance tolerance_of(const std::string& backend, mluOpDataType_t dtype) {
  using reference::Coordinates;
  const bool device = backend == "mlu_emu";  // computes everything, coordinates too, in the tensors' own type
  switch (dtype) {
    case MLUOP_DTYPE_HALF:
      if (device) return {3e-3, -1, 0, 1e-4, Coordinates::kHalf};
      return {3e-3, 0.75, 1e-5, 1e-4, Coordinates::kFloat};
    case MLUOP_DTYPE_BFLOAT16:
      return {8e-3, 0.75, 1e-5, 1e-3, Coordinates::kFloat};
    case MLUOP_DTYPE_DOUBLE:
      return {1e-12, 1, 1e-12, 1e-12, Coordinates::kDouble};
    default:
      return {1e-5, 1, 1e-5, 1e-6, Coordinates::kFloat};
  }
}

}  // namespace mluops::test
