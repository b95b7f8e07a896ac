// What every plan is made of: the numbers of a machine, launch dimensions, named NRAM regions, shares of work.
// Plans are pure host policy: problem x machine -> plan; nothing here runs a kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "mlu_op_types.h"

namespace mluops::emu::plan {

/// All a plan may know of the machine it plans for.
struct Machine {
  std::int64_t nram_bytes;  // usable by a kernel, after the compiler's reserve
  std::int64_t clusters;
  std::int64_t cores_per_cluster;
  int arch;  // 220, 270, 290, 372, 592

  std::int64_t cores() const { return clusters * cores_per_cluster; }
  /// Bytes that addresses and lengths of vector builtins are multiples of. The documented partitions count in 64 bytes,
  /// which the 200 series would refuse: there the same formulas count in 128.
  std::int64_t vector_alignment() const { return arch < 300 ? 128 : 64; }
};

/// Vector unit alignment and the granule of the documented partitions.
inline constexpr std::int64_t kNfuAlign = 128;

enum class Direction { kForward, kBackward };

enum class TaskType { kBlock, kUnion1 };

inline std::int64_t element_bytes(mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_HALF ? 2 : 4;
}

struct Launch {
  TaskType type = TaskType::kBlock;
  std::int64_t x = 0, y = 1, z = 1;

  std::int64_t tasks() const { return x * y * z; }
  bool operator==(const Launch&) const = default;
};

/// UNION1 over as many clusters as `items` give every core one.
inline Launch union1_launch(const Machine& machine, std::int64_t items) {
  const std::int64_t clusters = (items + machine.cores_per_cluster - 1) / machine.cores_per_cluster;
  return {TaskType::kUnion1, machine.cores_per_cluster, std::clamp<std::int64_t>(clusters, 1, machine.clusters), 1};
}

/// Every core of the machine, clusters along y.
inline Launch whole_machine(const Machine& machine) {
  return {TaskType::kUnion1, machine.cores_per_cluster, machine.clusters, 1};
}

/// [offset, offset + bytes) of a core's NRAM.
struct Region {
  std::string name;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;

  std::int64_t end() const { return offset + bytes; }
};

/// NRAM cut up into regions, one behind the other from offset 0.
class NramMap {
 public:
  /// Adds a region behind the last one; returns its offset.
  std::int64_t add(std::string name, std::int64_t bytes) {
    const std::int64_t offset = bytes_;
    regions_.push_back({std::move(name), offset, bytes});
    bytes_ += bytes;
    return offset;
  }
  const std::vector<Region>& regions() const { return regions_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::vector<Region> regions_;
  std::int64_t bytes_ = 0;
};

/// Members that all plans share. A plan with a refusal cannot be launched: its other members mean nothing.
struct Plan {
  std::string refusal;  // why the machine cannot run the problem; empty when it can
  Launch launch;
  NramMap nram;

  bool ok() const { return refusal.empty(); }
};

/// The device counts elements in 32 bits: refuses a tensor of 2^31 elements or more. True when refused.
bool refuse_large_tensor(Plan& plan, const char* name, std::initializer_list<std::int64_t> dims);

/// Refuses types other than those the device computes in. True when refused.
bool refuse_dtype(Plan& plan, mluOpDataType_t dtype, std::initializer_list<mluOpDataType_t> known);

/// "need 1234 bytes of NRAM, a core has 1000".
std::string nram_shortage(std::int64_t need, const Machine& machine);

/// Most sample points one call may visit; larger ones are declined instead of running for hours.
inline constexpr std::int64_t kMaxSamples = std::int64_t{1} << 28;

/// Adds bins with a grid of grid_h x grid_w samples each to `samples`; the reason when that is more than the device's
/// 32-bit count or the emulator's patience hold, else an empty text. Grids <= 0 have no samples.
std::string count_samples(std::int64_t bins, std::int64_t grid_h, std::int64_t grid_w, std::int64_t& samples);

/// [begin, end) of a task's items.
struct Share {
  std::int64_t begin = 0, end = 0;

  std::int64_t size() const { return end - begin; }
};

/// Contiguous shares; the first total % tasks tasks get one item more.
inline Share contiguous_share(std::int64_t total, std::int64_t tasks, std::int64_t task) {
  const std::int64_t per = total / tasks, rest = total % tasks;
  const std::int64_t begin = task * per + std::min(task, rest);
  return {begin, begin + per + (task < rest ? 1 : 0)};
}

/// Equal blocks, the last one shorter; parts beyond the need get an empty share.
inline Share block_share(std::int64_t total, std::int64_t per_part, std::int64_t part) {
  return {std::min(total, part * per_part), std::min(total, (part + 1) * per_part)};
}

}  // namespace mluops::emu::plan
