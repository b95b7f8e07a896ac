#include "bench/explain/operators.h"

#include <stdexcept>

#include "bench/cases/builders.h"

namespace explain {
namespace {

constexpr const char* kForward = "_forward";

/// Values of an operator's parameters by name.
class Values {
 public:
  explicit Values(Parameters values) : values_(std::move(values)) {}

  void set(const std::string& name, double value) {
    const bool may_be_zero = name == "psa_type" || name == "offset" || name == "sampling_ratio";
    if (value < 0 || (value == 0 && !may_be_zero)) throw std::invalid_argument(name + " must be positive");
    find(name) = value;
  }
  double real(const std::string& name) { return find(name); }
  int integer(const std::string& name) { return static_cast<int>(find(name)); }

 private:
  double& find(const std::string& name) {
    std::string known;
    for (auto& [key, value] : values_) {
      if (key == name) return value;
      known += " " + key;
    }
    throw std::invalid_argument("unknown parameter \"" + name + "\"; known:" + known);
  }
  Parameters values_;
};

struct Family {
  std::string name;
  Parameters defaults;
  bench::Case (*make)(Values&, bench::Direction, mluOpDataType_t);
};

bench::Case carafe(Values& v, bench::Direction d, mluOpDataType_t t) {
  return bench::make_carafe({v.integer("n"), v.integer("h"), v.integer("w"), v.integer("c"), v.integer("kernel"),
                             v.integer("group"), v.integer("scale")},
                            d, t);
}
bench::Case psamask(Values& v, bench::Direction d, mluOpDataType_t t) {
  return bench::make_psamask(
      {v.integer("n"), v.integer("h"), v.integer("w"), v.integer("h_mask"), v.integer("w_mask"), v.integer("psa_type")},
      d, t);
}
bench::Case three_interpolate(Values& v, bench::Direction d, mluOpDataType_t t) {
  return bench::make_three_interpolate({v.integer("b"), v.integer("c"), v.integer("n"), v.integer("m")}, d, t);
}
bench::Case deform_roi_pool(Values& v, bench::Direction d, mluOpDataType_t t) {
  return bench::make_deform_roi_pool({v.integer("b"), v.integer("h"), v.integer("w"), v.integer("c"), v.integer("rois"),
                                      static_cast<float>(v.real("spatial_scale")), v.integer("offset") != 0,
                                      v.integer("pooled"), v.integer("sampling_ratio")},
                                     d, t);
}
bench::Case border_align(Values& v, bench::Direction d, mluOpDataType_t t) {
  return bench::make_border_align(
      {v.integer("n"), v.integer("h"), v.integer("w"), v.integer("c"), v.integer("k"), v.integer("pool_size")}, d, t);
}

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"carafe", {{"n", 1}, {"h", 32}, {"w", 32}, {"c", 256}, {"kernel", 5}, {"group", 1}, {"scale", 2}}, carafe},
      {"psamask", {{"n", 2}, {"h", 30}, {"w", 30}, {"h_mask", 29}, {"w_mask", 29}, {"psa_type", 0}}, psamask},
      {"three_interpolate", {{"b", 4}, {"c", 256}, {"n", 1024}, {"m", 256}}, three_interpolate},
      {"deform_roi_pool",
       {{"b", 2},
        {"h", 50},
        {"w", 76},
        {"c", 256},
        {"rois", 11},
        {"spatial_scale", 0.0625},
        {"offset", 1},
        {"pooled", 7},
        {"sampling_ratio", 2}},
       deform_roi_pool},
      {"border_align", {{"n", 2}, {"h", 10}, {"w", 7}, {"c", 128}, {"k", 70}, {"pool_size", 10}}, border_align},
  };
  return all;
}

const Family& family_of(const std::string& op) {
  for (const Family& f : families()) {
    if (op == f.name + kForward || op == f.name + "_backward") return f;
  }
  std::string known;
  for (const std::string& name : operator_names()) known += " " + name;
  throw std::invalid_argument("unknown operator \"" + op + "\"; known:" + known);
}

}  // namespace

const std::vector<std::string>& operator_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Family& f : families()) {
      all.push_back(f.name + kForward);
      all.push_back(f.name + "_backward");
    }
    return all;
  }();
  return names;
}

Parameters default_parameters(const std::string& op) {
  return family_of(op).defaults;
}

bench::Case make_case(const std::string& op, const Parameters& changed, mluOpDataType_t dtype) {
  const Family& family = family_of(op);
  Values values(family.defaults);
  for (const auto& [name, value] : changed) values.set(name, value);
  const bool forward = op == family.name + kForward;
  return family.make(values, forward ? bench::Direction::forward : bench::Direction::backward, dtype);
}

}  // namespace explain
