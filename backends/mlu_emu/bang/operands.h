// The steps of every vector builtin before and after its loop: check the operands, account for the work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "backends/mlu_emu/bang/guesses.h"
#include "backends/mlu_emu/bang/lanes.h"
#include "backends/mlu_emu/bang/saturation.h"
#include "backends/mlu_emu/device/core.h"

namespace mluops::emu::bang {

/// One call of a vector builtin on the running core: its sources, then its destination, then the loop. Lanes of the
/// destination that depend on an undefined lane are undefined again once the word goes out of scope.
class Word {
 public:
  explicit Word(const char* name) : core_(Core::current()), name_(name) {}
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;
  ~Word() {
    if (halves_ != nullptr) saturate(halves_, results_, non_finite_of(name_));
    if (floats_ != nullptr) saturate(floats_, results_, non_finite_of(name_));
    if (!undefined_.empty()) core_.forget(target_, lane_, undefined_);
    core_.note_half_overflow(name_);
  }

  void count(std::int64_t n) const {
    require(n >= 0 && n <= std::numeric_limits<std::int32_t>::max(), "the count must lie in [0, 2^31)");
  }
  void require(bool holds, const char* rule) const { core_.require(holds, name_, rule); }
  [[noreturn]] void fault(const std::string& text) const { core_.fault(name_, text); }
  void note(const std::string& text) const { core_.note(name_, text); }
  const Arch& arch() const { return core_.launch().settings.arch; }
  bool fused_multiply_add() const { return arch().fused_multiply_add(); }

  /// A source whose lane i only result i depends on.
  template <class T>
  void source(const T* p, std::int64_t n, const char* role = "source") {
    depend(lanes_of(p, n, role), n);
  }
  /// A source() of a conversion between types of floats: an infinite lane stays infinite whatever it was.
  template <class T>
  void converted_source(const T* p, std::int64_t n) {
    source(p, n);
    for (std::int64_t i = 0; i < n && !undefined_.empty(); ++i) {
      if (is_set(undefined_, i) && is_infinite_poison(p[i])) set_flag(i, kInfiniteLane);
    }
  }
  /// A source whose lane i mod length result i depends on, for n results.
  template <class T>
  void cycled_source(const T* p, std::int64_t length, std::int64_t n) {
    depend(lanes_of(p, length, "cycled source"), n);
  }
  /// A source of which the caller knows what depends on what; it hands the result's flags to undefined().
  template <class T>
  LaneFlags lanes_of(const T* p, std::int64_t n, const char* role = "source") {
    read(p, bytes_of_lanes<T>(n));
    return core_.source(name_, role, p, sizeof(T), n);
  }
  void undefined(LaneFlags flags) { undefined_ = std::move(flags); }
  bool is_undefined(std::int64_t lane) const {
    return !undefined_.empty() && undefined_[static_cast<std::size_t>(lane)] != 0;
  }
  /// A source that decides something: it must be defined.
  template <class T>
  void decider(const T* p, std::int64_t n, const char* role = "source") {
    read(p, bytes_of_lanes<T>(n));
    core_.deciding_source(name_, role, p, bytes_of_lanes<T>(n));
  }
  /// What is known of a destination that keeps some of its lanes.
  template <class T>
  LaneFlags kept_lanes(const T* p, std::int64_t n) const {
    return core_.source(name_, "destination", p, sizeof(T), n);
  }
  /// A place for intermediate results, of which a kernel knows nothing afterwards.
  template <class T>
  void scratch(const T* p, std::int64_t n) {
    lanes_of(p, n, "scratch");
  }
  /// The word goes over more lanes than it has results.
  void steps(std::int64_t n) { steps_ = n; }
  /// Accounts for the work too: every word has exactly one destination.
  template <class T>
  void destination(T* p, std::int64_t n) {
    for (int i = 0; i < sources_; ++i) {
      core_.warn_not_apart(name_, source_[i].begin, source_[i].bytes, p, bytes_of_lanes<T>(n));
    }
    core_.destination(name_, "destination", p, bytes_of_lanes<T>(n));
    core_.computed(name_, bytes_of_lanes<T>(n), n, std::max(n, steps_));
    target(p);
    saturate_at_end(p, n);
  }

