// The words of the descriptions (test/cases) that the bench uses.
#pragma once

#include "test/cases/base/parallel.h"
#include "test/cases/operator.h"

namespace bench {

using mluops::cases::all_operators;
using mluops::cases::Argument;
using mluops::cases::Arguments;
using mluops::cases::available_cpus;
using mluops::cases::Case;
using mluops::cases::Cases;
using mluops::cases::Comparison;
using mluops::cases::Contention;
using mluops::cases::Coordinates;
using mluops::cases::describe;
using mluops::cases::Description;
using mluops::cases::dtype_name;
using mluops::cases::element_size;
using mluops::cases::find_operator;
using mluops::cases::Growth;
using mluops::cases::Inputs;
using mluops::cases::OperatorCases;
using mluops::cases::parallel_slices;
using mluops::cases::parallel_tasks;
using mluops::cases::SampleValue;
using mluops::cases::TensorSpec;
using mluops::cases::Values;
using mluops::cases::with_defaults;

}  // namespace bench
