// The part of torch's header that extensions use: tensors, factories, operators' registration and, in C++ and in BANG C
// files that name it, pybind11; without the C++ interface of modules, optimizers and data. A file that needs more is
// compiled again with all of it.
#pragma once

#ifdef MLUOPS_WHOLE_TORCH
#include_next <torch/extension.h>
#else
#ifdef __BANG__
#include "mluops_bindings.h"
#else
#include <torch/csrc/utils/pybind.h>
#endif
#include <torch/library.h>
#include <torch/types.h>
#endif
