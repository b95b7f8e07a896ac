// JSON as the library's queries give it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace explain {

/// Members stay in the order of the text.
using Json = nlohmann::ordered_json;

}  // namespace explain
