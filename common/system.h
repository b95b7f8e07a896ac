// Facts that only the operating system knows, with one implementation per system.
#pragma once

#include <cstdint>
#include <string>

namespace mluops {

/// Processors in the affinity mask of the thread that calls; 0 when it cannot be read.
int processors_of_caller();

/// Processors in the affinity mask of the process: on Linux that of its first thread. 0 when it cannot be read.
int processors_of_process();

std::int64_t process_number();

bool is_folder(const std::string& path);

}  // namespace mluops
