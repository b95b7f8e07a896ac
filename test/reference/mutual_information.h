// MutualInformation from its definition: the lattice filled cell by cell, gradients scattered from the end.
#pragma once

#include "test/reference/reference.h"

namespace mluops::reference {

struct PathSums {
  Values p;    ///< [b,s+1,t+1]
  Values ans;  ///< [b]
};
/// `before`: what p held.
PathSums mutual_information_forward(const mluopsMutualInformationForwardProblem& problem, Values before);

struct PathGradients {
  Values ans_grad;          ///< [b]
  Values px_grad, py_grad;  ///< [b,s,t+1], [b,s+1,t]
};
/// The problem's ans_grad is read.
PathGradients mutual_information_backward(const mluopsMutualInformationBackwardProblem& problem);

}  // namespace mluops::reference
