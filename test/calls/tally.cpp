#include "test/calls/tally.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "test/support/sanitized.h"

#if defined(__GLIBC__) && !MLUOPS_TEST_SANITIZED
#define MLUOPS_TEST_TALLY 1
#endif

namespace mluops::test {
namespace {

std::atomic<std::int64_t> allocations{0}, live{0}, peak{0}, threads{0};

thread_local std::int64_t allocations_until_failure = 0;  // 0: none is to fail
thread_local bool failing_for_ever = false, failed = false;

/// Whether the allocation that is asked for now is the one to fail.
[[maybe_unused]] bool must_fail() {
  if (failed && failing_for_ever) return true;
  if (allocations_until_failure == 0 || --allocations_until_failure > 0) return false;
  failed = true;
  return true;
}

[[maybe_unused]] void* note_block(void* block) {
  if (block == nullptr) return block;
  allocations.fetch_add(1, std::memory_order_relaxed);
  const std::int64_t now = live += static_cast<std::int64_t>(malloc_usable_size(block));
  std::int64_t most = peak.load(std::memory_order_relaxed);
  while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
  return block;
}

[[maybe_unused]] void forget_block(void* block) {
  if (block != nullptr) live -= static_cast<std::int64_t>(malloc_usable_size(block));
}

}  // namespace

bool tally_works() {
#if defined(MLUOPS_TEST_TALLY)
  return true;
#else
  return false;
#endif
}

Tally tally() {
  return {allocations, live, threads};
}

FailingAllocation::FailingAllocation(std::int64_t n, bool for_ever) {
  allocations_until_failure = n;
  failing_for_ever = for_ever;
  failed = false;
}

FailingAllocation::~FailingAllocation() {
  allocations_until_failure = 0;
  failing_for_ever = failed = false;
}

bool FailingAllocation::happened() const {
  return failed;
}

std::int64_t take_peak_bytes() {
  return peak.exchange(live);
}

mluOpExtExecutor_t CountingExecutor::executor() {
  return {this, [](void* context, std::int64_t tasks, void (*body)(void*, std::int64_t), void* arg) {
            auto* const self = static_cast<CountingExecutor*>(context);
            const std::int64_t before = tally().allocations;
            while (tasks > 0) body(arg, --tasks);
            self->allocations_inside += tally().allocations - before;
            ++self->loops;
          }};
}

}  // namespace mluops::test

#if defined(MLUOPS_TEST_TALLY)
using mluops::test::forget_block;
using mluops::test::must_fail;
using mluops::test::note_block;

// The linker takes these for every library of the process; glibc's own stand behind them under other names.
#define MLUOPS_INTERPOSED __attribute__((visibility("default")))
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);

MLUOPS_INTERPOSED void* malloc(std::size_t size) noexcept {
  return must_fail() ? nullptr : note_block(__libc_malloc(size));
}
MLUOPS_INTERPOSED void* calloc(std::size_t count, std::size_t size) noexcept {
  return must_fail() ? nullptr : note_block(__libc_calloc(count, size));
}
MLUOPS_INTERPOSED void* realloc(void* block, std::size_t size) noexcept {
  if (must_fail()) return nullptr;
  forget_block(block);
  return note_block(__libc_realloc(block, size));
}
MLUOPS_INTERPOSED void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return must_fail() ? nullptr : note_block(__libc_memalign(alignment, size));
}
MLUOPS_INTERPOSED void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return must_fail() ? nullptr : note_block(__libc_memalign(alignment, size));
}
MLUOPS_INTERPOSED int posix_memalign(void** to, std::size_t alignment, std::size_t size) noexcept {
  void* const block = must_fail() ? nullptr : note_block(__libc_memalign(alignment, size));
  if (block == nullptr) return ENOMEM;
  *to = block;
  return 0;
}
MLUOPS_INTERPOSED void free(void* block) noexcept {
  forget_block(block);
  __libc_free(block);
}

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
MLUOPS_INTERPOSED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                                     void* arg) noexcept {
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  mluops::test::threads.fetch_add(1, std::memory_order_relaxed);
  return create(thread, attributes, body, arg);
}
}
#endif
