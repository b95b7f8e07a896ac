// Discrete Fourier transforms from their definition, split by the smallest prime factor (Cooley and Tukey, 1965).
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

/// The output's numbers in their order, [batch, rows, columns], complex ones as two; real and complex inputs alike are
/// dense. Strides of the problem are not looked at.
Values fft(const mluopsFftProblem& problem);

}  // namespace mluops::reference
