// Calls that are described once and made again and again, each time with other arguments and data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/cases/operator.h"
#include "test/fuzz/choices.h"
#include "test/support/tensor.h"

namespace mluops::test {

/// A tensor of a prepared call: what it was described with, and what it is for now.
struct PreparedTensor {
  const cases::TensorSpec* spec;
  std::unique_ptr<Tensor> tensor;
  std::vector<unsigned char> described;  ///< the bytes of an input
  std::vector<std::int64_t> dims;        ///< as the descriptor says now
  void* data;                            ///< as a call passes it; absent memory where the dims are beyond what there is
  bool lost_desc = false;
  bool changed_desc = false, changed_data = false;

  mluOpTensorDescriptor_t desc() const { return lost_desc ? nullptr : tensor->desc(); }
};

class PreparedCall {
 public:
  explicit PreparedCall(cases::Description description);

  const std::string& text() const { return text_; }
  mluOpStatus_t call(mluOpHandle_t handle);
  /// Everything as it was described; outputs are garbage.
  void restore();
  /// What should not have happened: bytes beside a tensor, inputs, or outputs of a call that failed were written. ""
  /// for nothing. A call by signature may have taken an input for an output.
  std::string harm(bool failed, bool by_signature) const;
  /// What a tensor is now, for the text of a finding.
  std::string state_of(const PreparedTensor& t) const;
  /// Inputs may be anything from now on, until restore().
  void forget_inputs();
  /// Remembers the inputs as they are now: what harm() compares with.
  void note_inputs();

  std::vector<PreparedTensor> tensors;

 private:
  cases::Description description_;
  std::string text_;
  cases::Arguments arguments_;
  std::vector<std::vector<unsigned char>> noted_;
};

/// The call of an operator's (a place in the list), type and number; made the first time it is asked for. nullptr where
/// there is none of that type. The numbers are other calls for another MLUOP_FUZZ_SEED.
PreparedCall* prepared_call(std::size_t op, std::size_t dtype, std::size_t number);
constexpr std::size_t kPreparedDtypes = 4, kPreparedCalls = 48;

}  // namespace mluops::test
