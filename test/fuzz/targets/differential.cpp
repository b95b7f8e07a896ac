// Calls that must succeed, on every backend that takes them and in every way the cpu kernel has, against the reference.
#include <optional>

#include "test/fuzz/targets/rigs.h"
#include "test/fuzz/targets/small_case.h"
#include "test/fuzz/targets/target.h"
#include "test/support/coverage.h"
#include "test/support/lists.h"
#include "test/support/run.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kMostElements = 8'000;

void compare(Problem& problem, const Rig& rig, const std::string& way) {
  const Tolerance tolerance = tolerance_of(rig.backend, problem.dtype());
  const Report report =
      run_and_check(problem, *rig.handle, rig.backend, problem.expect(tolerance.coordinates), tolerance);
  const bool failed = report.outcome == Outcome::kFailed;
  require_harmless(failed ? report.text : "", rig.settings + way + how_to_repeat(problem, rig.backend));
}

/// The problem as the backend's kernels choose, and in another of the ways they have.
void check(Problem& problem, const Rig& rig, Choices& choices) {
  const Duty d = duty(rig.backend, problem.text().op(), problem.dtype());
  const Filter filter = filter_for(rig.backend, problem.dtype());
  if (d == Duty::kNone || (filter != nullptr && !filter(problem.text()))) return;
  rig.handle->contract(rig.backend == "cpu" ? MLUOP_EXT_CONTRACT_EXTENDED : contract_for(d));
  compare(problem, rig, "");
  if (rig.backend != "cpu") return;
  const std::vector<std::string> paths = last_paths(rig.handle->get());
  const std::string& path = choices.pick(paths);
  if (path.empty()) return;
  mluOpExtSetOption(rig.handle->get(), "cpu", "path", path.c_str());
  compare(problem, rig, ", path=" + path);
  mluOpExtSetOption(rig.handle->get(), "cpu", "path", "auto");
}

/// The operator's own random problems, or one varied from its lists.
std::optional<Description> problem_of(const OperatorCases& op, mluOpDataType_t dtype, Choices& choices) {
  if (choices.chance(0.7)) return small_case(op, dtype, choices, kMostElements);
  Random random(choices.bits(4));
  constexpr double kEffort = 0.02;
  Description d = describe(random_case(op.op, random, kEffort), dtype);
  std::int64_t elements = 0;
  for (const TensorSpec& t : d.tensors) elements += t.elements();
  return elements <= kMostElements ? std::optional(std::move(d)) : std::nullopt;
}

void test_one(ByteChoices choices) {
  const OperatorCases* const op = pick_operator(choices);
  if (op == nullptr) return;
  const mluOpDataType_t dtypes[] = {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16};
  const mluOpDataType_t dtype = choices.pick(dtypes);
  const std::size_t cpu = static_cast<std::size_t>(choices.integer(0, 2));
  const std::size_t device = static_cast<std::size_t>(choices.integer(3, 5));
  auto description = problem_of(*op, dtype, choices);
  if (!description) return;
  Problem problem(std::move(*description));
  rigs()[0].handle->contract(MLUOP_EXT_CONTRACT_EXTENDED);
  if (run(problem, *rigs()[0].handle) == MLUOP_STATUS_BAD_PARAM) return;  // sizes that do not go together
  check(problem, rigs()[cpu], choices);
  check(problem, rigs()[device], choices);
}

}  // namespace

void fuzz_differential(const std::uint8_t* data, std::size_t size) {
  test_one({data, size});
}

}  // namespace mluops::test
