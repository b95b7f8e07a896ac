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

namespace {

constexpr long long kMostThreads = 4096;

/// First number of OMP_NUM_THREADS, which may list one per nesting level; 0 when there is none.
int omp_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  const long n = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
  return n >= 1 && n <= kMostThreads ? static_cast<int>(n) : 0;
}

int affinity_threads() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) return std::max(1, CPU_COUNT(&mask));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

Status read_default_threads(int& threads) {
  std::string problem;
  const auto own = env_integer("MLUOP_NUM_THREADS", 1, kMostThreads, &problem);
  if (!problem.empty()) return Status::error(MLUOP_STATUS_NOT_INITIALIZED, problem);
  threads = own ? static_cast<int>(*own) : omp_threads();
  if (threads == 0) threads = affinity_threads();
  return Status::go_on();
}

}  // namespace mluops
