// The C functions of the operators by their signatures alone: any argument may be anything of its type, but that a
// pointer behind a descriptor has as many bytes as that says.
#pragma once

#include "test/fuzz/targets/prepared_call.h"

namespace mluops::test {

/// Calls function `number` with the tensors of the prepared call in their order.
mluOpStatus_t call_raw(std::size_t number, PreparedCall& call, mluOpHandle_t handle, Choices& choices);

const char* name_of_raw(std::size_t number);
/// The operator whose tensors suit the function.
const char* operator_of_raw(std::size_t number);
std::size_t count_of_raw();

}  // namespace mluops::test
