// Lies about the tensors of a prepared call, sizes up to 2^62 among them.
#pragma once

#include "test/fuzz/targets/prepared_call.h"

namespace mluops::test {

/// Tells up to four lies: sizes of one tensor or wherever the size stands, types, strides, missing descriptors and
/// data, wild numbers. Returns the tensor that a refusal has to name, where the only lie is that its descriptor or data
/// are missing; else nullptr: other lies are as well about the tensors that no longer fit to it.
const PreparedTensor* tell_lies(PreparedCall& call, Choices& choices);

bool any_tensor_is_absent(const PreparedCall& call);
/// Whether STRICT refuses the call for the size of a tensor, whatever else it is.
bool beyond_strict(const PreparedCall& call);

/// Gives every tensor without memory address space of its own.
bool spread_absent_tensors(PreparedCall& call);

}  // namespace mluops::test
