// process_probe LIBRARY SCENARIO RUNTIME: makes a parallel call of a library it loads itself, in a process that does
// one of the things processes do. Exits 0 when all was well, else says what was wrong; a hang ends with SIGALRM.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/process/caller.h"

namespace {

using namespace mluops::test;  // NOLINT: what the probes share

constexpr unsigned kPatienceSeconds = 60;

void load_and_call(const char* path, const std::string& runtime) {
  const Library library(path);
  const Caller caller(library, runtime);
  caller.check(caller.run(1));
}

/// Runs body in a forked child.
template <class Body>
void in_child(Body&& body) {
  constexpr useconds_t kWorkersGoToSleep = 20'000;
  usleep(kWorkersGoToSleep);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatienceSeconds / 2);
    try {
      body();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "in the child: %s\n", e.what());
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  require(!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM, "the child hung");
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child failed, status " + std::to_string(status));
}

/// Load, call, unload, and again, with forks between.
void reload(const char* path, const std::string& runtime) {
  constexpr int kCycles = 6;
  for (int i = 0; i < kCycles; ++i) {
    load_and_call(path, runtime);
    if (i % 2 == 1) in_child([&] { load_and_call(path, runtime); });
  }
}

int own_openmp_region() {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(kThreads)
  for (int i = 0; i < 100; ++i) sum += i;
  return sum;
}

/// The program uses OpenMP, forks, and only the child makes a handle.
void first_handle_in_child(const char* path, const std::string& runtime) {
  const Library library(path);
  require(own_openmp_region() == 4950, "OpenMP of the program");
  in_child([&] {
    const Caller caller(library, runtime);
    caller.check(caller.run(1));
  });
}

/// The first handle in a child that loads the library itself.
void first_load_in_child(const char* path, const std::string& runtime) {
  require(own_openmp_region() == 4950, "OpenMP of the program");
  in_child([&] { load_and_call(path, runtime); });
}

/// Bytes of address space in use.
rlim_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void set_limit(int resource, rlim_t most) {
  const rlimit limit{most, most};
  require(setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0, "setrlimit");
}

/// No thread can be started: its stack does not fit into the address space.
void no_address_space(const char* path, const std::string& runtime) {
  constexpr rlim_t kLessThanAStack = rlim_t{7} << 20;
  const Library library(path);
  const Caller caller(library, runtime);
  const std::vector<float> expected = caller.run(1);
  set_limit(RLIMIT_AS, address_space() + kLessThanAStack);
  for (int i = 0; i < 3; ++i) caller.check(expected);
}

/// Only two more threads can be started. The limit does not hold for root.
void few_threads(const char* path, const std::string& runtime) {
  constexpr uid_t kNobody = 65534;
  constexpr rlim_t kThisAndTwo = 3;
  const Library library(path);
  const Caller caller(library, runtime);
  const std::vector<float> expected = caller.run(1);
  if (geteuid() == 0) require(setuid(kNobody) == 0, "setuid");
  set_limit(RLIMIT_NPROC, kThisAndTwo);
  for (int i = 0; i < 3; ++i) caller.check(expected);
}

/// A program with more rights than its caller does not load the caller's plugins. MLUOP_BACKEND_PATH names one.
void no_plugins(const char* path, const std::string&) {
  const Library library(path);
  require(library.backend_count() == 2, std::to_string(library.backend_count()) + " backends");
}

/// A call, which MLUOP_CAPTURE may keep.
void one_call(const char* path, const std::string& runtime) {
  const Library library(path);
  Caller(library, runtime).run(1);
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(const char* path, const std::string& runtime);
  } scenarios[] = {{"reload", reload},
                   {"first_handle_in_child", first_handle_in_child},
                   {"first_load_in_child", first_load_in_child},
                   {"no_address_space", no_address_space},
                   {"few_threads", few_threads},
                   {"no_plugins", no_plugins},
                   {"one_call", one_call}};
  alarm(kPatienceSeconds);
  try {
    require(argc == 4, "usage: process_probe LIBRARY SCENARIO RUNTIME");
    for (const auto& scenario : scenarios) {
      if (std::string(scenario.name) != argv[2]) continue;
      scenario.run(argv[1], argv[3]);
      return 0;
    }
    throw std::runtime_error("unknown scenario");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
