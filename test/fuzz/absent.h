// Tensors without memory: address space for sizes up to 2^60, and processes that may reach into it.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>

namespace mluops::test {

constexpr std::int64_t kMostPresent = 1 << 16;  ///< elements of a tensor that is there

/// Address space for `count` elements, counted up to 2^63, of `element_bytes`; nullptr where none is left. Touching it
/// is a fault that faults_of_this_process_tell_where() takes for an answer.
void* absent_memory(std::int64_t count, std::int64_t element_bytes);

/// Forgets and unmaps all of it.
void release_absent_memory();

/// How a process ends after a call with tensors without memory.
enum End { kAnswered = 0, kTouched = 10, kNotDescribed = 11, kFault = 12, kNoText = 13 };

/// From now on this process, a fork, ends by itself: with kTouched where it touches absent memory, with kFault at any
/// other fault, by SIGALRM after `microseconds`. It gets a gigabyte of memory, but under sanitizers.
void faults_of_this_process_tell_where(std::int64_t microseconds);

/// The library is being called: until then any fault is of the description that cannot bear its sizes, kNotDescribed.
void the_library_is_called();

/// Waits for the process and tells an End, SIGALRM, or minus the signal that ended it.
int end_of(int pid);

}  // namespace mluops::test
