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

/// An entry of the shadow: the upper bits hold the kind of access, the lower ones the task. 0: no access.
enum Kind : std::uint16_t {
  kNobody,
  kPlain,          // a task stored
  kAtomic,         // one task alone added
  kSeveral,        // several tasks of one cluster added
  kMetPlain,       // stored before its cluster met
  kMetAtomic,      // added to before the cluster met
  kAtomicsOfMany,  // tasks of several clusters added
};
constexpr int kKindShift = 13, kNumbers = 1 << kKindShift;
// The last numbers are those of memory cores.
constexpr int kMemoryCores = 64, kTasks = kNumbers - kMemoryCores;

constexpr std::uint16_t entry(Kind kind, int number) {
  return static_cast<std::uint16_t>(kind << kKindShift | number % kNumbers);
}
constexpr Kind kind_of(std::uint16_t writer) {
  return static_cast<Kind>(writer >> kKindShift);
}
constexpr int number_of(std::uint16_t writer) {
  return writer % kNumbers;
}
int number_of(const Actor& actor) {
  return actor.memory_core ? kTasks + actor.cluster % kMemoryCores : actor.task % kTasks;
}

/// The entries that forbid nothing to an actor, but for other tasks' atomics where it adds itself.
struct Friends {
  explicit Friends(const Actor& a)
      : plain(entry(kPlain, number_of(a))),
        atomic(entry(kAtomic, number_of(a))),
        met_plain(entry(kMetPlain, a.cluster)),
        met_atomic(entry(kMetAtomic, a.cluster)) {}

  std::uint16_t plain, atomic, met_plain, met_atomic;

  bool forbids(std::uint16_t w) const {
    return (w != kNobody) & (w != plain) & (w != atomic) & (w != met_plain) & (w != met_atomic);
  }
  bool forbids_atomic(std::uint16_t w) const {
    const Kind k = kind_of(w);
    return ((k == kPlain) & (w != plain)) | ((k == kMetPlain) & (w != met_plain));
  }
};

