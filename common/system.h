// What only the operating system can tell, one way for each system that has another.
#pragma once

#include <cstdint>
#include <string>

namespace mluops {

/// Processors in the affinity mask of the thread that calls; 0 when it cannot be read.
int processors_of_caller();

/// Processors in the affinity mask of the process: on Linux that of its first thread. 0 when it cannot be read.
int processors_of_process();

std::int64_t process_number();

/// Whether an address is one of the process' memory.
bool mapped(std::uintptr_t address);

bool is_folder(const std::string& path);

}  // namespace mluops
