// A call on NCHW tensors: what a case says with layout=nchw.
#pragma once

#include "test/cases/operator.h"

namespace mluops::cases {

/// Whether the call has image tensors, which could be NCHW.
bool has_images(const Description& d);

/// The description with its NHWC tensors in NCHW: the same numbers in another order. The reference still sees NHWC.
Description as_nchw(Description d);

}  // namespace mluops::cases
