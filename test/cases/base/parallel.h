// Threads for filling and checking large tensors: plain ones, of no backend.
#pragma once

#include <cstdint>
#include <functional>

namespace mluops::cases {

/// CPUs this process may use.
int available_cpus();

/// Calls body(begin, end) on slices of [0, count), one slice per CPU; slices start at multiples of `grain`.
void parallel_slices(std::int64_t count, std::int64_t grain,
                     const std::function<void(std::int64_t, std::int64_t)>& body);

/// Calls body(task) for every task in [0, tasks), tasks handed out one at a time.
void parallel_tasks(std::int64_t tasks, const std::function<void(std::int64_t)>& body);

}  // namespace mluops::cases
