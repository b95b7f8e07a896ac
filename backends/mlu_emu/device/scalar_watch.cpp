#include "backends/mlu_emu/device/scalar_watch.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace mluops::emu {

void ScalarWatch::begin(KernelSource* source, Gdram& gdram, const Nram& nram, std::int64_t most_of_nram,
                        const TaskBuiltins& task) {
  source_ = source;
  gdram_ = &gdram;
  nram_ = &nram;
  most_of_nram_ = most_of_nram;
  task_ = task;
  runs_ = {};
  contested_ = {};
  if (!on()) return;
  source->use(&spans_);
  forget();
}

void ScalarWatch::leave() noexcept {
  if (on()) source_->use(nullptr);
  source_ = nullptr;
}

void ScalarWatch::pass_stores(unsigned slot, const char* begin, std::int64_t bytes) {
  stop_stores(slot);
  spans_.stores[slot] = {begin, static_cast<std::size_t>(bytes), static_cast<std::size_t>(bytes)};
}

void ScalarWatch::pass_written(const ScalarAccess& access, int index) {
  Window& w = window(index);
  const Tensor& block = w.tensor();
  ScalarSpans::Written& known = spans_.written[access.slot];
  if (w.writers() == nullptr) return void(known = {});
  const int before = known.begin == block.data ? known.line : 0;
  const int line = access.touch == ScalarTouch::kStore ? access.site.line : before;
  if (line != before) w.remember({0, block.bytes, Actor(task_), false, kWord, access.site});
  known = {block.data, static_cast<std::size_t>(block.bytes), w.writers(), w.listed(), !block.fresh, line};
}

std::int64_t ScalarWatch::ahead(const ScalarAccess& store) const {
  constexpr std::size_t kNearest = 256, kFarthest = 1 << 16, kGrowth = 8;
  const ScalarSpans::Stores& span = spans_.stores[store.slot];
  const bool ended = span.bytes != 0 && span.bytes + static_cast<std::size_t>(store.bytes) > span.room;
  const std::size_t ahead = ended ? std::clamp(kGrowth * span.room, kNearest, kFarthest) : kNearest;
  return std::max(static_cast<std::int64_t>(ahead), store.bytes);
}

void ScalarWatch::run_stores(const ScalarAccess& first, int index, std::int64_t room) {
  stop_stores(first.slot);
  spans_.stores[first.slot] = {static_cast<const char*>(first.address), static_cast<std::size_t>(first.bytes),
                               static_cast<std::size_t>(room)};
  runs_[first.slot] = {index, first.site};
}

void ScalarWatch::stop_stores(unsigned slot) {
  ScalarSpans::Stores& span = spans_.stores[slot];
  Run& run = runs_[slot];
  if (run.window >= 0) {
    Window& w = window(run.window);
    const std::int64_t offset = w.offset(span.begin), bytes = static_cast<std::int64_t>(span.bytes);
    w.claim(offset, bytes, Touch::kWrite, Actor(task_));
    w.remember({offset, bytes, Actor(task_), false, kWord, run.site});
  }
  run = {};
  span = {};
}

void ScalarWatch::stop_all_stores() {
  for (unsigned slot = 0; slot < ScalarSpans::kSlots; ++slot) {
    if (runs_[slot].window >= 0) stop_stores(slot);
    spans_.written[slot] = {};
  }
}

void ScalarWatch::forget() {
  stop_all_stores();
  spans_ = {};
  spans_.nram = nram_->base();
  spans_.nram_bytes = static_cast<std::size_t>(most_of_nram_);
  spans_.task = Window::writer_number(Actor(task_));
  spans_.list = Window::list_number(Actor(task_).cluster);
}

void ScalarWatch::nram_done() {
  if (!on()) return;
  std::fill(std::begin(spans_.nram_loads), std::end(spans_.nram_loads), ScalarSpans::InNram{});
  std::fill(std::begin(spans_.nram_stores), std::end(spans_.nram_stores), ScalarSpans::InNram{});
}

void ScalarWatch::contest(const ScalarAccess& store, Window& w) {
  if (store.bytes > kWidest) return;
  contested_ = {&w, w.offset(store.address), store.bytes, {}, store.site};
  std::memcpy(contested_.before.data(), store.address, static_cast<std::size_t>(store.bytes));
}

ScalarWatch::Contested ScalarWatch::take_contested() {
  const Contested taken = contested_;
  contested_ = {};
  return taken;
}

}  // namespace mluops::emu
