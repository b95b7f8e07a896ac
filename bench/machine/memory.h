// Memory for everything that is timed: one kind, so that the roof and the operators meet the same pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

/// Anonymous pages, aligned to 2 MiB, huge where the kernel grants it. Not touched yet.
class Pages {
 public:
  explicit Pages(std::size_t bytes);
  ~Pages();
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* base_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t mapped_ = 0;
  std::size_t size_ = 0;
};

/// Bytes of last-level cache that the CPUs of this process share between them.
std::int64_t last_level_cache();

}  // namespace bench