  /// Results that become finite on machines without infinity.
  template <class T>
  void saturate_at_end(T* p, std::int64_t n) {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, float>) {
      if (!saturates_here()) return;
      results_ = n;
      if constexpr (std::is_same_v<T, half>) halves_ = p;
      if constexpr (std::is_same_v<T, float>) floats_ = p;
    }
  }

  /// Where the flags of undefined() apply, for a word that checks and accounts for its destination itself.
  template <class T>
  void target(T* p) {
    target_ = p;
    lane_ = sizeof(T);
  }

  /// dst, a [, b] of n lanes each.
  template <class T>
  void lanes(T* dst, const T* a, std::int64_t n) {
    count(n);
    first_ = lanes_of(a, n);
    core_.not_behind_source(name_, "source", a, dst, bytes_of_lanes<T>(n), Core::Beside::kNothing);
    depend(first_, n);
    destination(dst, n);
  }
  template <class T>
  void lanes(T* dst, const T* a, const T* b, std::int64_t n) {
    count(n);
    first_ = lanes_of(a, n, "first source");
    second_ = lanes_of(b, n, "second source");
    const auto beside = [=](const T* other) {
      return other == dst ? Core::Beside::kDestination : Core::Beside::kOther;
    };
    core_.not_behind_source(name_, "first source", a, dst, bytes_of_lanes<T>(n), beside(b));
    core_.not_behind_source(name_, "second source", b, dst, bytes_of_lanes<T>(n), beside(a));
    depend(first_, n);
    depend(second_, n);
    destination(dst, n);
  }

  /// Behind lanes() and before the loop: lanes of which f tells something although a source is undefined.
  template <class T, class F>
  void settle(const T* a, const T* b, std::int64_t n, F f) {
    for (std::int64_t i = 0; i < n && !undefined_.empty(); ++i) {
      const bool x = is_set(first_, i), y = is_set(second_, i);
      const bool infinite = (x && is_infinite_poison(a[i])) || (y && is_infinite_poison(b[i]));
      if (x == y && !infinite) continue;  // two of which nothing is known
      const auto known = the_value(x ? b[i] : a[i]);
      set_flag(i, flag_of_result(guesses_of(a[i], x, known), guesses_of(b[i], y, known), f));
    }
  }
  /// settle() for one source and a value.
  template <class T, class F>
  void settle(const T* a, std::int64_t n, Wide<T> value, F f) {
    Guesses<Wide<T>> known;
    known.add(value);
    for (std::int64_t i = 0; i < n && !undefined_.empty(); ++i) {
      if (is_set(first_, i)) set_flag(i, flag_of_result(guesses_of(a[i], true, known), known, f));
    }
  }

 private:
  static constexpr int kMostSources = 3;
  struct Range {
    const void* begin;
    std::int64_t bytes;
  };

  void read(const void* p, std::int64_t bytes) {
    if (sources_ < kMostSources) source_[sources_++] = {p, bytes};
  }
  static bool is_set(const LaneFlags& flags, std::int64_t i) {
    return !flags.empty() && flags[static_cast<std::size_t>(i)] != kDefinedLane;
  }
  void set_flag(std::int64_t i, std::uint8_t flag) { undefined_[static_cast<std::size_t>(i)] = flag; }

  void depend(const LaneFlags& flags, std::int64_t n) {
    if (flags.empty()) return;
    undefined_.resize(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < undefined_.size(); ++i) undefined_[i] |= flags[i % flags.size()];
  }

  Core& core_;
  const char* name_;
  void* target_ = nullptr;
  std::int64_t lane_ = 1, steps_ = 0, results_ = 0;
  half* halves_ = nullptr;
  float* floats_ = nullptr;
  LaneFlags undefined_, first_, second_;
  Range source_[kMostSources];  // what the guide may want apart from the destination
  int sources_ = 0;
};

}  // namespace mluops::emu::bang
