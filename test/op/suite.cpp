#include "test/op/suite.h"

#include <algorithm>

namespace mluops::test {
namespace {

constexpr int kRandomCases = 40;

Cases listed_cases(const Combination& c) {
  Cases cases = c.group == "document" ? document_cases(c.op) : edge_cases(c.op);
  const Filter filter = filter_for(c.backend, c.dtype);
  if (filter != nullptr) std::erase_if(cases, [&](const Case& text) { return !filter(text); });
  return cases;
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
          const bool wanted = group == "document" ? d == Duty::kStrict : d != Duty::kNone;
          if (wanted) all.push_back({backend, op, dtype, group});
        }
      }
    }
  }
  return all;
}

Cases random_cases_for(const Combination& c, std::uint64_t seed, int count) {
  return random_cases(c.op, seed, scaled(count), 1, filter_for(c.backend, c.dtype));
}

Cases cases_of(const Combination& c) {
  if (const auto selected = selected_case()) {
    return selected->op() == c.op && names_dtype(*selected, c.dtype) && c.group != "edge" && c.group != "document"
               ? Cases{*selected}
               : Cases{};
  }
  return c.group == "random" ? random_cases_for(c, 1, kRandomCases) : listed_cases(c);
}

bool may_decline(const Case& text, const std::string& backend) {
  return text.text_or("declines", "") == backend;
}

}  // namespace mluops::test
