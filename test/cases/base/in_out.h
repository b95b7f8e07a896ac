// Tensors that a C function reads and writes. A case has each twice: an input "initial_<name>" with what it holds,
// which the call copies, and the output. Tests of refusals leave the inputs of that name out, which no argument is.
#pragma once

#include <initializer_list>
#include <string>

#include "test/cases/operator.h"

namespace mluops::cases {

bool is_initial(const std::string& tensor);
/// Whether a call without the data of this tensor is refused: an input of the C function that is not optional.
bool must_be_given(const TensorSpec& tensor);

/// Tensor `input` of a case, to be copied to tensor `output`.
struct InOut {
  std::size_t input, output;
};

/// call(handle, tensors) on outputs that hold what the inputs do. A call that fails leaves small outputs as they were.
template <class Call>
mluOpStatus_t call_in_place(mluOpHandle_t handle, const Arguments& t, std::initializer_list<InOut> pairs, Call call);

class InPlace {
 public:
  InPlace(const Arguments& t, std::initializer_list<InOut> pairs);
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;
  ~InPlace();
  void copy_in();
  /// What outputs held before: those of a megabyte together, of one call at a time.
  void restore();

 private:
  /// Bytes of a pair that are copied.
  std::size_t bytes(const InOut& pair) const;

  bool saves_;
  const Arguments& t_;
  std::initializer_list<InOut> pairs_;
  std::size_t used_ = 0;
};

template <class Call>
mluOpStatus_t call_in_place(mluOpHandle_t handle, const Arguments& t, std::initializer_list<InOut> pairs, Call call) {
  InPlace in_place(t, pairs);
  in_place.copy_in();
  const mluOpStatus_t status = call(handle, t);
  if (status != MLUOP_STATUS_SUCCESS) in_place.restore();
  return status;
}

}  // namespace mluops::cases
