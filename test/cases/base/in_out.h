// Tensors that a C function reads and writes. A case has each twice: an input "initial_<name>" with what it holds,
// which the call copies, and the output. Tests of refusals leave the inputs of that name out, which no argument is.
#pragma once

#include <initializer_list>
#include <string>

#include "test/cases/operator.h"

namespace mluops::cases {

bool is_initial(const std::string& tensor);

/// Tensor `input` of a case, to be copied to tensor `output`.
struct InOut {
  std::size_t input, output;
};

/// call(handle, tensors) on outputs that hold what the inputs do. A call that fails leaves small outputs as they were.
template <class Call>
mluOpStatus_t call_in_place(mluOpHandle_t handle, const Arguments& t, std::initializer_list<InOut> pairs, Call call);

using Saved = std::vector<std::vector<unsigned char>>;
/// Copies, and returns what small outputs held.
Saved copy_in(const Arguments& t, std::initializer_list<InOut> pairs);
void restore(const Arguments& t, std::initializer_list<InOut> pairs, const Saved& saved);

template <class Call>
mluOpStatus_t call_in_place(mluOpHandle_t handle, const Arguments& t, std::initializer_list<InOut> pairs, Call call) {
  const Saved saved = copy_in(t, pairs);
  const mluOpStatus_t status = call(handle, t);
  if (status != MLUOP_STATUS_SUCCESS) restore(t, pairs, saved);
  return status;
}

}  // namespace mluops::cases
