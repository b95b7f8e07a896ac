// What mluOpHandle_t points to: settings of the caller and the chain of backends that serves it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/registry.h"
#include "common/scalars.h"
#include "common/status.h"
#include "mlu_op_types.h"

namespace mluops {

/// One backend of a handle's chain with its context. Movable owner.
class BackendInstance {
 public:
  BackendInstance(const mluopsBackend& backend, void* context) : backend_(&backend), context_(context) {}
  BackendInstance(BackendInstance&& other) noexcept;
  BackendInstance& operator=(BackendInstance&& other) noexcept;
  ~BackendInstance();

  const mluopsBackend& backend() const { return *backend_; }
  void* context() const { return context_; }

 private:
  const mluopsBackend* backend_;
  void* context_;
};

/// The answer of a backend to a query; "" if it has no such property.
std::string property_of(const BackendInstance& instance, const char* key);

/// Whose turn a handle is: its calls run one at a time, since backends keep scratch per handle. Another thread waits.
/// The thread that is in a call already, and so comes from inside the caller's parallel_for, would wait for itself:
/// refused.
class CallMutex {
 public:
  Status lock();
  void unlock();
  bool held_here() const { return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
};

/// Holds a handle for one call where lock() said go_on.
class CallTurn {
 public:
  explicit CallTurn(CallMutex& mutex) : mutex_(mutex), refusal_(mutex.lock()) {}
  CallTurn(const CallTurn&) = delete;
  CallTurn& operator=(const CallTurn&) = delete;
  ~CallTurn() {
    if (!refusal_.failed()) mutex_.unlock();
  }
  const Status& refusal() const { return refusal_; }

 private:
  CallMutex& mutex_;
  Status refusal_;
};

/// Creates the backends of a comma-separated chain. An unknown or unusable name: NOT_INITIALIZED, text lists the
/// known names.
Status create_chain(const Registry& registry, std::string_view chain, std::vector<BackendInstance>& out);

/// At level 1 and more one line, once for each: version, backends with instruction set and thread runtime,
/// threads.
void say_header(const std::vector<BackendInstance>& chain, int threads);

/// Chain named by MLUOP_BACKEND, else "cpu".
std::string default_chain();

/// Threads by MLUOP_NUM_THREADS, OMP_NUM_THREADS (first number), or the affinity mask, in this order. A
/// MLUOP_NUM_THREADS that is no number of threads: NOT_INITIALIZED.
Status read_default_threads(int& threads);

}  // namespace mluops

struct mluOpContext {
  // Settings may be read and changed from any thread at any time: a call goes by what it finds when it starts.
  std::atomic<cnrtQueue_t> queue{nullptr};
  std::atomic<mluOpAtomicsMode_t> atomics{MLUOP_ATOMICS_NOT_ALLOWED};
  std::atomic<mluOpQuantizeRoundMode_t> round_mode{MLUOP_ROUND_HALF_TO_EVEN};
  std::atomic<mluOpExtContract_t> contract{MLUOP_EXT_CONTRACT_STRICT};
  std::atomic<int> threads{0};  // set by the caller; 0: default_threads
  int default_threads = 1;      // read when the handle was created
  std::atomic<const char*> last_run_backend{""};

  mutable std::mutex settings;       // guards the two that are no single word
  mluOpExtExecutor_t executor = {};  // parallel_for NULL: the library's own threads
  std::string chain_name;

  mluops::PendingScalars scalars;

  mluops::CallMutex calls;  // guards the chain and what its contexts hold
  std::vector<mluops::BackendInstance> chain;

  int threads_in_force() const {
    const int set = threads;
    return set > 0 ? set : default_threads;
  }
  mluOpExtExecutor_t current_executor() const {
    const std::lock_guard<std::mutex> lock(settings);
    return executor;
  }
};
