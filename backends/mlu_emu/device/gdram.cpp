#include "backends/mlu_emu/device/gdram.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "backends/mlu_emu/device/nram.h"

namespace mluops::emu {
namespace {

constexpr std::int64_t kUnit = 2;  // bytes one writer entry stands for
constexpr std::int64_t kBlock = static_cast<std::int64_t>(ScalarSpans::kListed) / kUnit;  // entries of a block
constexpr std::uint16_t kNobody = 0, kAtomic = 0xffff;

/// Wraps around as a task's does.
std::uint16_t met_number(int cluster) {
  return static_cast<std::uint16_t>(0x8000 + cluster % 0x7fff);
}

std::uint16_t* allocate_writers(std::int64_t bytes) {
  const auto units = static_cast<std::size_t>((bytes + kUnit - 1) / kUnit);
  auto* writers = static_cast<std::uint16_t*>(std::calloc(units, sizeof(std::uint16_t)));
  if (writers == nullptr) throw std::bad_alloc();
  return writers;
}

void sort_unique(std::vector<std::uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

Window::Window(const Tensor& tensor, bool track_writers) : tensor_(tensor), reads_(tensor.bytes) {
  if (!track_writers || tensor.access == Access::kRead) return;
  writers_.reset(allocate_writers(tensor.bytes));
  units_ = (tensor.bytes + kUnit - 1) / kUnit;
  listed_.resize(static_cast<std::size_t>((units_ + kBlock - 1) / kBlock));
}

template <class Visit>
void Window::for_each_writer(const Blocks& blocks, Visit&& visit) {
  for (const std::uint32_t block : blocks) {
    const std::int64_t begin = block * kBlock;
    visit(writers_.get() + begin, writers_.get() + std::min(begin + kBlock, units_));
  }
}

/// Puts the blocks of a range on the cluster's list, unless they were put there last. All of them count as touched, as
/// the cluster's tasks may go on in them by themselves.
void Window::note_written(std::int64_t first_unit, std::int64_t end_unit, int cluster) {
  Writer* begin = writers_.get() + first_unit / kBlock * kBlock;
  Writer* end = writers_.get() + std::min((end_unit + kBlock - 1) / kBlock * kBlock, units_);
  touched_begin_ = touched_begin_ == nullptr ? begin : std::min(touched_begin_, begin);
  touched_end_ = std::max(touched_end_, end);
  const std::uint8_t list = list_number(cluster);
  for (std::int64_t block = first_unit / kBlock; block * kBlock < end_unit; ++block) {
    std::uint8_t& listed = listed_[static_cast<std::size_t>(block)];
    if (listed == list) continue;
    listed = list;
    Blocks& written = written_[static_cast<std::size_t>(list - 1)];
    if (written.size() > 2 * listed_.size()) sort_unique(written);  // clusters take turns in one block
    written.push_back(static_cast<std::uint32_t>(block));
  }
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
  if (touch == Touch::kAtomic) {  // what it stored itself stays its own: others may not add to that
    std::replace_if(
        begin, end, [=](std::uint16_t w) { return w != self; }, kAtomic);
  } else {
    std::fill(begin, end, self);
  }
  note_written(begin - writers_.get(), end - writers_.get(), cluster);
  return -1;
}

std::int64_t Window::free_from(std::int64_t offset, std::int64_t most, int task, int cluster) {
  const std::int64_t bytes = std::min(most, tensor_.bytes - offset);
  const std::int64_t contested = claim(offset, bytes, Touch::kRead, task, cluster);
  return contested < 0 ? bytes : contested - offset;
}

void Window::take(std::int64_t offset, std::int64_t bytes, int task, int cluster) {
  if (writers_ == nullptr) return;
  std::fill(writers_.get() + offset / kUnit, writers_.get() + (offset + bytes + kUnit - 1) / kUnit, kNobody);
  claim(offset, bytes, Touch::kWrite, task, cluster);
}

bool Window::never_written(std::int64_t offset, std::int64_t bytes) const {
  if (!tensor_.fresh || bytes <= 0) return false;
  constexpr std::int64_t kWord = sizeof(kPoison);
  const std::int64_t end = std::min((offset + bytes + kWord - 1) / kWord * kWord, tensor_.bytes / kWord * kWord);
  std::int64_t at = offset / kWord * kWord;
  for (; at < end; at += kWord) {
    if (std::memcmp(tensor_.data + at, &kPoison, kWord) != 0) return false;
  }
  return at >= offset + bytes;
}

const Window::Written* Window::written_at(std::int64_t offset, int task, Touch touch) const {
  const std::uint16_t writer = writers_ == nullptr ? kNobody : writers_.get()[offset / kUnit];
  const bool one = writer != kNobody && writer < 0x8000;  // else atomic additions, or tasks that met
  const Written* found = nullptr;
  for (auto w = log_.rbegin(); w != log_.rend(); ++w) {
    const bool there =
        w->offset <= offset && offset < w->offset + w->bytes && (!one || writer_number(w->task) == writer);
    if (!there || w->task == task || (w->atomic && touch == Touch::kAtomic)) continue;
    if (w->bytes < tensor_.bytes) return &*w;
    if (found == nullptr) found = &*w;
  }
  return found;
}

void Window::meet(int first_task, int last_task, int cluster) {
  reads_.forget(first_task, last_task);
  const std::uint16_t first = writer_number(first_task), last = writer_number(last_task);
  const auto present = [=](std::uint16_t w) {
    return first <= last ? w >= first && w <= last : w >= first || w <= last;
  };
  Blocks& written = written_[static_cast<std::size_t>(cluster % kClusters)];
  for_each_writer(written, [&](Writer* begin, Writer* end) {
    std::replace_if(
        begin, end, [=](Writer w) { return w != kNobody && w < 0x8000 && present(w); }, met_number(cluster));
  });
  for (const std::uint32_t block : written) listed_[block] = 0;
  met_.insert(met_.end(), written.begin(), written.end());
  written.clear();
  if (met_.size() > listed_.size()) sort_unique(met_);
}

void Window::meet_all() {
  reads_.forget();
  const auto forget = [](Writer* begin, Writer* end) { std::fill(begin, end, kNobody); };
  for (Blocks& written : written_) {
    for_each_writer(written, forget);
    for (const std::uint32_t block : written) listed_[block] = 0;
    written.clear();
  }
  for_each_writer(met_, forget);
  met_.clear();
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
    windows_.back().rename(t);
    windows_.back().forget();
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
