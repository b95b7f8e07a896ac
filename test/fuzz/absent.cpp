#include "test/fuzz/absent.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "test/support/sanitized.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kMostMapped = std::int64_t{1} << 43;  ///< bytes of address space for one tensor
constexpr std::uintptr_t kPage = 4096;
constexpr std::uintptr_t kAddressEnd = std::uintptr_t{1} << 47;  ///< of a process on x86-64

struct Region {
  std::uintptr_t begin, end;
  std::size_t mapped;
};
constexpr std::size_t kMostRegions = 16;
Region regions[kMostRegions];
std::size_t region_count = 0;
std::uintptr_t next_untold = kAddressEnd;
volatile std::sig_atomic_t calling = 0;

void look_where(int, siginfo_t* info, void*) {
  if (calling == 0) _exit(kNotDescribed);
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  // x86 tells no address when it is one that no process can have.
  const bool untold = info->si_code == SI_KERNEL && at == 0;
  // AddressSanitizer reads what it knows of an address before the address is touched.
  constexpr std::uintptr_t kShadow = 0x7fff8000;
  const std::uintptr_t meant = MLUOPS_TEST_SANITIZED ? (at - kShadow) << 3 : at;
  for (std::size_t i = 0; i < region_count; ++i) {
    const auto holds = [&](std::uintptr_t address) { return address >= regions[i].begin && address < regions[i].end; };
    if (untold ? regions[i].end > kAddressEnd : holds(at) || holds(meant)) _exit(kTouched);
  }
  _exit(kFault);
}

/// Addresses that no process can have, one region behind another: what no address space holds still overlaps nothing.
/// NULL where there are no more.
void* untold_memory(std::int64_t bytes) {
  const std::uintptr_t begin = next_untold;
  std::uintptr_t end = 0;
  if (__builtin_add_overflow(begin, static_cast<std::uintptr_t>(bytes) + kPage, &end)) return nullptr;
  next_untold = end / kPage * kPage;
  regions[region_count++] = {begin, end, 0};
  return reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

void* absent_memory(std::int64_t count, std::int64_t element_bytes) {
  if (region_count == kMostRegions) return nullptr;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, element_bytes, &bytes)) bytes = kMostMapped;
  if (bytes > kMostMapped) {
    if (void* const memory = untold_memory(bytes); memory != nullptr) return memory;
  }
  const auto mapped = static_cast<std::size_t>(std::clamp<std::int64_t>(bytes, 1, kMostMapped));
  void* const memory = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  std::uintptr_t end = 0;
  if (__builtin_add_overflow(begin, static_cast<std::uintptr_t>(bytes), &end)) end = ~std::uintptr_t{0};
  regions[region_count++] = {begin, end, mapped};
  return memory;
}

void release_absent_memory() {
  for (; region_count > 0; --region_count) {
    const Region& last = regions[region_count - 1];
    if (last.mapped > 0) munmap(reinterpret_cast<void*>(last.begin), last.mapped);
  }
  next_untold = kAddressEnd;
}

void faults_of_this_process_tell_where(std::int64_t microseconds) {
  // A sanitizer maps terabytes for itself.
  const rlimit memory{std::size_t{1} << 30, std::size_t{1} << 30}, no_core{0, 0};
  if (!MLUOPS_TEST_SANITIZED) setrlimit(RLIMIT_DATA, &memory);
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction action = {};
  action.sa_sigaction = look_where;
  action.sa_flags = SA_SIGINFO;
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) sigaction(fault, &action, nullptr);
  signal(SIGALRM, SIG_DFL);
  const itimerval timer{{}, {microseconds / 1'000'000, microseconds % 1'000'000}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void the_library_is_called() {
  calling = 1;
}

int end_of(int pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {  // libFuzzer's clock ticks
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return WTERMSIG(status) == SIGALRM ? SIGALRM : -WTERMSIG(status);
}

}  // namespace mluops::test
