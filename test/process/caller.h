// What the probes share: the library, loaded by name, and a call of it that is large enough for several threads.
#pragma once

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

#include <stdexcept>
#include <string>
#include <vector>

#include "mlu_op_ext.h"

namespace mluops::test {

constexpr int kThreads = 4;

inline void require(bool well, const std::string& what) {
  if (!well) throw std::runtime_error(what);
}

#ifdef _WIN32
inline void* open_library(const char* path) {
  return LoadLibraryA(path);
}
inline void close_library(void* library) {
  FreeLibrary(static_cast<HMODULE>(library));
}
inline void* symbol_in(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}
#else
inline void* open_library(const char* path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}
inline void close_library(void* library) {
  dlclose(library);
}
inline void* symbol_in(void* library, const char* name) {
  return dlsym(library, name);
}
#endif

/// The library, loaded for the lifetime of the object.
class Library {
 public:
  explicit Library(const char* path) : library_(open_library(path)) {
    require(library_ != nullptr, std::string(path) + " cannot be loaded");
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { close_library(library_); }

  template <class... Args, class... Given>
  void call(mluOpStatus_t (*)(Args...), const char* name, Given... given) const {
    const auto function = reinterpret_cast<mluOpStatus_t (*)(Args...)>(symbol_in(library_, name));
    require(function != nullptr, name);
    const mluOpStatus_t status = function(given...);
    if (status == MLUOP_STATUS_SUCCESS) return;
    const auto text = reinterpret_cast<const char* (*)()>(symbol_in(library_, "mluOpExtGetLastErrorText"));
    throw std::runtime_error(std::string(name) + ": " + text());
  }

  int backend_count() const { return reinterpret_cast<int (*)()>(symbol_in(library_, "mluOpExtGetBackendCount"))(); }

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

}  // namespace mluops::test
