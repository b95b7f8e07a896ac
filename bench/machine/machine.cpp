#include "bench/machine/machine.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <vector>

#include "bench/machine/passes.h"
#include "bench/machine/streams.h"
#include "test/cases/base/parallel.h"

namespace bench {
namespace {

// Results go here so that no measured loop can be left out.
std::atomic<std::uint32_t> sink;

/// Shortest time of one pass of body(thread) on all threads, of three.
double best_pass(int threads, const std::function<void(int)>& body) {
  const std::vector<double> times = timed_passes(threads, 0, [&](int thread, int) { body(thread); });
  return *std::min_element(times.begin(), times.end());
}

struct Slice {
  float* from;
  float* to;
  std::size_t n;
};

constexpr std::int64_t kRoofIterations = 1000000, kLookIterations = kRoofIterations / 5;

double measure_flops(int threads, std::int64_t iterations) {
  double flops = 0;
  const auto chains = [&](int t) {
    double mine = 0;
    const float value = fma_chains(iterations, &mine);
    sink = sink ^ static_cast<std::uint32_t>(value);
    if (t == 0) flops = mine * threads;
  };
  const double pass = best_pass(threads, chains);
  return flops / pass;
}

constexpr double Roof::*kFigures[] = {&Roof::read, &Roof::fill, &Roof::zero, &Roof::copy, &Roof::flops};

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

void Roof::raise_to(const Roof& other) {
  threads = other.threads;
  for (double Roof::*figure : kFigures) this->*figure = std::max(this->*figure, other.*figure);
}

Machine::Machine(const std::vector<int>& threads, std::int64_t cache, double fresh_seconds)
    : cache_(cache),
      fresh_(fresh_seconds),
      samples_(threads.size()),
      measured_(threads.size()),
      most_flops_(threads.size()) {
  for (const int t : threads) roofs_.push_back({t});
}

/// Four times the cache, at least 128 MiB: no pass finds data of the pass before.
std::size_t Machine::buffer_bytes() const {
  return static_cast<std::size_t>(std::max<std::int64_t>(4 * cache_, 128 << 20));
}

Roof Machine::measure(int threads) const {
  const std::size_t n = from_->size() / sizeof(float) / static_cast<std::size_t>(threads) / 1024 * 1024;
  const auto slice = [&](int t) {
    const std::size_t at = static_cast<std::size_t>(t) * n;
    return Slice{reinterpret_cast<float*>(from_->data()) + at, reinterpret_cast<float*>(to_->data()) + at, n};
  };
  const auto bytes = static_cast<double>(n * sizeof(float)) * threads;
  Roof roof;
  roof.threads = threads;
  roof.fill = bytes / best_pass(threads, [&](int t) { stream_fill(slice(t).to, n, 1); });
  roof.zero = bytes / best_pass(threads, [&](int t) { stream_fill(slice(t).to, n, 0); });
  roof.read = bytes / best_pass(threads, [&](int t) { sink = stream_read(slice(t).from, n); });
  roof.copy = 2 * bytes / best_pass(threads, [&](int t) { stream_copy(slice(t).from, slice(t).to, n); });
  roof.flops = measure_flops(threads, kRoofIterations);
  return roof;
}

const Roof& Machine::now(int threads) {
  if (!from_) {
    from_.emplace(buffer_bytes());
    to_.emplace(buffer_bytes());
    // All CPUs touch it, as they will read it: where memory belongs to some of them, each has a part.
    mluops::cases::parallel_slices(static_cast<std::int64_t>(buffer_bytes() / sizeof(float)), 1024,
                                   [&](std::int64_t begin, std::int64_t end) {
                                     stream_fill(reinterpret_cast<float*>(from_->data()) + begin,
                                                 static_cast<std::size_t>(end - begin) / 1024 * 1024, 1);
                                   });
  }
  const std::size_t i = index_of(threads);
  std::vector<Roof>& samples = samples_[i];
  if (!samples.empty() && Clock::now() - measured_[i] < fresh_) return samples.back();
  Roof sample;
  for (int tries = 0; tries < 3; ++tries) {
    sample = measure(threads);
    most_flops_[i] = std::max(most_flops_[i], sample.flops);
    if (sample.flops >= kUndisturbed * most_flops_[i]) break;
  }
  samples.push_back(sample);
  measured_[i] = Clock::now();
  for (double Roof::*figure : kFigures) roofs_[i].*figure = upper_quartile(samples, figure);
  return samples.back();
}

bool Machine::undisturbed(int threads) {
  double& most = most_flops_[index_of(threads)];
  const double flops = measure_flops(threads, kLookIterations);
  most = std::max(most, flops);
  const bool disturbed = flops < kUndisturbed * most;
  ++looks_;
  disturbed_looks_ += disturbed;
  return !disturbed;
}

std::size_t Machine::index_of(int threads) const {
  const auto found = std::find_if(roofs_.begin(), roofs_.end(), [&](const Roof& r) { return r.threads == threads; });
  return static_cast<std::size_t>(found - roofs_.begin());
}

const Roof& Machine::at(int threads) const {
  return roofs_[index_of(threads)];
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
