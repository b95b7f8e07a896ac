// abs, log, sqrt and its gradient, div, lgamma and logspace from their definitions.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

Values absolute(const mluopsUnaryProblem& problem);
Values logarithm(const mluopsLogProblem& problem);
Values root(const mluopsUnaryProblem& problem);
Values root_backward(const mluopsSqrtBackwardProblem& problem);
Values quotient(const mluopsDivProblem& problem);
Values log_gamma(const mluopsUnaryProblem& problem);
Values logspace(const mluopsLogspaceProblem& problem);

}  // namespace mluops::reference
