#include "bench/engine/workload.h"

#include <algorithm>
#include <cstring>

namespace bench {
namespace {

constexpr std::size_t kLine = 64;

// Every tensor starts on a cache line of its own, with one line of distance.
std::size_t padded(const TensorSpec& t) {
  return (static_cast<std::size_t>(t.bytes()) / kLine + 2) * kLine;
}

// Enough sets that what they move exceeds the last-level cache three times; untouched parts take memory but no cache,
// so memory is limited too.
int sets_for(const Description& d, std::int64_t cache_bytes) {
  const double cache = static_cast<double>(cache_bytes), memory = std::max(768e6, 4 * cache);
  const double wanted = 3 * cache / (d.read_bytes() + d.write_bytes()) + 1;
  return static_cast<int>(std::clamp(std::min(wanted, memory / d.all_bytes()), 1.0, 4096.0));
}

mluOpTensorDescriptor_t describe(const TensorSpec& t) {
  mluOpTensorDescriptor_t desc = nullptr;
  mluOpCreateTensorDescriptor(&desc);
  mluOpSetTensorDescriptor_v2(desc, t.layout, t.dtype, static_cast<int>(t.dims.size()), t.dims.data());
  return desc;
}

}  // namespace

Workload::Workload(Description spec, std::int64_t cache)
    : spec_(std::move(spec)),
      set_count_(sets_for(spec_, cache)),
      pages_(set_bytes() * static_cast<std::size_t>(set_count_)) {
  for (const TensorSpec& t : spec_.tensors) descriptors_.push_back(describe(t));
  arguments_.resize(static_cast<std::size_t>(set_count_));
  for (int s = 0; s < sets(); ++s) place(s, pages_.data() + static_cast<std::size_t>(s) * set_bytes());
  fill();
}

Workload::~Workload() {
  for (const mluOpTensorDescriptor_t desc : descriptors_) mluOpDestroyTensorDescriptor(desc);
}

std::size_t Workload::set_bytes() const {
  std::size_t bytes = 0;
  for (const TensorSpec& t : spec_.tensors) bytes += padded(t);
  return bytes;
}

void Workload::place(int set, std::byte* at) {
  for (std::size_t i = 0; i < spec_.tensors.size(); ++i) {
    arguments_[index(set)].push_back({descriptors_[i], at});
    at += padded(spec_.tensors[i]);
  }
}

void Workload::fill() const {
  for (std::size_t i = 0; i < spec_.tensors.size(); ++i) {
    const TensorSpec& t = spec_.tensors[i];
    if (!t.is_output()) mluops::cases::write(t.fill, t.dtype, t.elements(), arguments_[0][i].data);
  }
  poison_outputs();
  // The pages of every set must exist before anything is timed, outputs included: copy all of set 0.
  parallel_tasks(sets() - 1, [&](std::int64_t s) {
    std::memcpy(arguments_[static_cast<std::size_t>(s + 1)][0].data, arguments_[0][0].data, set_bytes());
  });
}

Inputs Workload::inputs() const {
  Inputs in;
  for (std::size_t i = 0; i < spec_.tensors.size(); ++i) {
    if (!spec_.tensors[i].is_output()) in.push_back(arguments_[0][i].data);
  }
  return in;
}

const void* Workload::output(int number) const {
  for (std::size_t i = 0; i < spec_.tensors.size(); ++i) {
    if (spec_.tensors[i].is_output() && number-- == 0) return arguments_[0][i].data;
  }
  return nullptr;
}

void Workload::poison_outputs() const {
  for (std::size_t i = 0; i < spec_.tensors.size(); ++i) {
    const TensorSpec& t = spec_.tensors[i];
    auto* data = static_cast<std::byte*>(arguments_[0][i].data);
    if (!t.is_output()) continue;
    parallel_slices(t.bytes(), 4096, [&](std::int64_t begin, std::int64_t end) {
      std::memset(data + begin, 0xff, static_cast<std::size_t>(end - begin));
    });
  }
}

}  // namespace bench
