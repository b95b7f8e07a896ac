#include "backends/mlu_emu/plan/three_interpolate.h"

#include "common/shape.h"

namespace mluops::emu::plan {
namespace {

constexpr std::int64_t kIndexBytes = 4;
constexpr std::int64_t kNeighbours = 3;

/// Search for (Co, Mo, No): a budget of elements shrinks until the areas that follow from it fit NRAM. M has the first
/// call on the budget; then the limit whose axis is split over cores gives way for a better balance.
class LimitSearch {
 public:
  LimitSearch(const mluopsThreeInterpolateShape& shape, Direction direction, const Machine& machine, std::int64_t bytes)
      : shape_(shape),
        backward_(direction == Direction::kBackward),
        machine_(machine),
        bytes_(bytes),
        a_(kNfuAlign / bytes) {}

  /// False when no limits fit.
  bool run();
  std::int64_t need() const;

  std::int64_t co = 0, mo = 0, no = 0;

 private:
  std::int64_t start_budget() const;
  std::int64_t limit(std::int64_t size, std::int64_t most) const;
  bool channels_second(std::int64_t budget) const;
  void divide(std::int64_t budget);
  void balance();
  void refine(std::int64_t budget);
  bool better(std::int64_t best, std::int64_t current, std::int64_t axis) const;

