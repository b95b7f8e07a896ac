#include "backends/mlu_emu/device/nram.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>

namespace mluops::emu {
namespace {

constexpr std::int64_t kGuard = Nram::kGuard;
constexpr std::int64_t kWord = sizeof(kPoison);

char poison_byte(std::int64_t offset, std::uint32_t pattern) {
  return static_cast<char>(pattern >> (8 * (offset & (kWord - 1))));
}

char* allocate(std::int64_t bytes) {
  const std::int64_t whole = (bytes + 2 * kGuard + kGuard - 1) / kGuard * kGuard;
  return static_cast<char*>(::operator new (static_cast<std::size_t>(whole), std::align_val_t{kGuard}));
}

void fill_poison(char* begin, std::int64_t bytes, std::uint32_t pattern = kPoison) {
  std::fill_n(reinterpret_cast<std::uint32_t*>(begin), bytes / kWord, pattern);
}

/// No branch in the loop: it becomes vector code.
bool all_poison(const char* begin, std::int64_t bytes) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(begin);
  std::uint32_t difference = 0;
  for (std::int64_t i = 0; i < bytes / kWord; ++i) difference |= words[i] ^ kPoison;
  return difference == 0;
}

}  // namespace

Nram::Nram(std::int64_t bytes, std::int64_t most)
    : bytes_(bytes), memory_(allocate(std::max(bytes, most))), base_(memory_.get() + kGuard), written_(bytes) {
  poison();
}

void Nram::grow(std::int64_t bytes) {
  if (bytes <= bytes_) return;
  const std::int64_t whole = (bytes + kGuard - 1) / kGuard * kGuard;
  written_.grow(whole);
  fill_poison(base_ + bytes_ + kGuard, whole - bytes_);  // behind the guard there was
  bytes_ = whole;
}

bool Nram::used(std::int64_t offset, std::int64_t bytes) const {
  const std::int64_t end = std::min(offset + bytes, bytes_), first = (offset + kWord - 1) / kWord * kWord;
  if (first >= end) return false;
  if (!all_poison(base_ + first, end - first)) return true;
  return written_.first_set(offset, end) < end;
}

bool Nram::near(const void* address) const {
  const std::less_equal<const char*> not_after;
  const char* p = static_cast<const char*>(address);
  return not_after(base_ - kGuard, p) && not_after(p, base_ + bytes_ + kGuard - 1);
}

void Nram::poison() {
  fill_poison(memory_.get(), bytes_ + 2 * kGuard);
  written_.clear();
  used_end_ = reach_ = 0;
}

void Nram::poison_again() {
  const std::int64_t end = std::min(bytes_, (std::max(used_end_, reach_) / kGuard + 1) * kGuard);
  const auto renew = [&](std::int64_t from, std::int64_t to) {
    for (; from < to; from += kGuard) {
      const std::int64_t bytes = std::min(kGuard, to - from);
      if (!all_poison(base_ + from, bytes)) fill_poison(base_ + from, bytes);
    }
  };
  renew(-kGuard, end);
  renew(bytes_, bytes_ + kGuard);
  if (used_end_ > 0) written_.reset(0, end);
  used_end_ = reach_ = 0;
}

void Nram::poison(std::int64_t offset, std::int64_t bytes, std::uint32_t pattern) {
  const std::int64_t end = offset + bytes;
  const auto byte = [&](std::int64_t i) { base_[i] = poison_byte(i, pattern); };
  while (offset < end && offset % kWord != 0) byte(offset++);
  fill_poison(base_ + offset, end - offset, pattern);
  for (std::int64_t i = offset + (end - offset) / kWord * kWord; i < end; ++i) byte(i);
  written_.reset(end - bytes, end);
}

bool Nram::scalar_store_seen(std::int64_t word) const {
  for (std::int64_t i = word; i < word + kWord; ++i) {
    const bool poisoned = base_[i] == poison_byte(i, kPoison) || base_[i] == poison_byte(i, kInfinitePoison);
    if (!written_.test(i) && !poisoned) return true;
  }
  return false;
}

std::int64_t Nram::first_unwritten(std::int64_t offset, std::int64_t bytes) {
  const std::int64_t end = offset + bytes;
  while (true) {
    offset = written_.first_clear(offset, end);
    if (offset == end) return -1;
    const std::int64_t word = offset / kWord * kWord;
    if (!scalar_store_seen(word)) return offset;
    mark_written(word, kWord);
  }
}

LaneFlags Nram::unwritten_lanes(std::int64_t offset, std::int64_t lane, std::int64_t n) {
  LaneFlags flags;
  const std::int64_t end = offset + lane * n;
  std::int64_t at = first_unwritten(offset, end - offset);
  if (at >= 0) flags.resize(static_cast<std::size_t>(n));
  while (at >= 0) {
    const std::int64_t i = (at - offset) / lane, next = offset + (i + 1) * lane;
    flags[static_cast<std::size_t>(i)] = kUndefinedLane;
    at = first_unwritten(next, end - next);
  }
  return flags;
}

std::int64_t Nram::damaged_guard() const {
  for (const std::int64_t zone : {-kGuard, bytes_}) {
    if (all_poison(base_ + zone, kGuard)) continue;
    for (std::int64_t at = zone; at < zone + kGuard; at += kWord) {
      std::uint32_t word;
      std::memcpy(&word, base_ + at, kWord);
      if (word != kPoison) return at;
    }
  }
  return 0;
}

}  // namespace mluops::emu
