// A case with data: tensors, the call through the C API, and what the reference says about it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "test/support/case.h"
#include "test/support/random.h"
#include "test/support/tensor.h"

namespace mluops::test {

enum class Comparison {
  kNumeric,  ///< by the metrics
  kBits,     ///< every element the very same number
  kArgmax,   ///< the same index, or one whose sample is as large
};

struct Problem {
  Case text;
  mluOpDataType_t dtype;
  std::vector<std::unique_ptr<Tensor>> inputs;
  std::vector<std::unique_ptr<Tensor>> outputs;
  std::vector<Comparison> comparisons;  ///< one per output
  /// Size of the terms an output element is the sum of, where they may cancel to nothing; 0: the result's size tells.
  std::vector<double> term_sizes;
  std::function<mluOpStatus_t(mluOpHandle_t)> call;
  /// Expected values, one entry per output (argmax as doubles).
  std::function<std::vector<reference::Values>(reference::Coordinates)> expect;
  /// border_align_forward: sample `index` of element i, for kArgmax.
  std::function<std::function<double(std::int64_t, int)>(reference::Coordinates)> samples;

  Tensor& add_input(const std::string& name, mluOpTensorLayout_t layout, mluOpDataType_t type,
                    std::vector<std::int64_t> dims);
  Tensor& add_output(const std::string& name, mluOpTensorLayout_t layout, mluOpDataType_t type,
                     std::vector<std::int64_t> dims, Comparison comparison = Comparison::kNumeric,
                     double term_size = 0);
};

/// Builds the problem of a case: the numbers follow from the text alone. They are rounded to dtype, and first to half
/// or bfloat16 when the case says values=half or values=bfloat16, so that several dtypes can be given the very same
/// inputs.
Problem make_problem(const Case& text, mluOpDataType_t dtype);

// One per operator family (problems/<op>.cpp).
Problem make_carafe(const Case& text, mluOpDataType_t dtype);
Problem make_psamask(const Case& text, mluOpDataType_t dtype);
Problem make_three_interpolate(const Case& text, mluOpDataType_t dtype);
Problem make_deform_roi_pool(const Case& text, mluOpDataType_t dtype);
Problem make_border_align(const Case& text, mluOpDataType_t dtype);

// ---- numbers ----

/// count numbers in [low, high).
reference::Values uniform(const Problem& problem, Random& random, std::int64_t count, double low = -1, double high = 1);
/// As the case wants them (values=half, values=bfloat16).
reference::Values admissible(const Problem& problem, reference::Values values);

}  // namespace mluops::test
