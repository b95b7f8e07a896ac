// Each operator with hostile data and lies about its arguments, on both backends and under both contracts.
#include "test/fuzz/hostile.h"
#include "test/fuzz/targets/rigs.h"
#include "test/fuzz/targets/small_case.h"
#include "test/fuzz/targets/target.h"

namespace mluops::test {
namespace {

constexpr std::int64_t kMostElements = 20'000;

/// The call once more, by another path of the cpu kernel.
void on_another_path(Problem& problem, mluOpHandle_t handle, Choices& choices, const std::string& what) {
  const std::vector<std::string> paths = last_paths(handle);
  const std::string& path = choices.pick(paths);
  if (path.empty()) return;
  mluOpExtSetOption(handle, "cpu", "path", path.c_str());
  const Harm harm = call_and_look(problem, handle);
  mluOpExtSetOption(handle, "cpu", "path", "auto");
  require_harmless(harm.text, what + " path=" + path);
}

void test_one(ByteChoices choices) {
  const cases::OperatorCases* const op = pick_operator(choices);
  if (op == nullptr) return;
  const mluOpDataType_t dtypes[] = {MLUOP_DTYPE_FLOAT, MLUOP_DTYPE_HALF, MLUOP_DTYPE_DOUBLE, MLUOP_DTYPE_BFLOAT16};
  const mluOpDataType_t dtype = choices.pick(dtypes);
  const Rig& rig = choices.pick(rigs());
  const bool extended = choices.chance(0.5);
  auto description = small_case(*op, dtype, choices, kMostElements);
  if (!description) return;
  Problem problem(std::move(*description));
  for (std::int64_t i = choices.integer(0, 2); i > 0; --i) {
    poison(*problem.inputs[static_cast<std::size_t>(choices.integer(0, std::ssize(problem.inputs) - 1))], choices);
  }
  const Lies lies = choices.chance(0.4) ? lie(problem, choices) : Lies{};
  const std::string what = problem.text().text() + " (" + cases::dtype_name(dtype) + ", " + rig.settings +
                           (extended ? ", EXTENDED)" : ")") + lies.log;
  rig.handle->contract(extended && !lies.about_shape ? MLUOP_EXT_CONTRACT_EXTENDED : MLUOP_EXT_CONTRACT_STRICT);
  const Harm harm = call_and_look(problem, rig.handle->get());
  require_harmless(harm.text, what);
  if (harm.status != MLUOP_STATUS_SUCCESS || rig.backend != "cpu") return;
  for (std::int64_t i = choices.integer(0, 2); i > 0; --i) on_another_path(problem, rig.handle->get(), choices, what);
}

}  // namespace

void fuzz_operators(const std::uint8_t* data, std::size_t size) {
  test_one({data, size});
}

}  // namespace mluops::test
