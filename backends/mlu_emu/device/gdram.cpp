#include "backends/mlu_emu/device/gdram.h"

#include <algorithm>
#include <new>
#include <utility>

namespace mluops::emu {
namespace {

constexpr std::int64_t kUnit = 2;  // bytes one writer entry stands for
constexpr std::uint16_t kNobody = 0, kAtomic = 0xffff;

/// Numbers of tasks and of clusters that met wrap around: a race of such may stay unseen, none is invented.
std::uint16_t writer_number(int task) {
  return static_cast<std::uint16_t>(1 + task % 0x7fff);
}
std::uint16_t met_number(int cluster) {
  return static_cast<std::uint16_t>(0x8000 + cluster % 0x7fff);
}

std::uint16_t* allocate_writers(std::int64_t bytes) {
  const auto units = static_cast<std::size_t>((bytes + kUnit - 1) / kUnit);
  auto* writers = static_cast<std::uint16_t*>(std::calloc(units, sizeof(std::uint16_t)));
  if (writers == nullptr) throw std::bad_alloc();
  return writers;
}

}  // namespace

Window::Window(const Tensor& tensor, bool track_writers) : tensor_(tensor) {
  if (track_writers && tensor.access != Access::kRead) writers_.reset(allocate_writers(tensor.bytes));
}

std::int64_t Window::claim(std::int64_t offset, std::int64_t bytes, Touch touch, int task, int cluster) {
  if (writers_ == nullptr) return -1;
  const std::uint16_t self = writer_number(task), met = met_number(cluster);
  const std::uint16_t friendly = touch == Touch::kAtomic ? kAtomic : self;
  std::uint16_t* begin = writers_.get() + offset / kUnit;
  std::uint16_t* end = writers_.get() + (offset + bytes + kUnit - 1) / kUnit;
  if (begin < touched_end_ && end > touched_begin_) {
    const auto foreign = [=](std::uint16_t w) { return (w != kNobody) & (w != self) & (w != met) & (w != friendly); };
    std::uint16_t any = 0;  // as wide as an entry: the loop becomes vector code
    for (const std::uint16_t* w = begin; w != end; ++w) any |= static_cast<std::uint16_t>(foreign(*w));
    if (any != 0) return std::max(offset, (std::find_if(begin, end, foreign) - writers_.get()) * kUnit);
  }
  if (touch == Touch::kRead) return -1;
  std::fill(begin, end, friendly);
  touched_begin_ = touched_begin_ == nullptr ? begin : std::min(touched_begin_, begin);
  touched_end_ = std::max(touched_end_, end);
  return -1;
}

void Window::meet(int first_task, int last_task, int cluster) {
  const std::uint16_t first = writer_number(first_task), last = writer_number(last_task);
  const auto present = [=](std::uint16_t w) {
    return first <= last ? w >= first && w <= last : w >= first || w <= last;
  };
  std::replace_if(
      touched_begin_, touched_end_, [=](std::uint16_t w) { return w != kNobody && w < 0x8000 && present(w); },
      met_number(cluster));
}

void Window::meet_all() {
  std::fill(touched_begin_, touched_end_, kNobody);
  touched_begin_ = touched_end_ = nullptr;
}

Gdram::Gdram(const std::vector<Tensor>& tensors, bool track_writers) {
  windows_.reserve(tensors.size());
  for (const Tensor& t : tensors) {
    if (t.present()) windows_.emplace_back(t, track_writers);
  }
}

void Gdram::renew(const std::vector<Tensor>& tensors, bool track_writers) {
  std::vector<Window> before = std::exchange(windows_, {});
  windows_.reserve(tensors.size());
  std::size_t hint = 0;  // tensors mostly keep their order
  for (const Tensor& t : tensors) {
    if (!t.present()) continue;
    const auto same = [&](const Window& w) { return w.is(t); };
    const auto from = before.begin() + static_cast<std::ptrdiff_t>(hint);
    const auto found = std::find_if(from, before.end(), same);
    if (found == before.end()) {
      windows_.emplace_back(t, track_writers);
      continue;
    }
    hint = static_cast<std::size_t>(found - before.begin()) + 1;
    windows_.push_back(std::move(*found));
    windows_.back().rename(t.name);
    windows_.back().meet_all();
  }
}

int Gdram::find(const void* address) const {
  int just_behind = -1;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto begin = reinterpret_cast<std::uintptr_t>(windows_[i].tensor().data);
    const auto end = begin + static_cast<std::uintptr_t>(windows_[i].tensor().bytes);
    if (at >= begin && at < end) return static_cast<int>(i);
    if (at == end) just_behind = static_cast<int>(i);
  }
  return just_behind;
}

}  // namespace mluops::emu
