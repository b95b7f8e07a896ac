// What only the operating system can tell, one way for each system that has another.
#pragma once

#include <cstdint>
#include <string>

namespace mluops {

/// A variable of the environment, nullptr in a program that runs with more rights than its caller (setuid, setgid,
/// capabilities).
const char* secure_variable(const char* name);

/// Processors in the affinity mask of the thread that calls; 0 when it cannot be read.
int processors_of_caller();

/// Processors in the affinity mask of the process: on Linux that of its first thread. 0 when it cannot be read.
int processors_of_process();

std::int64_t process_number();

/// Whether an address is one of the process' memory.
bool mapped(std::uintptr_t address);

bool is_folder(const std::string& path);

/// Empty when the code in a file may be run: a regular file that not everybody can change or replace. The path is
/// followed to where it leads first.
std::string why_not_trusted(const std::string& path);

}  // namespace mluops
