#include "bench/machine/memory.h"

#include <sched.h>
#include <sys/mman.h>

#include <fstream>
#include <new>
#include <set>
#include <string>
#include <utility>

namespace bench {
namespace {

constexpr std::size_t kHuge = std::size_t{2} << 20;

std::string first_word(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

}  // namespace

Pages::Pages(std::size_t bytes) : mapped_(bytes + kHuge), size_(bytes) {
  void* got = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(got);
  data_ = base_ + (kHuge - reinterpret_cast<std::uintptr_t>(got) % kHuge) % kHuge;
  madvise(data_, size_, MADV_HUGEPAGE);  // a wish: without it the pages are small
}

Pages::~Pages() {
  if (base_ != nullptr) munmap(base_, mapped_);
}

Pages::Pages(Pages&& other) noexcept {
  *this = std::move(other);
}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(data_, other.data_);
  std::swap(mapped_, other.mapped_);
  std::swap(size_, other.size_);
  return *this;
}

std::int64_t last_level_cache() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::set<std::string> seen;
  std::int64_t bytes = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    const std::string cache = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index3/";
    const std::string sharers = CPU_ISSET(cpu, &allowed) ? first_word(cache + "shared_cpu_list") : "";
    if (sharers.empty() || !seen.insert(sharers).second) continue;
    const std::string size = first_word(cache + "size");  // e.g. 32768K
    if (!size.empty()) bytes += std::stoll(size) * 1024;
  }
  return bytes > 0 ? bytes : std::int64_t{32} << 20;  // unknown: assume a large one
}

}  // namespace bench