/// What an entry says when the actor has added there, too. What it stored itself stays its own: others may not add to
/// that.
std::uint16_t added_to(std::uint16_t w, const Actor& a, const Friends& own) {
  const int number = number_of(w), cluster = a.cluster % kNumbers;
  switch (kind_of(w)) {
    case kAtomic:
      if (w == own.atomic) return w;
      return number / a.cores_of_cluster == number_of(a) / a.cores_of_cluster ? entry(kSeveral, cluster)
                                                                              : entry(kAtomicsOfMany, 0);
    case kSeveral:
      return number == cluster ? w : entry(kAtomicsOfMany, 0);
    case kMetAtomic:
      return number == cluster ? own.atomic : entry(kAtomicsOfMany, 0);
    case kNobody:
    case kMetPlain:
      return own.atomic;
    default:
      return w;
  }
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

std::string Actor::name() const {
  return memory_core ? "the memory core of cluster " + std::to_string(cluster) : "task " + std::to_string(task);
}

std::uint16_t Window::writer_number(const Actor& actor) {
  return entry(kPlain, number_of(actor));
}

bool Window::of_memory_core(std::int64_t offset) const {
  const std::uint16_t writer = writers_ == nullptr ? std::uint16_t{0} : writers_.get()[offset / kUnit];
  return kind_of(writer) == kPlain && number_of(writer) >= kTasks;
}

/// Without those at its ends that it may share with a neighbour.
Window::Units Window::whole_units(std::int64_t offset, std::int64_t bytes) const {
  const std::int64_t end = offset + bytes;
  return {(offset + kUnit - 1) / kUnit, end >= tensor_.bytes ? units_ : end / kUnit};
}

std::int64_t Window::claim(std::int64_t offset, std::int64_t bytes, Touch touch, const Actor& actor) {
  if (writers_ == nullptr) return -1;
  const Friends own(actor);
  const auto [first, behind] = whole_units(offset, bytes);
  if (first >= behind) return -1;
  std::uint16_t *begin = writers_.get() + first, *end = writers_.get() + behind;
  if (begin < touched_end_ && end > touched_begin_) {
    const bool adds = touch == Touch::kAtomic;
    const auto forbids = [=](std::uint16_t w) { return adds ? own.forbids_atomic(w) : own.forbids(w); };
    std::uint16_t any = 0;  // as wide as an entry: the loop becomes vector code
    for (const std::uint16_t* w = begin; w != end; ++w) any |= static_cast<std::uint16_t>(forbids(*w));
    if (any != 0) return std::max(offset, (std::find_if(begin, end, forbids) - writers_.get()) * kUnit);
  }
  if (touch == Touch::kRead) return -1;
  if (touch == Touch::kAtomic) {
    std::transform(begin, end, begin, [&](std::uint16_t w) { return added_to(w, actor, own); });
  } else {
    std::fill(begin, end, own.plain);
  }
  note_written(begin - writers_.get(), end - writers_.get(), actor.cluster);
  return -1;
}

std::int64_t Window::free_from(std::int64_t offset, std::int64_t most, const Actor& actor) {
  const std::int64_t bytes = std::min(most, tensor_.bytes - offset);
  const std::int64_t contested = claim(offset, bytes, Touch::kRead, actor);
  return contested < 0 ? bytes : contested - offset;
}

void Window::take(std::int64_t offset, std::int64_t bytes, const Actor& actor) {
  if (writers_ == nullptr) return;
  const auto [first, behind] = whole_units(offset, bytes);
  if (first < behind) std::fill(writers_.get() + first, writers_.get() + behind, kNobody);
  claim(offset, bytes, Touch::kWrite, actor);
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

const Window::Written* Window::written_at(std::int64_t offset, const Actor& actor, Touch touch) const {
  const std::uint16_t writer = writers_ == nullptr ? std::uint16_t{0} : writers_.get()[offset / kUnit];
  const bool one = kind_of(writer) == kPlain || kind_of(writer) == kAtomic;
  const Written* found = nullptr;
  for (auto w = log_.rbegin(); w != log_.rend(); ++w) {
    const bool there =
        w->offset <= offset && offset < w->offset + w->bytes && (!one || number_of(w->actor) == number_of(writer));
    const bool ordered = w->met && w->actor.cluster == actor.cluster;
    if (!there || ordered || w->actor.is(actor) || (w->atomic && touch == Touch::kAtomic)) continue;
    if (w->bytes < tensor_.bytes) return &*w;
    if (found == nullptr) found = &*w;
  }
  return found;
}

void Window::meet(int first_task, int last_task, int cluster, bool with_memory_core) {
  reads_.forget(first_task, last_task);
  const int first = first_task % kTasks, last = last_task % kTasks;
  const auto present = [=](int number) {
    if (number >= kTasks) return with_memory_core && number == kTasks + cluster % kMemoryCores;
    return first <= last ? number >= first && number <= last : number >= first || number <= last;
  };
  const auto met = [=](Writer w) {
    const Kind kind = kind_of(w);
    if (kind == kPlain && present(number_of(w))) return entry(kMetPlain, cluster);
    const bool added = (kind == kAtomic && present(number_of(w))) || w == entry(kSeveral, cluster);
    return added ? entry(kMetAtomic, cluster) : w;
  };
  for (Written& w : log_) w.met |= w.actor.cluster == cluster && present(number_of(w.actor));
  const std::uint16_t of_memory_core = entry(kPlain, kTasks + cluster % kMemoryCores);
  Blocks left;  // with what the memory core stored, which was not there
  for (const std::uint32_t block : std::exchange(written_[static_cast<std::size_t>(cluster % kClusters)], {})) {
    bool waits = false;
    for_each_writer({block}, [&](Writer* begin, Writer* end) {
      std::transform(begin, end, begin, met);
      waits = std::find(begin, end, of_memory_core) != end;
    });
    (waits ? left : met_).push_back(block);
    if (!waits) listed_[block] = 0;
  }
  written_[static_cast<std::size_t>(cluster % kClusters)] = std::move(left);
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
  log_.clear();
  oldest_ = 0;
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
