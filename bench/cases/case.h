// One measurable call: its tensors, what it must move and compute, how it is called and what it should give.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mlu_op.h"
#include "test/reference/reference.h"

namespace bench {

/// Where the elements of an input come from; the same seed gives the same values on every machine.
struct Fill {
  enum class Kind { none, uniform, integers, given };
  Kind kind = Kind::none;
  double low = 0, high = 0;  ///< uniform: [low, high); integers: low..high, both included
  std::uint64_t seed = 0;
  std::shared_ptr<const std::vector<float>> values;  ///< given
};

Fill uniform(double low, double high, std::uint64_t seed);
Fill integers(std::int64_t low, std::int64_t high, std::uint64_t seed);
Fill given(std::vector<float> values);

/// Takes elements [first, first + count).
using RunVisitor = std::function<void(std::int64_t first, std::int64_t count)>;

struct Tensor {
  std::string name;
  mluOpTensorLayout_t layout = MLUOP_LAYOUT_ARRAY;
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  std::vector<std::int64_t> dims;
  Fill fill;                                         ///< Kind::none marks an output
  double touched = 1;                                ///< share of the elements that the operator has to read
  std::function<void(const RunVisitor&)> runs = {};  ///< which ones, in memory order; none: the first ones

  bool is_output() const { return fill.kind == Fill::Kind::none; }
  std::int64_t elements() const;
  std::int64_t bytes() const;
  /// Calls visit for the runs of elements that the operator has to read; none for an output.
  void visit_touched(const RunVisitor& visit) const;
};

/// A tensor as a call takes it; both members NULL for an absent one.
struct Argument {
  mluOpTensorDescriptor_t desc = nullptr;
  void* data = nullptr;
};

using mluops::reference::Coordinates;
using mluops::reference::Values;

/// The inputs' bytes, in the order of the input tensors.
using Inputs = std::vector<const void*>;

/// Value in double of sample `choice` of output element i; NaN when there is no such sample.
using SampleValue = std::function<double(std::int64_t i, int choice)>;

struct Case {
  std::string op;     ///< as in the backend ABI, e.g. "carafe_forward"
  std::string shape;  ///< e.g. "[2,25,38,256] k5 g1 s2"
  mluOpDataType_t dtype = MLUOP_DTYPE_FLOAT;
  std::vector<Tensor> tensors;
  double flops = 0;
  bool exact = false;  ///< a pure copy: every output element must be equal, not only close
  std::function<mluOpStatus_t(mluOpHandle_t, const std::vector<Argument>&)> call;
  /// Outputs in double, in the order of the output tensors.
  std::function<std::vector<Values>(const Inputs&, Coordinates)> reference;
  /// Operators with an integer output choose among samples: gives the value of sample `choice` for output element i.
  std::function<SampleValue(const Inputs&, Coordinates)> samples;

  double read_bytes() const;   ///< every input once, only its touched share
  double write_bytes() const;  ///< every output once
  double all_bytes() const;    ///< of all tensors, touched or not
};

enum class Direction { forward, backward };

/// "float", "half" or "int32".
const char* dtype_name(mluOpDataType_t dtype);
std::int64_t dtype_size(mluOpDataType_t dtype);

/// Writes the elements of an input tensor to `to`.
void fill_tensor(const Tensor& tensor, void* to);

/// Element i of a half, float or int32 array.
double element(mluOpDataType_t dtype, const void* data, std::int64_t i);
/// The same for a whole array, in parallel.
Values elements(mluOpDataType_t dtype, const void* data, std::int64_t count);

/// `value` as an element of type dtype holds it.
double rounded(mluOpDataType_t dtype, double value);

}  // namespace bench
