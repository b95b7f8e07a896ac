// Cases made of choices: every value that some list of the operator's cases knows, and small sizes.
#pragma once

#include <optional>
#include <string>

#include "test/cases/operator.h"
#include "test/fuzz/choices.h"

namespace mluops::test {

/// An operator by its place in the list, or nullptr: operators are appended, so inputs keep their meaning.
const cases::OperatorCases* pick_operator(Choices& choices);

/// A case of the operator and its description, where it makes sense and its tensors have at most `most` elements.
std::optional<cases::Description> small_case(const cases::OperatorCases& op, mluOpDataType_t dtype, Choices& choices,
                                             std::int64_t most);

}  // namespace mluops::test
