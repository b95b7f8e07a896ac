// The tensors of a launch: whose bytes they are, and which task wrote them.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/reads.h"
#include "backends/mlu_emu/device/source.h"
#include "backends/mlu_emu/device/task.h"
#include "backends/mlu_emu/device/tensor.h"

namespace mluops::emu {

enum class Touch { kRead, kWrite, kAtomic };

/// Who touches a tensor: a task, or the memory core of its cluster, which has a number of its own.
struct Actor {
  Actor(int its_task, int its_cluster = 0, int cores = 1, bool of_cluster = false)  // NOLINT implicit
      : task(its_task), cluster(its_cluster), cores_of_cluster(cores), memory_core(of_cluster) {}
  /// The tasks of a BLOCK launch are clusters of their own.
  explicit Actor(const TaskBuiltins& t)
      : Actor(t.taskId, t.clusterDim == 0 ? t.taskId : t.clusterId, t.clusterDim == 0 ? 1 : t.coreDim, t.memory_core) {}

  int task, cluster, cores_of_cluster;
  bool memory_core;

  bool is(const Actor& other) const { return task == other.task && memory_core == other.memory_core; }
  /// "task 3", "the memory core of cluster 1".
  std::string name() const;
};

/// A tensor with the writer of each pair of bytes: no element is smaller.
class Window {
 public:
  Window(const Tensor& tensor, bool track_writers);

  const Tensor& tensor() const { return tensor_; }
  /// The tensor under another name: the same bytes, as accessible.
  bool is(const Tensor& other) const {
    return tensor_.data == other.data && tensor_.bytes == other.bytes && tensor_.access == other.access;
  }
  void rename(const Tensor& same) { tensor_ = same; }
  std::int64_t offset(const void* address) const { return static_cast<const char*>(address) - tensor_.data; }

  /// Notes that a task touches the range; the offset of the first byte another task's writes forbid it, or -1.
  /// Atomics forbid nobody's atomics; other touches of what several tasks added to have to wait for a barrier.
  std::int64_t claim(std::int64_t offset, std::int64_t bytes, Touch touch, const Actor& actor);
  /// Nobody's writes can forbid anything here.
  bool untouched() const { return touched_begin_ == nullptr; }
  /// Bytes from the offset on, up to about `most`, that no other task's writes forbid to be written.
  std::int64_t free_from(std::int64_t offset, std::int64_t most, const Actor& actor);
  /// The task has written the range, whoever else did.
  void take(std::int64_t offset, std::int64_t bytes, const Actor& actor);
  /// The number that stands for a task's plain writes. Those of many tasks wrap around: a race of such may stay unseen,
  /// none is invented.
  static std::uint16_t writer_number(const Actor& actor);
  /// A memory core is the last that wrote there.
  bool of_memory_core(std::int64_t offset) const;
  /// Who wrote each pair of bytes; null where nobody notes it.
  std::uint16_t* writers() const { return writers_.get(); }
  /// For each block of entries who has it on a list of what was written, 0 for nobody. Where a task's cluster has, the
  /// task may write its number into `writers` by itself.
  const std::uint8_t* listed() const { return listed_.data(); }
  static std::uint8_t list_number(int cluster) { return static_cast<std::uint8_t>(1 + cluster % kClusters); }
  /// All of these bytes still hold what they were allocated with.
  bool never_written(std::int64_t offset, std::int64_t bytes) const;
  /// Who wrote where: for the texts of races.
  struct Written {
    std::int64_t offset, bytes;
    Actor actor;
    bool atomic;
    const char* word;
    CallSite site;
    bool met = false;  // its cluster has met since
  };
  void remember(const Written& written) {
    if (log_.size() < kRemembered) return log_.push_back(written);
    log_[oldest_] = written;
    oldest_ = (oldest_ + 1) % kRemembered;
  }
  /// What clashes with a touch by this task, rather a part of the tensor than all of it; nullptr when that is not
  /// remembered. What a barrier ordered before the touch is none.
  const Written* written_at(std::int64_t offset, const Actor& actor, Touch touch) const;
  /// What tasks read since they last met.
  Reads& reads() { return reads_; }
  /// These tasks of a cluster met at a barrier: what they wrote or read is no race to their cluster any more. The cost
  /// is that of what the cluster wrote since it last met.
  void meet(int first_task, int last_task, int cluster, bool with_memory_core = false);
  /// All tasks met: what any wrote or read is no race to anybody. The cost is that of what was written since the last
  /// time.
  void meet_all();
  /// Nothing is written.
  void forget() { meet_all(); }

 private:
  using Writer = std::uint16_t;
  /// Parts of the tensor, by number, some of them more than once.
  using Blocks = std::vector<std::uint32_t>;
  /// Clusters that run at once have numbers in a row, fewer than this.
  static constexpr int kClusters = 64;

  template <class Visit>
  void for_each_writer(const Blocks& blocks, Visit&& visit);
  void note_written(std::int64_t first_unit, std::int64_t end_unit, int cluster);
  struct Units {
    std::int64_t first, behind;
  };
  Units whole_units(std::int64_t offset, std::int64_t bytes) const;
  struct Free {
    void operator()(Writer* p) const { std::free(p); }
  };
  Tensor tensor_;
  std::unique_ptr<Writer, Free> writers_;                     // null: not tracked
  Writer *touched_begin_ = nullptr, *touched_end_ = nullptr;  // writers outside are kNobody
  std::int64_t units_ = 0;
  std::vector<std::uint8_t> listed_;       // by block: 1 + the cluster it was last listed for; 0: none
  std::array<Blocks, kClusters> written_;  // by cluster, since it last met
  Blocks met_;                             // by clusters that have met since all did
  static constexpr std::size_t kRemembered = 4096;
  std::vector<Written> log_;
  std::size_t oldest_ = 0;
  Reads reads_;
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
