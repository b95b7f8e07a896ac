#include "bench/engine/floor.h"

#include <algorithm>
#include <atomic>

#include "bench/machine/median.h"
#include "bench/machine/passes.h"
#include "bench/machine/streams.h"

namespace bench {
namespace {

constexpr std::int64_t kLine = 64;
/// Lines moved in one direction before the other one's turn: few, so that both directions are always under way.
constexpr std::int64_t kTurn = 64;

std::atomic<std::uint64_t> sink;

}  // namespace

/// One thread's part of some pieces, a few lines at a time.
class Floor::Walk {
 public:
  Walk(const std::vector<Piece>& pieces, int thread, int threads) : pieces_(pieces) {
    std::int64_t total = 0;
    for (const Piece& p : pieces) total += p.size;
    std::int64_t skip = total * thread / threads;
    left_ = total * (thread + 1) / threads - skip;
    for (; at_ < pieces.size() && skip >= pieces[at_].size; ++at_) skip -= pieces[at_].size;
    done_ = skip;
  }

  std::int64_t left() const { return left_; }

  /// f(offset in bytes, lines) for the next `lines` lines.
  template <class F>
  void advance(std::int64_t lines, F f) {
    for (lines = std::min(lines, left_); lines > 0;) {
      const Piece& p = pieces_[at_];
      const std::int64_t count = std::min(lines, p.size - done_);
      f(p.begin + done_ * kLine, count);
      lines -= count, left_ -= count, done_ += count;
      if (done_ == p.size) ++at_, done_ = 0;
    }
  }

 private:
  const std::vector<Piece>& pieces_;
  std::size_t at_ = 0;
  std::int64_t done_ = 0, left_ = 0;
};

Floor::Floor(const Workload& workload) : workload_(workload) {
  for (int i = 0; i < static_cast<int>(workload.spec().tensors.size()); ++i) {
    const TensorSpec& t = workload.spec().tensors[static_cast<std::size_t>(i)];
    const std::int64_t start = workload.offset(i), size = static_cast<std::int64_t>(element_size(t.dtype));
    t.visit_touched([&](std::int64_t first, std::int64_t count) {
      add_lines(start + first * size, start + (first + count) * size);
    });
    // A last line that is not whole is left out: a store past the caches takes whole ones.
    if (t.is_output() && t.bytes() >= kLine) writes_.push_back({start, t.bytes() / kLine});
  }
}

void Floor::add_lines(std::int64_t first_byte, std::int64_t end_byte) {
  if (first_byte >= end_byte) return;
  std::int64_t begin = first_byte / kLine * kLine;
  const std::int64_t end = (end_byte + kLine - 1) / kLine * kLine;
  if (!reads_.empty()) {
    Piece& last = reads_.back();
    const std::int64_t last_end = last.begin + last.size * kLine;
    begin = std::max(begin, last_end);  // runs come in memory order; a line may be shared with the one before
    if (begin >= end) return;
    if (begin == last_end) {
      last.size += (end - begin) / kLine;
      return;
    }
  }
  reads_.push_back({begin, (end - begin) / kLine});
}

double Floor::line_bytes() const {
  double lines = 0;
  for (const Piece& p : reads_) lines += static_cast<double>(p.size);
  return lines * kLine;
}

void Floor::move(int set, int thread, int threads) const {
  std::byte* const base = workload_.set_start(set);
  Walk reads(reads_, thread, threads), writes(writes_, thread, threads);
  // The longer direction moves kTurn lines in its turn, the other one in proportion.
  const std::int64_t most = std::max(reads.left(), writes.left()), turns = (most + kTurn - 1) / kTurn;
  const std::int64_t all_reads = reads.left(), all_writes = writes.left();
  std::uint64_t sum = 0;
  for (std::int64_t turn = 1; turn <= turns; ++turn) {
    const std::int64_t read = all_reads * turn / turns - (all_reads - reads.left());
    const std::int64_t written = all_writes * turn / turns - (all_writes - writes.left());
    reads.advance(read, [&](std::int64_t offset, std::int64_t lines) {
      for (std::int64_t i = 0; i < lines; ++i) {
        sum ^= *reinterpret_cast<const volatile std::uint64_t*>(base + offset + i * kLine);
      }
    });
    writes.advance(written, [&](std::int64_t offset, std::int64_t lines) {
      stream_part(reinterpret_cast<float*>(base + offset), static_cast<std::size_t>(lines) * (kLine / sizeof(float)),
                  1);
    });
  }
  stream_done();
  sink = sink ^ sum;
}

double Floor::seconds(int threads, double measured_seconds) const {
  return median_of(timed_passes(threads, measured_seconds,
                                [&](int thread, int round) { move(round % workload_.sets(), thread, threads); }));
}

}  // namespace bench
