#include "bench/machine/machine.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <vector>

#include "bench/machine/memory.h"
#include "bench/machine/passes.h"
#include "bench/machine/streams.h"

namespace bench {
namespace {

// Results go here so that no measured loop can be left out.
std::atomic<std::uint32_t> sink;

/// Shortest time of one pass of body(thread) on all threads, repeated for `seconds`.
double best_pass(int threads, double seconds, const std::function<void(int)>& body) {
  const std::vector<double> times = timed_passes(threads, seconds, [&](int thread, int) { body(thread); });
  return *std::min_element(times.begin(), times.end());
}

struct Slice {
  float* from;
  float* to;
  std::size_t n;
};

double measure_flops(int threads, double seconds) {
  double flops = 0;
  const auto chains = [&](int t) {
    double mine = 0;
    const float value = fma_chains(2000000, &mine);
    sink = sink ^ static_cast<std::uint32_t>(value);
    if (t == 0) flops = mine * threads;
  };
  const double pass = best_pass(threads, seconds, chains);
  return flops / pass;
}

// Neither a lucky moment nor a disturbed one.
double upper_quartile(const std::vector<Roof>& samples, double Roof::*figure) {
  std::vector<double> values;
  for (const Roof& r : samples) values.push_back(r.*figure);
  std::sort(values.begin(), values.end());
  return values[values.size() * 3 / 4];
}

}  // namespace

double Roof::bound(double read_bytes, double write_bytes, double task_flops) const {
  return std::max({read_bytes / read, write_bytes / fill, (read_bytes + write_bytes) / copy, task_flops / flops});
}

const char* Roof::limit(double read_bytes, double write_bytes, double task_flops) const {
  const double all = bound(read_bytes, write_bytes, task_flops);
  if (all == task_flops / flops) return "fma";
  if (all == write_bytes / fill) return "fill";
  return all == read_bytes / read ? "read" : "copy";
}

Roof measure(int threads, double seconds) {
  // Four times the last-level cache in each buffer, at least 128 MiB: no pass finds data of the pass before.
  const std::size_t wanted = static_cast<std::size_t>(std::max<std::int64_t>(4 * last_level_cache(), 128 << 20));
  const std::size_t n = wanted / sizeof(float) / static_cast<std::size_t>(threads) / 1024 * 1024;
  const std::size_t bytes = n * sizeof(float) * static_cast<std::size_t>(threads);
  const Pages from(bytes), to(bytes);
  const auto slice = [&](int t) {
    const std::size_t at = static_cast<std::size_t>(t) * n;
    return Slice{reinterpret_cast<float*>(from.data()) + at, reinterpret_cast<float*>(to.data()) + at, n};
  };
  // Every thread touches its own slices first.
  best_pass(threads, 0, [&](int t) { stream_fill(slice(t).from, n, 1); });
  const double part = seconds / 5;
  const auto b = static_cast<double>(bytes);
  Roof roof;
  roof.threads = threads;
  roof.fill = b / best_pass(threads, part, [&](int t) { stream_fill(slice(t).to, n, 1); });
  roof.zero = b / best_pass(threads, part, [&](int t) { stream_fill(slice(t).to, n, 0); });
  roof.read = b / best_pass(threads, part, [&](int t) { sink = stream_read(slice(t).from, n); });
  roof.copy = 2 * b / best_pass(threads, part, [&](int t) { stream_copy(slice(t).from, slice(t).to, n); });
  roof.flops = measure_flops(threads, part);
  return roof;
}

Machine::Machine(const std::vector<int>& threads) : samples_(threads.size()) {
  for (const int t : threads) roofs_.push_back({t});
}

void Machine::refresh(double seconds_each) {
  for (std::size_t i = 0; i < roofs_.size(); ++i) {
    samples_[i].push_back(measure(roofs_[i].threads, seconds_each));
    for (double Roof::*figure : {&Roof::read, &Roof::fill, &Roof::zero, &Roof::copy, &Roof::flops}) {
      roofs_[i].*figure = upper_quartile(samples_[i], figure);
    }
  }
}

const Roof& Machine::at(int threads) const {
  return *std::find_if(roofs_.begin(), roofs_.end(), [&](const Roof& r) { return r.threads == threads; });
}

std::string vector_target() {
  return stream_target();
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace bench
