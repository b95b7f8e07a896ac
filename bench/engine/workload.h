// The memory of one case: several sets of its tensors, so that consecutive calls do not find their data in a cache.
#pragma once

#include "bench/engine/cases.h"
#include "bench/machine/memory.h"

namespace bench {

class Workload {
 public:
  /// Fills the inputs of every set; as many sets as it takes to exceed a cache of that many bytes three times.
  explicit Workload(Description spec, std::int64_t cache = last_level_cache());
  Workload(Workload&&) noexcept = default;
  ~Workload();

  const Description& spec() const { return spec_; }
  int sets() const { return static_cast<int>(arguments_.size()); }

  /// The call on one set.
  mluOpStatus_t run(mluOpHandle_t handle, int set) const { return spec_.call(handle, arguments_[index(set)]); }

  /// First byte of a set, and how far behind it tensor number i starts: a multiple of 64 bytes, the same in every set.
  std::byte* set_start(int set) const { return static_cast<std::byte*>(arguments_[index(set)][0].data); }
  std::int64_t offset(int i) const {
    return static_cast<std::byte*>(arguments_[0][static_cast<std::size_t>(i)].data) - set_start(0);
  }

  Inputs inputs() const;  ///< of set 0
  /// Data of output tensor number i (counted among the outputs) of set 0.
  const void* output(int i) const;
  /// Fills the outputs of set 0 with NaN or, in integers, a value no operator gives.
  void poison_outputs() const;

 private:
  std::size_t index(int set) const { return static_cast<std::size_t>(set); }
  std::size_t set_bytes() const;
  void place(int set, std::byte* at);
  void fill() const;

  Description spec_;
  int set_count_;
  std::vector<mluOpTensorDescriptor_t> descriptors_;
  Pages pages_;
  std::vector<Arguments> arguments_;
};

}  // namespace bench
