#include "backends/cpu/runtime/arena.h"

#include <algorithm>
#include <new>

namespace mluops::cpu {
namespace {

alignas(Arena::kAlignment) std::byte nothing[Arena::kAlignment];  // where arrays without elements lie

}  // namespace

Arena::~Arena() {
  release();
}

void Arena::release() {
  ::operator delete (block_, std::align_val_t{kAlignment});
  block_ = nullptr;
  bytes_ = 0;
}

void Arena::end_call() {
  if (++calls_ < kCalls) return;
  if (bytes_ > kAlwaysKept && used_ < bytes_ / 2) release();
  calls_ = 0;
  used_ = 0;
}

std::byte* Arena::reserve(std::int64_t bytes) {
  if (bytes < 0 || bytes > kMostBytes) return nullptr;
  used_ = std::max(used_, bytes);
  if (bytes == 0 && block_ == nullptr) return nothing;
  if (bytes <= bytes_) return block_;
  release();  // first, so that the old and the new block are never held together
  const auto size = static_cast<std::size_t>(bytes);
  block_ = static_cast<std::byte*>(::operator new (size, std::align_val_t{kAlignment}, std::nothrow));
  bytes_ = block_ != nullptr ? bytes : 0;
  return block_;
}

}  // namespace mluops::cpu
