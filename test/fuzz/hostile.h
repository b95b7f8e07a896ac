// Calls that lie, and what must hold after them whatever the status.
#pragma once

#include <string>

#include "test/fuzz/choices.h"
#include "test/support/handle.h"
#include "test/support/problem.h"

namespace mluops::test {

struct Lies {
  std::string log;           ///< what was done to the call, for the failure message
  bool about_shape = false;  ///< EXTENDED takes tensors of any size at their word: such a call has to be STRICT
};

/// Tells up to three lies about a valid call: shapes, types, strides, missing descriptors and data, wild numbers.
Lies lie(Problem& problem, Choices& choices);

/// Puts numbers of any kind, or any bits, into some elements of an input.
void poison(Tensor& input, Choices& choices);

struct Harm {
  std::string text;  ///< what should not have happened; "" for none
  mluOpStatus_t status;
};

/// Calls with garbage in the outputs. Inputs and the bytes beside all tensors stay as they were; a call that does not
/// succeed is BAD_PARAM or NOT_SUPPORTED, says why and leaves the outputs alone.
Harm call_and_look(Problem& problem, mluOpHandle_t handle);

}  // namespace mluops::test
