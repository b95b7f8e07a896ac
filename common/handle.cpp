#include "common/handle.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "common/env.h"

namespace mluops {

BackendInstance::BackendInstance(BackendInstance&& other) noexcept
    : backend_(other.backend_), context_(std::exchange(other.context_, nullptr)) {}

BackendInstance& BackendInstance::operator=(BackendInstance&& other) noexcept {
  std::swap(backend_, other.backend_);
  std::swap(context_, other.context_);
  return *this;
}

BackendInstance::~BackendInstance() {
  if (context_ != nullptr && backend_->destroy != nullptr) backend_->destroy(context_);
}

namespace {

Status append_backend(const Registry& registry, std::string_view name, std::vector<BackendInstance>& chain) {
  const mluopsBackend* backend = registry.find(name);
  if (backend == nullptr) {
    return Status::error(MLUOP_STATUS_NOT_INITIALIZED,
                         "backend \"" + std::string(name) + "\" is unknown; known: " + registry.known_text());
  }
  void* context = nullptr;
  if (backend->create != nullptr) {
    set_last_error_text("");
    if (backend->create(set_last_error_text, &context) != MLUOP_STATUS_SUCCESS) {
      return Status::error(MLUOP_STATUS_NOT_INITIALIZED, "backend \"" + std::string(name) + "\" cannot be used: " +
                                                             last_error_text() + "; known: " + registry.known_text());
    }
  }
  chain.emplace_back(*backend, context);
  return Status::go_on();
}

}  // namespace

Status create_chain(const Registry& registry, std::string_view chain, std::vector<BackendInstance>& out) {
  std::vector<BackendInstance> made;
  while (true) {
    const std::size_t comma = chain.find(',');
    MLUOPS_RETURN_IF_FINISHED(append_backend(registry, chain.substr(0, comma), made));
    if (comma == std::string_view::npos) break;
    chain.remove_prefix(comma + 1);
  }
  out = std::move(made);
  return Status::go_on();
}

std::string default_chain() {
  return env_text("MLUOP_BACKEND").value_or("cpu");
}

int default_threads() {
  constexpr long long kMost = 4096;
  if (auto n = env_integer("MLUOP_NUM_THREADS", 1, kMost)) return static_cast<int>(*n);
  // OMP_NUM_THREADS may list one number per nesting level; the first is the outermost.
  if (const char* omp = std::getenv("OMP_NUM_THREADS")) {
    const long n = std::strtol(omp, nullptr, 10);
    if (n >= 1 && n <= kMost) return static_cast<int>(n);
  }
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) return std::max(1, CPU_COUNT(&mask));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace mluops
