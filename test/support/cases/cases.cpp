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

Cases random_cases(const std::string& op, std::uint64_t seed, int count, double effort) {
  Random random(op + std::to_string(seed));
  Cases cases;
  for (int i = 0; i < count; ++i) cases.push_back(random_case(op, random, effort));
  return cases;
}

bool meaningful_in_half(const Case& text) {
  const std::string& op = text.op();
  if (op.rfind("carafe", 0) == 0) {
    const double channels = text.real("c") / text.real("g"), taps = text.real("k") * text.real("k");
    const double terms = op == "carafe_forward" ? taps : std::max(channels, taps * text.real("s") * text.real("s"));
    return terms <= 600;
  }
  if (op.rfind("three", 0) == 0) {
    const bool repeated = text.text_or("indices", "valid") == "repeated";
    const double terms = 3 * text.real("n") / (repeated ? 1 : text.real("m"));  // of one feature's gradient
    return op == "three_interpolate_forward" || terms <= 400;
  }
  if (op.rfind("deform", 0) == 0 || op.rfind("border", 0) == 0) return std::max(text.real("h"), text.real("w")) <= 64;
  return true;
}

std::int64_t odd_size(Random& random, std::int64_t most) {
  const std::int64_t favourites[] = {1, 2, 3, 5, 7, 11, 13, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129};
  const std::int64_t size = random.chance(0.6) ? random.pick(favourites) : random.integer(1, most);
  return std::min(size, most);
}

}  // namespace mluops::test
