// A case with data: guarded tensors, the call through the C API, and what the reference says about it.
#pragma once

#include <memory>
#include <vector>

#include "test/support/settings.h"
#include "test/support/tensor.h"

namespace mluops::test {

using Expected = std::vector<Values>;

/// The numbers follow from the text alone.
class Problem {
 public:
  explicit Problem(Description description);

  const Case& text() const { return spec_.text; }
  mluOpDataType_t dtype() const { return spec_.dtype; }
  /// What output i is, and how it is compared.
  const TensorSpec& output_spec(std::size_t i) const;

  /// Allocates nothing itself.
  mluOpStatus_t call(mluOpHandle_t handle);
  /// Expected values, one entry per output, for the inputs as they are now.
  Expected expect(Coordinates coordinates) const { return spec_.reference(input_data(), coordinates); }
  SampleValue samples(Coordinates coordinates) const { return spec_.samples(input_data(), coordinates); }

  std::vector<std::unique_ptr<Tensor>> inputs, outputs;

 private:
  Inputs input_data() const;

  Description spec_;
  std::vector<Tensor*> in_order_;  ///< of the description
  Arguments arguments_;            ///< of the last call
};

inline Problem make_problem(const Case& text, mluOpDataType_t dtype) {
  return Problem(describe(text, dtype));
}

}  // namespace mluops::test
