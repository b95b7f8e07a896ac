#include "backends/mlu_emu/device/reads.h"

#include <algorithm>
#include <iterator>

namespace mluops::emu {
namespace {

constexpr std::int64_t kBlock = 2048;

std::int64_t end_of(const Reads::Read& r) {
  return r.offset + (r.pieces - 1) * r.stride + r.bytes;
}

/// Bytes [offset, offset + bytes) are among those read.
bool covers(const Reads::Read& r, std::int64_t offset, std::int64_t bytes) {
  const std::int64_t first = offset - r.offset;
  if (first + bytes <= 0 || offset >= end_of(r)) return false;
  if (r.pieces <= 1 || r.stride <= r.bytes) return true;
  const std::int64_t piece = std::max<std::int64_t>(0, (first - r.bytes) / r.stride + (first >= r.bytes ? 1 : 0));
  return piece < r.pieces && piece * r.stride < first + bytes;
}

}  // namespace

void Reads::note(const Read& read) {
  if (reader_.empty()) reader_.assign(static_cast<std::size_t>((bytes_ + kBlock - 1) / kBlock), kNobody);
  const auto begin = static_cast<std::size_t>(read.offset / kBlock);
  const auto end = static_cast<std::size_t>((std::min(end_of(read), bytes_) + kBlock - 1) / kBlock);
  for (std::size_t block = begin; block < end; ++block) {
    std::int32_t& reader = reader_[block];
    reader = reader == kNobody || reader == read.task ? read.task : kSeveral;
  }
  first_block_ = log_.empty() ? begin : std::min(first_block_, begin);
  end_block_ = log_.empty() ? end : std::max(end_block_, end);
  if (log_.size() < kRemembered) return log_.push_back(read);
  log_[oldest_] = read;
  oldest_ = (oldest_ + 1) % kRemembered;
}

const Reads::Read* Reads::by_other(std::int64_t offset, std::int64_t bytes, int task) const {
  if (log_.empty()) return nullptr;
  bool foreign = false;
  const std::int64_t end = std::min(offset + bytes, bytes_);
  for (std::int64_t block = offset / kBlock; block * kBlock < end && !foreign; ++block) {
    const std::int32_t reader = reader_[static_cast<std::size_t>(block)];
    foreign = reader != kNobody && reader != task;
  }
  if (!foreign) return nullptr;
  const auto found = std::find_if(log_.rbegin(), log_.rend(),
                                  [&](const Read& r) { return r.task != task && covers(r, offset, bytes); });
  return found == log_.rend() ? nullptr : &*found;
}

void Reads::forget(int first_task, int last_task) {
  if (log_.empty()) return;
  std::vector<Read> left;
  std::copy_if(log_.begin(), log_.end(), std::back_inserter(left),
               [&](const Read& r) { return r.task < first_task || r.task > last_task; });
  forget();
  for (const Read& r : left) note(r);
}

void Reads::forget() {
  if (log_.empty()) return;
  for (std::size_t block = first_block_; block < end_block_; ++block) reader_[block] = kNobody;
  log_.clear();
  oldest_ = 0;
}

}  // namespace mluops::emu