  const mluopsThreeInterpolateShape& shape_;
  bool backward_;
  const Machine& machine_;
  std::int64_t bytes_;
  std::int64_t a_;  // lanes of 128 B
};

/// The whole axis rounded up to lines, or as many lines as the budget gives.
std::int64_t LimitSearch::limit(std::int64_t size, std::int64_t most) const {
  return std::min(round_up(size, a_), round_down(most, a_));
}

std::int64_t LimitSearch::need() const {
  const std::int64_t elements = std::max(co * mo, co * no) + co * mo + 2 * co * no + 2 * kNeighbours * no;
  return (elements + (backward_ ? co : 0)) * bytes_ + (2 * kNeighbours + 3) * no * kIndexBytes;
}

std::int64_t LimitSearch::start_budget() const {
  // As documented, signs included: the search shrinks the budget anyway, and its result depends on where it starts.
  const std::int64_t m0 = (machine_.nram_bytes - (2 * a_ * a_ + 6 * a_) * bytes_ + 9 * a_ * kIndexBytes) / (2 * a_);
  return m0 > 0 ? a_ * m0 * a_ : machine_.nram_bytes;
}

bool LimitSearch::channels_second(std::int64_t budget) const {
  const std::int64_t c = round_up(shape_.c, a_), m = round_up(shape_.m, a_);
  return backward_ || m * c <= budget / a_ || c > m;
}

void LimitSearch::divide(std::int64_t budget) {
  mo = limit(shape_.m, budget / (a_ * a_));
  if (mo == 0) return;
  if (channels_second(budget)) {
    co = limit(shape_.c, budget / (mo * a_));
    if (co != 0) no = limit(shape_.n, budget / (co * mo));
  } else {
    no = limit(shape_.n, budget / (mo * a_));
    if (no != 0) co = limit(shape_.c, budget / (mo * no));
  }
}

/// Does splitting the axis by `current` use the cores better than by `best`?
bool LimitSearch::better(std::int64_t best, std::int64_t current, std::int64_t axis) const {
  const std::int64_t cores = machine_.cores();
  const std::int64_t r_best = shape_.b * ceil_div(axis, best), r = shape_.b * ceil_div(axis, current);
  const std::int64_t q_best = r_best / cores, e_best = r_best % cores, q = r / cores, e = r % cores;
  if (q_best - q > 1) return true;
  if (q_best - q == 1) return e_best != 0 || e == 0;
  if (q_best == q) return e_best != 0 && (e == 0 || e_best < e);
  return q - q_best == 1 && e_best != 0 && e == 0;
}

void LimitSearch::balance() {
  std::int64_t& split = backward_ ? mo : no;
  const std::int64_t axis = backward_ ? shape_.m : shape_.n;
  for (std::int64_t smaller = split - a_; smaller >= a_; smaller -= a_)
    if (better(split, smaller, axis)) split = smaller;
}

/// The bytes that the balanced limit leaves over go to the other parts.
void LimitSearch::refine(std::int64_t budget) {
  if (backward_) {
    co = limit(shape_.c, budget / (mo * a_));
    if (co != 0) no = limit(shape_.n, budget / (mo * co));
  } else if (!channels_second(budget)) {
    co = limit(shape_.c, budget / (mo * no));
  }
}

bool LimitSearch::run() {
  for (std::int64_t budget = start_budget(); budget > 0; budget -= a_ * a_ * a_) {
    co = mo = no = 0;
    divide(budget);
    if (co * mo * no == 0) return false;  // a smaller budget gives no more
    balance();
    refine(budget);
    if (co * mo * no != 0 && need() <= machine_.nram_bytes) return true;
  }
  return false;
}

void lay_out(ThreeInterpolatePlan& p, Direction direction, std::int64_t bytes) {
  const std::int64_t points = p.co * p.no * bytes, features = p.co * p.mo * bytes;
  const std::int64_t row = p.no * kIndexBytes;
  if (direction == Direction::kForward) {
    p.source_offset = p.nram.add("features", std::max(points, features));
    p.source_t_offset = p.nram.add("features^T", features);
    p.target_offset = p.nram.add("selected", points);
    p.target_t_offset = p.nram.add("output", points);
  } else {
    p.source_offset = p.nram.add("grad_output", points);
    p.source_t_offset = p.nram.add("grad_output^T", points + p.co * bytes);
    p.target_offset = p.nram.add("grad_features", features);
    p.target_t_offset = p.nram.add("grad_features^T", std::max(points, features));
  }
  p.weights_offset = p.nram.add("weights", kNeighbours * p.no * bytes);
  p.weights_t_offset = p.nram.add("weights^T", kNeighbours * p.no * bytes);
  p.indices_offset = p.nram.add("indices", kNeighbours * row);
  p.indices_t_offset = p.nram.add("indices^T", kNeighbours * row);
  p.rows_offset = p.nram.add("index rows", 3 * row);
}

bool refuse_tensors(Plan& p, const mluopsThreeInterpolateShape& s) {
  return refuse_large_tensor(p, "features", {s.b, s.c, s.m}) || refuse_large_tensor(p, "indices", {s.b, s.n, 3}) ||
         refuse_large_tensor(p, "output", {s.b, s.c, s.n});
}

}  // namespace

ThreeInterpolatePlan plan_three_interpolate(const mluopsThreeInterpolateShape& shape, Direction direction,
                                            const Machine& machine) {
  ThreeInterpolatePlan p;
  if (shape.dtype != MLUOP_DTYPE_HALF && shape.dtype != MLUOP_DTYPE_FLOAT)
    p.refusal = "the device's three_interpolate takes half and float only";
  if (!p.ok() || refuse_tensors(p, shape)) return p;
  const std::int64_t bytes = shape.dtype == MLUOP_DTYPE_HALF ? 2 : 4;
  LimitSearch search(shape, direction, machine, bytes);
  if (!search.run()) {
    p.refusal =
        "no block of channels, features and points fits NRAM of " + std::to_string(machine.nram_bytes) + " bytes";
    return p;
  }
  p.co = search.co, p.mo = search.mo, p.no = search.no;
  lay_out(p, direction, bytes);
  p.blocks_per_batch = direction == Direction::kForward ? ceil_div(shape.n, p.no) : ceil_div(shape.m, p.mo);
  p.blocks = shape.b * p.blocks_per_batch;
  p.launch = union1_launch(machine, p.blocks);
  return p;
}

}  // namespace mluops::emu::plan
