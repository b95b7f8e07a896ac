// Pages for a browser, each one file that needs nothing beside it.
#pragma once

#include <string>
#include <string_view>

namespace mluops::page {

/// The page that shows these data: a JSON object with "kind": "bench" or "launches", whose form bench.js and
/// launches.js tell.
std::string html(std::string_view title, std::string_view json);

}  // namespace mluops::page
