#include "test/support/lists.h"

namespace mluops::test {

Cases document_cases(const std::string& op) {
  return cases_of(find_operator(op), find_operator(op).document);
}

Cases edge_cases(const std::string& op) {
  return cases_of(find_operator(op), find_operator(op).edge);
}

Case random_case(const std::string& op, Random& random, double effort) {
  Case c = find_operator(op).random(random, effort).as(op);
  if (random.chance(0.3)) c.set("misalign", random.integer(1, 3));
  return c.set("seed", random.integer(0, 99999));
}

Cases random_cases(const std::string& op, std::uint64_t seed, int count, double effort, Filter filter) {
  Random random(op + std::to_string(seed));
  Cases cases;
  while (static_cast<int>(cases.size()) < count) {
    const Case c = random_case(op, random, effort);
    if (filter == nullptr || filter(c)) cases.push_back(c);
  }
  return cases;
}

Filter filter_for(const std::string& backend, mluOpDataType_t dtype) {
  return backend == "mlu_emu" && dtype == MLUOP_DTYPE_HALF ? meaningful_in_half : nullptr;
}

}  // namespace mluops::test
