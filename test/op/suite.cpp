#include "test/op/suite.h"

#include <algorithm>

namespace mluops::test {
namespace {

constexpr int kRandomCases = 40;

Cases group_cases(const Combination& c) {
  if (c.group == "document") return document_cases(c.op);
  if (c.group == "edge") return edge_cases(c.op);
  return random_cases(c.op, 1, scaled(kRandomCases));
}

}  // namespace

std::vector<Combination> combinations(const std::vector<std::string>& groups) {
  std::vector<Combination> all;
  for (const std::string& backend : backend_names()) {
    for (const std::string& op : operators()) {
      for (mluOpDataType_t dtype : float_dtypes()) {
        const Duty d = duty(backend, op, dtype);
        for (const std::string& group : groups) {
          // The large shapes are run in the types of the documented interface.
          const bool wanted = group == "document" ? d == Duty::kStrict || d == Duty::kMissing : d != Duty::kNone;
          if (wanted) all.push_back({backend, op, dtype, group});
        }
      }
    }
  }
  return all;
}

Cases suitable(const Cases& cases, const std::string& backend, mluOpDataType_t dtype) {
  if (backend != "mlu_emu" || dtype != MLUOP_DTYPE_HALF) return cases;
  Cases kept;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(kept), meaningful_in_half);
  return kept;
}

Cases cases_of(const Combination& c) {
  if (const auto selected = selected_case()) {
    return selected->op() == c.op && c.group != "edge" && c.group != "document" ? Cases{*selected} : Cases{};
  }
  return suitable(group_cases(c), c.backend, c.dtype);
}

bool may_decline(const Case& text, const std::string& backend) {
  return text.text_or("declines", "") == backend;
}

}  // namespace mluops::test
