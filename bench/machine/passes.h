// Work done over and over on a few threads that start together, each round timed.
#pragma once

#include <functional>
#include <vector>

namespace bench {

/// Seconds of every round in which all threads run body(thread, round), for about `seconds` and three rounds at least.
/// Round 0 is not timed.
std::vector<double> timed_passes(int threads, double seconds, const std::function<void(int thread, int round)>& body);

}  // namespace bench
