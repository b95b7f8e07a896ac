// Wrong calls that follow from the descriptions in api/operators, as data: described.inc.
#pragma once

#include "test/validation/op_call.h"

namespace mluops::test {

/// The lines of described.inc about this C function. Changes are words with spaces between them:
///   x.1+1  x.1=0    the size of an axis of x           x:HALF  x@NCHW  x~   its dtype, layout, strides
///   x#4,5           all its sizes                      x!data  x!desc       NULL for its data, its descriptor
///   x[0]=-1         its first number                   k=3                  a parameter of the case
///   EXTENDED        the contract                       WORKSPACE            a workspace of 16 bytes at NULL
/// A line that names a tensor the call has not is left out.
std::vector<Wrong> described(const OpCall& base);

/// What such words do to a call.
std::function<void(OpCall&)> changes(const std::string& words);

}  // namespace mluops::test
