// What mluOpHandle_t points to: settings of the caller and the chain of backends that serves it.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/registry.h"
#include "common/status.h"
#include "mlu_op_ext.h"

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

/// Creates the backends of a comma-separated chain. An unknown or unusable name: NOT_INITIALIZED, text lists the
/// known names.
Status create_chain(const Registry& registry, std::string_view chain, std::vector<BackendInstance>& out);

/// Chain named by MLUOP_BACKEND, else "cpu".
std::string default_chain();

/// Threads by MLUOP_NUM_THREADS, OMP_NUM_THREADS (first number), or the affinity mask, in this order. A
/// MLUOP_NUM_THREADS that is no number of threads: NOT_INITIALIZED.
Status read_default_threads(int& threads);

}  // namespace mluops

struct mluOpContext {
  cnrtQueue_t queue = nullptr;
  mluOpAtomicsMode_t atomics = MLUOP_ATOMICS_NOT_ALLOWED;
  mluOpQuantizeRoundMode_t round_mode = MLUOP_ROUND_HALF_TO_EVEN;
  mluOpExtContract_t contract = MLUOP_EXT_CONTRACT_STRICT;
  int threads = 0;                   // set by the caller; 0: default_threads
  int default_threads = 1;           // read when the handle was created
  mluOpExtExecutor_t executor = {};  // parallel_for NULL: the library's own threads
  std::string chain_name;
  std::vector<mluops::BackendInstance> chain;
  const char* last_run_backend = "";
  std::mutex mutex;  // serialises operator calls: backends keep scratch per handle

  int threads_in_force() const { return threads > 0 ? threads : default_threads; }
};
