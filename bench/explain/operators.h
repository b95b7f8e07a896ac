// The operators by name, with shapes to explain them on.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/cases/case.h"

namespace explain {

/// Parameters of an operator in order, e.g. {"n", 1}.
using Parameters = std::vector<std::pair<std::string, double>>;

/// "carafe_forward", ... all ten.
const std::vector<std::string>& operator_names();

/// Shapes of the design documents, reduced where they would take long. Throws std::invalid_argument for an unknown
/// operator.
Parameters default_parameters(const std::string& op);

/// The case of an operator at its defaults with `changed` applied. Throws std::invalid_argument for an unknown name or
/// a value that is not positive (psa_type and offset may be 0).
bench::Case make_case(const std::string& op, const Parameters& changed, mluOpDataType_t dtype);

}  // namespace explain
