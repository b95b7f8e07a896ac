// What a call's outputs held before it: an emulator that runs out of memory half way leaves no half of a result.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/mlu_emu/device/tensor.h"

namespace mluops::emu {

class Undo {
 public:
  /// Keeps what a tensor holds, the first time it is about to be written. Throws std::bad_alloc.
  void remember(const Tensor& tensor) {
    if (!tensor.present() || tensor.access == Access::kRead) return;
    const auto known = [&](const Kept& kept) { return kept.data == tensor.data; };
    if (std::any_of(kept_.begin(), kept_.end(), known)) return;
    kept_.push_back({tensor.data, std::vector<char>(tensor.data, tensor.data + tensor.bytes)});
  }
  void restore() noexcept {
    for (const Kept& kept : kept_) std::memcpy(kept.data, kept.bytes.data(), kept.bytes.size());
    forget();
  }
  void forget() noexcept { std::vector<Kept>().swap(kept_); }

 private:
  struct Kept {
    char* data;
    std::vector<char> bytes;
  };
  std::vector<Kept> kept_;
};

}  // namespace mluops::emu
