// When a core would be done if its copies from and to GDRAM ran beside everything else, with two of each of its
// buffers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "backends/mlu_emu/device/event.h"
#include "backends/mlu_emu/device/scalar_work.h"

namespace mluops::emu {

/// What a word reads or writes.
struct Touched {
  const void* address;
  std::int64_t bytes;
  bool written;
  bool twice;  // it could lie in either of two buffers
};

/// Words other than those copies keep their order. A load waits for who used its buffer the time before last, a word
/// for what it reads, a store for what it stores; where pieces of memory are not known to differ they count as one. The
/// copies share their engine: a store is put off until somebody needs its buffer.
class TwoBuffers {
 public:
  /// When all is done.
  double end() {
    drain();
    return now_;
  }
  void run(const Event& word, std::span<const Touched> operands);
  void compute(const ScalarWork& work, double duration);
  /// What is on its way arrives.
  void drain();
  /// After drain(): nothing starts before that time.
  void start_at(double time) { now_ = floor_ = io_end_ = std::max(now_, time); }

 private:
  static constexpr std::ptrdiff_t kNone = -1;

  /// Of some memory: when what it holds is there, when the last who reads that is done, and when the contents before
  /// it were done with; and the store without a time yet that is one of those.
  struct Use {
    double ready = 0, read = 0, previous = 0;
    std::ptrdiff_t written_by = kNone, read_by = kNone, previous_by = kNone;
  };
  struct Range {
    std::intptr_t end;
    Use use;
  };
  struct Store {
    double ready, duration, end;
  };
  struct Gap {
    double begin, end;
  };
  using Ranges = std::map<std::intptr_t, Range>;

  bool in_place(const Touched& written, std::span<const Touched> operands) const;
  /// The earliest start, by the uses of its operands.
  double ready(std::span<const Touched> operands);
  /// They are done then, or with a store.
  void done(std::span<const Touched> operands, double end, std::ptrdiff_t store = kNone);
  void drain_copies();
  double copy(double ready, double duration);
  /// When a store is done, with all before it; 0 for none.
  double end_of(std::ptrdiff_t store);
  /// Splits ranges at both ends of the operand; all between them have an entry.
  std::pair<Ranges::iterator, Ranges::iterator> ranges_of(const Touched& operand);

  double now_ = 0;
  double floor_ = 0;             // copies start behind it
  double stored_by_scalar_ = 0;  // scalar code may have made what is stored, or the address of what is loaded
  double io_end_ = 0;
  std::vector<Store> stores_;
  std::ptrdiff_t placed_ = 0;  // so many of them have a time
  std::vector<Gap> gaps_;      // of the copies' engine, before io_end_
  Ranges ranges_;
};

}  // namespace mluops::emu
