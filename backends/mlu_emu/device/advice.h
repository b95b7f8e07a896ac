// The text about a launch: where its time goes, line by line, and what a change would save.
#pragma once

#include <string>
#include <vector>

#include "backends/mlu_emu/device/report.h"

namespace mluops::emu {

/// Where the time goes, most first, and which change would take it away.
std::vector<std::string> sentences(const LaunchReport& launch, const Settings& settings);

}  // namespace mluops::emu
