#include "plugins/device/library.h"

#include <memory>
#include <mutex>
#include <stdexcept>

#include "common/env.h"
#include "common/shared_object.h"
#include "common/trust.h"
#include "mlu_op.h"

namespace mluops::device {
namespace {

constexpr const char *kLibrary = "MLUOP_DEVICE_LIBRARY", *kRuntime = "MLUOP_DEVICE_RUNTIME",
                     *kCard = "MLUOP_DEVICE_CARD";
// The versions whose prototypes and numbers this file is compiled with. A minor version of mluOp changes prototypes.
constexpr int kMajor = MLUOP_MAJOR, kMinor = MLUOP_MINOR, kRuntimeMajor = 6;

[[noreturn]] void refuse(const std::string& text) {
  throw std::runtime_error(text);
}

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

void* load(const char* variable, const std::string& path) {
  const std::string name = std::string(variable) + ": ";
  if (path.front() != '/') refuse(name + "wanted an absolute path, got " + path);
  std::string why = why_not_trusted(path);
  if (!why.empty()) refuse(name + path + ": " + why);
  void* const object = load_isolated_object(path, why);
  if (object == nullptr) refuse(name + why);
  return object;
}

std::string path_of_library() {
  const std::string path = secure_env_text(kLibrary).value_or("");
  if (path.empty()) refuse(std::string(kLibrary) + ": wanted the absolute path of the vendor's libmluops, got nothing");
  return path;
}

/// The runtime is loaded first: a library that needs it finds it there.
void* load_runtime() {
  const std::string path = secure_env_text(kRuntime).value_or("");
  return path.empty() ? nullptr : load(kRuntime, path);
}

}  // namespace

const Library& Library::instance() {
  static std::mutex mutex;
  static const Library* loaded = nullptr;  // never unloaded: handles and the vendor's threads may use it to the end
  const std::lock_guard lock(mutex);
  if (loaded == nullptr) loaded = std::unique_ptr<Library>(new Library()).release();
  return *loaded;
}

Library::Library() : path_(path_of_library()), object_(nullptr), runtime_(nullptr) {
  void* const runtime = load_runtime();
  object_ = load(kLibrary, path_);
  check_library();
  void* const own = symbol_of(object_, "cnrtMalloc");
  if (runtime == nullptr && own == nullptr) refuse(path_ + ": it loads no libcnrt: name one in " + kRuntime);
  if (runtime != nullptr && own != nullptr && own != symbol_of(runtime, "cnrtMalloc"))
    refuse(std::string(kRuntime) + ": " + path_ + " loads another libcnrt; leave the variable unset");
  runtime_ = Runtime(runtime != nullptr ? runtime : object_);
  check_runtime(runtime != nullptr ? secure_env_text(kRuntime).value_or("") : "libcnrt of " + path_);
  choose_card();
}

void Library::check_library() {
  using GetVersion = void (*)(int*, int*, int*);
  const auto version = reinterpret_cast<GetVersion>(find("mluOpGetLibVersion"));
  if (version == nullptr) refuse(path_ + ": it exports no mluOpGetLibVersion");
  int major = 0, minor = 0, patch = 0;
  version(&major, &minor, &patch);
  version_ = "mluOp " + dotted(major, minor, patch);
  if (major != kMajor || minor != kMinor) {
    refuse(path_ + ": wanted version " + std::to_string(kMajor) + "." + std::to_string(kMinor) + " of mluOp, got " +
           dotted(major, minor, patch));
  }
}

void Library::check_runtime(const std::string& runtime) const {
  if (const std::string name = runtime_.missing(); !name.empty()) refuse(runtime + ": it exports no " + name);
  const Runtime::Version v = runtime_.version();
  if (v.major != kRuntimeMajor) {
    refuse(runtime + ": wanted version " + std::to_string(kRuntimeMajor) + " of cnrt, got " +
           dotted(v.major, v.minor, v.patch));
  }
}

void Library::choose_card() {
  const unsigned cards = runtime_.cards();
  if (cards == 0) refuse("no card: cnrtGetDeviceCount found none");
  std::string problem;
  const auto card = env_integer(kCard, 0, static_cast<long long>(cards) - 1, &problem);
  if (!problem.empty()) refuse(problem);
  card_ = static_cast<int>(card.value_or(0));
}

void* Library::find(const char* name) const {
  return symbol_of(object_, name);
}

std::string Library::text() const {
  const Runtime::Version v = runtime_.version();
  return path_ + ": " + version_ + ", cnrt " + dotted(v.major, v.minor, v.patch) + ", card " + std::to_string(card_) +
         " of " + std::to_string(runtime_.cards());
}

OnCard::OnCard(const Library& library) : runtime_(library.runtime()), before_(runtime_.chosen()) {
  runtime_.choose(library.card());
}

OnCard::~OnCard() {
  try {
    runtime_.choose(before_);
  } catch (const std::exception&) {  // it was chosen before
  }
}

}  // namespace mluops::device
