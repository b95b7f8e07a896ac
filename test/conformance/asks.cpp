#include "test/conformance/asks.h"

#include <algorithm>

#include "test/cases/base/in_out.h"
#include "test/support/lists.h"

namespace mluops::conformance {
namespace {

constexpr int kRandomCases = 24;
constexpr std::uint64_t kSeed = 1;

cases::Cases lists_of(const cases::OperatorCases& op, const Settings& kit, mluOpDataType_t dtype) {
  if (!kit.only_case.empty()) {
    const cases::Case only = cases::Case::parse(kit.only_case);
    return names_dtype(only, dtype) ? cases::Cases{only} : cases::Cases{};
  }
  cases::Cases all = cases::cases_of(op, op.smallest);
  all = cases::joined(std::move(all), cases::cases_of(op, op.document));
  all = cases::joined(std::move(all), cases::cases_of(op, op.edge));
  const int count = std::max(1, static_cast<int>(kRandomCases * kit.scale));
  all = cases::joined(std::move(all), test::random_cases(op.op, kSeed, count));
  if (dtype == MLUOP_DTYPE_HALF) std::erase_if(all, [](const cases::Case& text) { return !meaningful_in_half(text); });
  return all;
}

void add_hostile(const cases::OperatorCases& op, mluOpDataType_t dtype, std::vector<Ask>& asks) {
  const cases::Case text = cases::cases_of(op, op.smallest).back();
  int number = 0;
  for (const cases::TensorSpec& t : describe(text, dtype).tensors) {
    if (t.is_output()) continue;
    if (cases::must_be_given(t)) asks.push_back({&op, text, dtype, number});
    ++number;
  }
}

}  // namespace

std::vector<Ask> asks_of(const LibrarySettings& settings) {
  std::vector<Ask> asks;
  for (const cases::OperatorCases& op : cases::all_operators()) {
    if (!settings.chosen(op.op)) continue;
    for (const mluOpDataType_t dtype : op.dtypes.strict) {
      for (const cases::Case& text : lists_of(op, settings.kit, dtype)) asks.push_back({&op, text, dtype});
      if (settings.kit.only_case.empty()) add_hostile(op, dtype, asks);
    }
  }
  return asks;
}

}  // namespace mluops::conformance
