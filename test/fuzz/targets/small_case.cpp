#include "test/fuzz/targets/small_case.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

namespace mluops::test {
namespace {

using cases::Case;
using cases::Cases;
using cases::OperatorCases;
using Values = std::map<std::string, std::vector<std::string>>;

/// A number of steps no description of a case should take.
constexpr double kMostWork = 1 << 17;

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0' ? std::optional(value) : std::nullopt;
}

void add(std::vector<std::string>& values, const std::string& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

/// The values each parameter has somewhere.
Values values_of(const OperatorCases& op) {
  Values known;
  for (const cases::Parameter& p : op.parameters) add(known[p.name], p.value);
  for (const auto list : {op.smallest, op.edge, op.document, op.large}) {
    for (const Case& c : list()) {
      for (const auto& [key, value] : c.values()) {
        if (key != "declines") add(known[key], value);
      }
    }
  }
  return known;
}

/// What is known of an operator, found out once.
struct Knowledge {
  Cases bases;
  Values values;
  std::vector<std::string> keys;

  explicit Knowledge(const OperatorCases& op)
      : bases(cases::joined(cases::cases_of(op, op.smallest), cases::cases_of(op, op.edge))), values(values_of(op)) {
    for (const auto& entry : values) keys.push_back(entry.first);
  }
};

const Knowledge& knowledge_of(const OperatorCases& op) {
  static std::map<std::string, Knowledge> all;
  return all.try_emplace(op.op, op).first->second;
}

Case make_case(const OperatorCases& op, Choices& choices) {
  const Knowledge& known = knowledge_of(op);
  Case text = choices.pick(known.bases);
  for (std::int64_t i = choices.integer(0, 5); i > 0; --i) {
    const std::string& key = choices.pick(known.keys);
    const std::string& value = choices.pick(known.values.at(key));
    const std::int64_t size = choices.integer(0, 40);
    const std::optional<double> given = number(value);
    // A size in place of a size; whatever has a fraction or a word is taken from the lists.
    const bool is_size = given && *given >= 1 && *given == static_cast<double>(static_cast<std::int64_t>(*given));
    text.set(key, size > 0 && is_size ? std::to_string(size) : value);
  }
  return text.set("seed", static_cast<double>(choices.integer(0, 255)));
}

}  // namespace

const OperatorCases* pick_operator(Choices& choices) {
  constexpr std::int64_t kMost = 64;
  const auto place = static_cast<std::size_t>(choices.integer(0, kMost - 1));
  const auto& all = cases::all_operators();
  return place < all.size() ? &all[place] : nullptr;
}

std::optional<cases::Description> small_case(const OperatorCases& op, mluOpDataType_t dtype, Choices& choices,
                                             std::int64_t most) {
  const Case text = make_case(op, choices);
  if (cases::work_of(cases::with_defaults(text)) > kMostWork) return std::nullopt;
  try {
    cases::Description d = cases::describe(text, dtype);
    std::int64_t elements = 0;
    for (const cases::TensorSpec& t : d.tensors) elements += t.elements();
    return elements <= most ? std::optional(std::move(d)) : std::nullopt;
  } catch (const std::exception&) {  // sizes that do not go together
    return std::nullopt;
  }
}

}  // namespace mluops::test
