// The tensors of a launch: whose bytes they are, and which task wrote them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/mlu_emu/device/tensor.h"

namespace mluops::emu {

enum class Touch { kRead, kWrite, kAtomic };

/// A tensor with the writer of each pair of bytes: no element is smaller.
class Window {
 public:
  Window(const Tensor& tensor, bool track_writers);

  const Tensor& tensor() const { return tensor_; }
  /// The tensor under another name: the same bytes, as accessible.
  bool is(const Tensor& other) const {
    return tensor_.data == other.data && tensor_.bytes == other.bytes && tensor_.access == other.access;
  }
  void rename(const char* name) { tensor_.name = name; }
  std::int64_t offset(const void* address) const { return static_cast<const char*>(address) - tensor_.data; }

  /// Notes that a task touches the range; the offset of the first byte another task's writes forbid it, or -1.
  std::int64_t claim(std::int64_t offset, std::int64_t bytes, Touch touch, int task, int cluster = 0);
  /// These tasks met at a barrier: what they wrote is no race to their cluster any more.
  void meet(int first_task, int last_task, int cluster);
  /// All tasks met: what any wrote is no race to anybody.
  void meet_all();

 private:
  using Writer = std::uint16_t;
  struct Free {
    void operator()(Writer* p) const { std::free(p); }
  };
  Tensor tensor_;
  std::unique_ptr<Writer, Free> writers_;                     // null: not tracked
  Writer *touched_begin_ = nullptr, *touched_end_ = nullptr;  // writers outside are kNobody
};

class Gdram {
 public:
  Gdram(const std::vector<Tensor>& tensors, bool track_writers);
  /// For the next launch: other tensors, nothing written. What is known of the writers costs memory and time to set up,
  /// so it is kept where a tensor stays.
  void renew(const std::vector<Tensor>& tensors, bool track_writers);

  std::vector<Window>& windows() { return windows_; }
  /// Index of the window an address lies in (one past its end included, when no other begins there); -1: none.
  int find(const void* address) const;
  /// Held around claims and atomic adds when cores run on several threads.
  std::mutex& mutex() { return mutex_; }

 private:
  std::vector<Window> windows_;
  std::mutex mutex_;
};

}  // namespace mluops::emu
