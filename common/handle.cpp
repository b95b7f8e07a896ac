#include "common/handle.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "common/env.h"
#include "common/shared_object.h"
#include "common/system.h"
#include "common/verbose.h"
#include "common/version.h"

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

Status CallMutex::lock() {
  if (held_here()) {
    return Status::bad_param("handle is busy: this call comes from the parallel loop of another call on it");
  }
  mutex_.lock();
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  return Status::go_on();
}

void CallMutex::unlock() {
  owner_.store(std::thread::id(), std::memory_order_relaxed);
  mutex_.unlock();
}

namespace {

Status append_backend(const Registry& registry, std::string_view name, std::vector<BackendInstance>& chain) {
  const mluopsBackend* backend = registry.find(name);
  if (backend == nullptr) {
    return Status::error(MLUOP_STATUS_NOT_INITIALIZED,
                         "backend \"" + std::string(name) + "\" is unknown; known: " + registry.known_text());
  }
  chain.emplace_back(*backend, nullptr);  // before there is a context that could be lost
  if (backend->create == nullptr) return Status::go_on();
  set_reason("");
  void* context = nullptr;
  const mluOpStatus_t code = backend->create(set_reason, &context);
  if (code == MLUOP_STATUS_SUCCESS) {
    chain.back() = BackendInstance(*backend, context);
    return Status::go_on();
  }
  const std::string why = "backend \"" + std::string(name) + "\" cannot be used: " + reason();
  if (code == MLUOP_STATUS_ALLOC_FAILED) return Status::error(code, why);
  return Status::error(MLUOP_STATUS_NOT_INITIALIZED, why + "; known: " + registry.known_text());
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

std::string property_of(const BackendInstance& instance, const char* key) {
  char text[128] = "";
  const auto query = instance.backend().query;
  if (query == nullptr || query(instance.context(), key, text, sizeof text) < 0) return "";
  return std::string(text, strnlen(text, sizeof text));
}

void say_header(const std::vector<BackendInstance>& chain, int threads) {
  if (verbose_level() < 1) return;
  std::string line = std::string("version ") + library_version();
  for (const BackendInstance& instance : chain) {
    line.append(",backend ").append(instance.backend().name);
    for (const char* const key : {"isa", "threading"}) {
      if (const std::string value = property_of(instance, key); !value.empty()) {
        line.append(" ").append(key).append("=").append(value);
      }
    }
  }
  say_once(line + ",threads " + std::to_string(threads));
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

/// Processors an OpenMP runtime of the process found when it was loaded; 0 when there is none.
int openmp_processors() {
  const auto count = reinterpret_cast<int (*)()>(symbol_of_process("omp_get_num_procs"));
  return count != nullptr ? count() : 0;
}

/// Processors the process may use. A mask may be that of one thread alone: OpenMP binds the first thread of the program
/// to one place (OMP_PROC_BIND), pools bind their workers. So the largest of the masks that tell counts.
int affinity_threads() {
  const int found = std::max({processors_of_caller(), processors_of_process(), openmp_processors()});
  return found > 0 ? found : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
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
