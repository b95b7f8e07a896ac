// The NRAM map and the start of the timeline as a picture.
#pragma once

#include <string>

#include "bench/explain/json.h"

namespace explain {

/// report and trace of the same call; the launch with the most events is drawn.
std::string draw(const Json& report, const Json& trace, const std::string& title);

}  // namespace explain
