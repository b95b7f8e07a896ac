// process_probe LIBRARY SCENARIO RUNTIME: makes a parallel call of a library it loads itself, in a process that does
// one of the things processes do. Exits 0 when all was well, else says what was wrong; a hang ends with SIGALRM.
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "mlu_op_ext.h"

namespace {

constexpr unsigned kPatienceSeconds = 60;
constexpr int kThreads = 4;

void require(bool well, const std::string& what) {
  if (!well) throw std::runtime_error(what);
}

/// The library, loaded for the lifetime of the object.
class Library {
 public:
  explicit Library(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(dlerror());
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { dlclose(library_); }

  template <class... Args, class... Given>
  void call(mluOpStatus_t (*)(Args...), const char* name, Given... given) const {
    const auto function = reinterpret_cast<mluOpStatus_t (*)(Args...)>(dlsym(library_, name));
    require(function != nullptr, name);
    const mluOpStatus_t status = function(given...);
    if (status == MLUOP_STATUS_SUCCESS) return;
    const auto text = reinterpret_cast<const char* (*)()>(dlsym(library_, "mluOpExtGetLastErrorText"));
    throw std::runtime_error(std::string(name) + ": " + text());
  }

  int backend_count() const { return reinterpret_cast<int (*)()>(dlsym(library_, "mluOpExtGetBackendCount"))(); }

 private:
  void* library_;
};

#define CALL(library, function, ...) (library).call(static_cast<decltype(&(function))>(nullptr), #function, __VA_ARGS__)

constexpr int kSide = 24, kMask = 47;
constexpr std::size_t kInput = std::size_t{kSide} * kSide * kMask * kMask;
constexpr std::size_t kOutput = std::size_t{kSide} * kSide * kSide * kSide;

/// A handle on one runtime and an operator large enough for several threads.
class Caller {
 public:
  Caller(const Library& library, const std::string& runtime) : library_(library), input_(kInput) {
    for (std::size_t i = 0; i < kInput; ++i) input_[i] = static_cast<float>(i % 1021);
    CALL(library_, mluOpCreate, &handle_);
    if (runtime == "emulator") {
      CALL(library_, mluOpExtSetBackend, handle_, "mlu_emu");
      CALL(library_, mluOpExtSetOption, handle_, "mlu_emu", "order", "parallel");
    } else {
      CALL(library_, mluOpExtSetOption, handle_, "cpu", "threading", runtime.c_str());
    }
    describe(x_, {1, kSide, kSide, kMask * kMask});
    describe(y_, {1, kSide, kSide, kSide * kSide});
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller() {
    CALL(library_, mluOpDestroyTensorDescriptor, x_);
    CALL(library_, mluOpDestroyTensorDescriptor, y_);
    CALL(library_, mluOpDestroy, handle_);
  }

  std::vector<float> run(int threads) const {
    std::vector<float> output(kOutput, -1.0f);
    CALL(library_, mluOpExtSetNumThreads, handle_, threads);
    CALL(library_, mluOpPsamaskForward, handle_, 0, x_, input_.data(), kMask, kMask, y_, output.data());
    return output;
  }
  /// A call on several threads gives what one thread gave.
  void check(const std::vector<float>& expected) const {
    require(run(kThreads) == expected, "several threads: other numbers than one thread's");
  }

 private:
  void describe(mluOpTensorDescriptor_t& desc, const std::vector<int>& dims) const {
    CALL(library_, mluOpCreateTensorDescriptor, &desc);
    CALL(library_, mluOpSetTensorDescriptor, desc, MLUOP_LAYOUT_NHWC, MLUOP_DTYPE_FLOAT, static_cast<int>(dims.size()),
         dims.data());
  }

  const Library& library_;
  std::vector<float> input_;
  mluOpHandle_t handle_ = nullptr;
  mluOpTensorDescriptor_t x_ = nullptr, y_ = nullptr;
};

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
