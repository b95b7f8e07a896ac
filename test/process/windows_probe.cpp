// windows_probe LIBRARY SCENARIO RUNTIME: how a process of Windows ends and unloads after calls on several threads.
// Windows ends all other threads and then runs the destructors of static objects under the loader's lock, where nothing
// may wait for a thread. Exits 0 when all was well; whoever starts it bounds its time.
#include "test/process/caller.h"

// after windows.h, whose types it uses
#include <tlhelp32.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace {

using namespace mluops::test;  // NOLINT: what the probes share

int threads_of_process() {
  const HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  require(all != INVALID_HANDLE_VALUE, "no list of threads");
  THREADENTRY32 entry;
  entry.dwSize = sizeof(entry);
  int own = 0;
  for (BOOL more = Thread32First(all, &entry); more; more = Thread32Next(all, &entry)) {
    if (entry.th32OwnerProcessID == GetCurrentProcessId()) ++own;
  }
  CloseHandle(all);
  return own;
}

/// No thread of the library outlives its call, so none can be waited for when the process ends.
void no_thread_stays(const char* path, const std::string& runtime) {
  const Library library(path);
  const Caller caller(library, runtime);
  const std::vector<float> expected = caller.run(1);
  const int before = threads_of_process();
  for (int i = 0; i < 3; ++i) caller.check(expected);
  const int after = threads_of_process();
  require(after == before, std::to_string(before) + " threads before the calls, " + std::to_string(after) + " after");
}

/// Load, call, unload, and again; a thread that made calls ends after the library is gone.
void reload(const char* path, const std::string& runtime) {
  constexpr int kCycles = 4;
  for (int i = 0; i < kCycles; ++i) {
    std::atomic<bool> called = false, unloaded = false;
    std::string failure;
    const auto call = [&](const Library& library) {
      try {
        Caller(library, runtime).run(kThreads);
      } catch (const std::exception& e) {
        failure = e.what();
      }
      called = true;
      called.notify_one();
      unloaded.wait(false);
    };
    std::thread other;
    {
      const Library library(path);
      other = std::thread(call, std::cref(library));
      called.wait(false);
    }
    unloaded = true;
    unloaded.notify_one();
    other.join();
    require(failure.empty(), failure);
  }
}

/// The process ends while a thread is in a call, and the calls' own threads with it.
void exit_in_a_call(const char* path, const std::string& runtime) {
  static const Library& library = *new Library(path);  // stays: the thread goes on while the process ends
  static std::atomic<int> calls = 0;
  std::thread([runtime] {
    const Caller caller(library, runtime);
    while (true) {
      caller.run(kThreads);
      calls.fetch_add(1);
    }
  }).detach();
  while (calls.load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(const char* path, const std::string& runtime);
  } scenarios[] = {{"no_thread_stays", no_thread_stays}, {"reload", reload}, {"exit_in_a_call", exit_in_a_call}};
  try {
    require(argc == 4, "usage: windows_probe LIBRARY SCENARIO RUNTIME");
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
