#include "test/support/cases/cases.h"

#include <algorithm>
#include <stdexcept>

namespace mluops::test {
namespace {

struct Family {
  const char* prefix;
  Cases (*document)();
  Cases (*edge)();
  Case (*random)(Random&, double);
};

const Family& family_of(const std::string& op) {
  static const Family families[] = {
      {"carafe", carafe_document_cases, carafe_edge_cases, carafe_random_case},
      {"psamask", psamask_document_cases, psamask_edge_cases, psamask_random_case},
      {"three_interpolate", three_interpolate_document_cases, three_interpolate_edge_cases,
       three_interpolate_random_case},
      {"deform_roi_pool", deform_roi_pool_document_cases, deform_roi_pool_edge_cases, deform_roi_pool_random_case},
      {"border_align", border_align_document_cases, border_align_edge_cases, border_align_random_case},
  };
  for (const Family& f : families) {
    if (op.rfind(f.prefix, 0) == 0) return f;
  }
  throw std::runtime_error("no cases for " + op);
}

Cases named(const Cases& cases, const std::string& op) {
  Cases result;
  for (const Case& c : cases) {
    // only=forward / only=backward: a case of one direction
    const std::string only = c.text_or("only", "");
    if (only.empty() || op.find(only) != std::string::npos) result.push_back(c.as(op));
  }
  return result;
}

}  // namespace

Cases document_cases(const std::string& op) {
  return named(family_of(op).document(), op);
}

Cases edge_cases(const std::string& op) {
  return named(family_of(op).edge(), op);
}

Case random_case(const std::string& op, Random& random, double effort) {
  Case c = family_of(op).random(random, effort).as(op);
  if (random.chance(0.3)) c.set("misalign", static_cast<double>(random.integer(1, 3)));
  return c.set("seed", static_cast<double>(random.integer(0, 99999)));
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

double longest_sum(const Case& t) {
  const std::string& op = t.op();
  if (op == "carafe_forward") return t.real("k") * t.real("k");
  if (op == "carafe_backward") {
    return std::max(t.real("c") / t.real("g"), t.real("k") * t.real("k") * t.real("s") * t.real("s"));
  }
  if (op == "three_interpolate_backward") {
    return 3 * t.real("n") / (t.text_or("indices", "valid") == "repeated" ? 1 : t.real("m"));
  }
  if (op == "deform_roi_pool_backward") {
    const double grid = std::max(t.real("ratio"), 2.0), side = t.real_or("size", 1e9);
    const double covered = std::min(t.real("h"), side) * std::min(t.real("w"), side) / 4;
    const double of_roi = t.text_or("rois", "inside") == "thin" ? 4 : covered;  // thin both ways: two pixels by two
    const double pixels = std::min(t.real("b") * t.real("h") * t.real("w"), t.real("r") * of_roi);
    return 4 * t.real("r") * t.real("ph") * t.real("pw") * grid * grid / pixels;
  }
  return 1;
}

bool meaningful_in_half(const Case& text) {
  const std::string& op = text.op();
  const bool samples = op.rfind("deform", 0) == 0 || op.rfind("border", 0) == 0;
  if (samples && std::max(text.real("h"), text.real("w")) > 64) return false;
  return longest_sum(text) <= (samples ? 15 : op.rfind("three", 0) == 0 ? 100 : 300);
}

std::int64_t odd_size(Random& random, std::int64_t most) {
  const std::int64_t favourites[] = {1, 2, 3, 5, 7, 11, 13, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129};
  const std::int64_t size = random.chance(0.6) ? random.pick(favourites) : random.integer(1, most);
  return std::min(size, most);
}

}  // namespace mluops::test
