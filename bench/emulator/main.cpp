// mluops_bench_emulator: what the emulated device costs beside the same loops compiled plainly, with its checks off and
// on, and what a launch costs.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/emulator/work.h"

namespace bench_emulator {
namespace {

constexpr int kLanes[] = {1024, kMostLanes};
constexpr std::int64_t kTensor = std::int64_t{1} << 20;  // floats
constexpr double kShare = 0.01;                          // seconds a batch takes at least

void must(cnrtRet_t status) {
  if (status != cnrtSuccess) throw std::runtime_error(cnrtExtGetLastFault());
}

/// Microseconds of one call: the least of some batches, since everything else on the machine only adds.
double time_of(const std::function<void(int)>& run) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [&](int calls) {
    const Clock::time_point start = Clock::now();
    run(calls);
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const auto least = [&](int calls) { return std::min({seconds(calls), seconds(calls), seconds(calls)}); };
  int calls = 1;
  while (least(calls) < kShare && calls < (1 << 24)) calls *= 2;
  return std::min({least(calls), least(calls), least(calls)}) / calls * 1e6;
}

struct Entry {
  std::string name;
  bool against_plain;
};

std::vector<Entry> entries() {
  std::vector<Entry> list;
  const auto launches = [&](const char* where) {
    for (const char* what : {"empty", "tiny"}) {
      list.push_back({std::string("launch, ") + what + ", BLOCK of 1" + where, false});
      list.push_back({std::string("launch, ") + what + ", UNION1 of 4" + where, false});
    }
  };
  launches("");
  for (const int lanes : kLanes) {
    for (const char* name : kLoopNames) list.push_back({std::string(name) + ", " + std::to_string(lanes), true});
  }
  list.push_back({"c = a + b of 4 MiB each, UNION1", true});
  launches(", 320 KiB of NRAM objects");
  return list;
}

std::vector<double> measure_plainly() {
  std::vector<double> times;
  for (const int lanes : kLanes) {
    for (int i = 0; i < kLoops; ++i) {
      times.push_back(time_of([=](int calls) { run_plainly(static_cast<Loop>(i), lanes, calls); }));
    }
  }
  std::vector<float> a(kTensor, 1), b(kTensor, 2), c(kTensor);
  times.push_back(time_of([&](int calls) {
    for (int i = 0; i < calls; ++i) add_plainly(c.data(), a.data(), b.data(), kTensor);
  }));
  return times;
}

float* tensor() {
  void* data = nullptr;
  must(cnrtMalloc(&data, kTensor * sizeof(float)));
  must(cnrtMemset(data, 0, kTensor * sizeof(float)));
  return static_cast<float*>(data);
}

std::vector<double> measure_on_device() {
  cnrtQueue_t queue = nullptr;
  must(cnrtQueueCreate(&queue));
  float *a = tensor(), *b = tensor(), *c = tensor();
  std::vector<double> times;
  const auto launches = [&](const std::function<void()>& launch) {
    times.push_back(time_of([&](int calls) {
      for (int i = 0; i < calls; ++i) launch();
    }));
    must(cnrtQueueSync(queue));
  };
  const auto small_launches = [&] {
    launches([&] { launch_empty(queue, cnrtFuncTypeBlock, 1); });
    launches([&] { launch_empty(queue, cnrtFuncTypeUnion1, 4); });
    launches([&] { launch_tiny(queue, cnrtFuncTypeBlock, 1, a); });
    launches([&] { launch_tiny(queue, cnrtFuncTypeUnion1, 4, a); });
  };
  small_launches();
  for (const int lanes : kLanes) {
    for (int i = 0; i < kLoops; ++i) {
      times.push_back(time_of([=](int calls) { run_as_words(queue, static_cast<Loop>(i), a, lanes, calls); }));
      must(cnrtQueueSync(queue));
    }
  }
  launches([&] { add_on_device(queue, c, a, b, kTensor); });
  small_launches();  // again, now that kernels of the program have laid out large objects
  return times;
}

/// In a process of its own: the machine reads its settings once.
std::vector<double> measure_with_checks(const char* checks) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    setenv("MLUOP_EMU_CHECK", checks, 1);
    const std::vector<double> times = measure_on_device();
    const ssize_t bytes = static_cast<ssize_t>(times.size() * sizeof(double));
    _exit(write(ends[1], times.data(), static_cast<std::size_t>(bytes)) == bytes ? 0 : 1);
  }
  close(ends[1]);
  std::vector<double> times(entries().size());
  const auto bytes = static_cast<ssize_t>(times.size() * sizeof(double));
  const ssize_t got = read(ends[0], times.data(), static_cast<std::size_t>(bytes));
  close(ends[0]);
  int status = 1;
  if (waitpid(child, &status, 0) != child || status != 0 || got != bytes) throw std::runtime_error("a run failed");
  return times;
}

int main_of() {
  const std::vector<double> off = measure_with_checks("off"), on = measure_with_checks("all");
  const std::vector<double> plain = measure_plainly();
  const std::vector<Entry> list = entries();
  double worst_off = 0, worst_on = 0;
  std::printf("| loop, lanes | plain, us | checks off, us | x | checks on, us | x |\n|---|--:|--:|--:|--:|--:|\n");
  for (std::size_t i = 0, loop = 0; i < list.size(); ++i) {
    std::printf("| %s |", list[i].name.c_str());
    if (!list[i].against_plain) {
      std::printf(" | %.1f | | %.1f | |\n", off[i], on[i]);
      continue;
    }
    const double t = plain[loop++];
    worst_off = std::max(worst_off, off[i] / t), worst_on = std::max(worst_on, on[i] / t);
    std::printf(" %.3f | %.3f | %.1f | %.3f | %.1f |\n", t, off[i], off[i] / t, on[i], on[i] / t);
  }
  std::printf("\nat most %.1f times with checks off, %.1f times with checks on\n", worst_off, worst_on);
  return 0;
}

}  // namespace
}  // namespace bench_emulator

int main() {
  try {
    return bench_emulator::main_of();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
