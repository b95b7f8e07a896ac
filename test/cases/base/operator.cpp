#include "test/cases/operator.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "test/cases/base/contract.h"
#include "test/cases/base/families.h"
#include "test/cases/base/nchw.h"
#include "test/cases/base/nearest.h"

namespace mluops::cases {
namespace {

const char* const kCommonKeys[] = {"seed", "misalign", "values", "declines", "layout", "dtype", "contract"};

constexpr double kMostBytes = 0x1p46, kMostWork = 0x1p66;

std::size_t place(const OperatorCases& op) {
  const auto& names = api_operators();
  const auto at = std::find(names.begin(), names.end(), op.op);
  if (at == names.end()) throw std::logic_error(std::string(op.op) + " is described, but not in mluops/operators.inc");
  return static_cast<std::size_t>(at - names.begin());
}

void check_keys(const OperatorCases& op, const Case& text) {
  for (const auto& [key, value] : text.values()) {
    const auto is_key = [&key = key](const Parameter& p) { return p.name == key; };
    if (std::any_of(op.parameters.begin(), op.parameters.end(), is_key)) continue;
    if (std::find(std::begin(kCommonKeys), std::end(kCommonKeys), key) != std::end(kCommonKeys)) continue;
    std::string known;
    for (const Parameter& p : op.parameters) known.append(" ").append(p.name);
    std::vector<std::string> names;
    for (const Parameter& p : op.parameters) names.emplace_back(p.name);
    throw std::invalid_argument(std::string(op.op) + ": unknown parameter \"" + key + "\"" + suggestion(key, names) +
                                " Known:" + known);
  }
}

Case with_defaults(const OperatorCases& op, const Case& text) {
  Case full = text;
  for (const Parameter& p : op.parameters) {
    if (!full.has(p.name)) full.set(p.name, p.value);
  }
  return full;
}

void check_sizes(const Description& d) {
  double bytes = 0;
  for (const TensorSpec& t : d.tensors) {
    double of_tensor = static_cast<double>(element_size(t.dtype));
    for (const std::int64_t size : t.dims) {
      if (size < 1)
        throw std::invalid_argument(d.text.text() + ": " + t.name + " would have a size that is not positive");
      of_tensor *= static_cast<double>(size);
    }
    bytes += of_tensor;
  }
  if (d.text.is_text_alone() && bytes > kMostBytes)
    throw std::invalid_argument(d.text.text() + ": its tensors would not fit into any memory");
}

/// So few that the sizes a description multiplies, some of all, stay in int64.
void check_work(const Case& full) {
  const double misalign = full.real_or("misalign", 0);
  if (!(misalign >= 0 && misalign <= 64)) throw std::invalid_argument("misalign: wanted 0 to 64");
  if (work_of(full) > kMostWork) throw std::invalid_argument(full.text() + ": its sizes are too large together");
}

bool is_a_float(double value) {
  return static_cast<double>(static_cast<float>(value)) == value || std::isnan(value);
}

/// The call, given the doubles that its floats are not.
void give_scalars(Description& d) {
  if (d.dtype != MLUOP_DTYPE_DOUBLE || std::all_of(d.scalars.begin(), d.scalars.end(), is_a_float)) return;
  d.call = [call = std::move(d.call), scalars = d.scalars](mluOpHandle_t handle, const Arguments& arguments) {
    mluOpExtSetScalars(handle, scalars.data(), static_cast<int>(scalars.size()));
    return call(handle, arguments);
  };
}

}  // namespace

const std::vector<std::string>& api_operators() {
  static const std::vector<std::string> names = {
#define MLUOPS_OPERATOR(name, Problem) #name,
#include "mluops/operators.inc"
  };
  return names;
}

Case Case::parse(const std::string& text) {
  const Case c = read(text);
  check_keys(find_operator(c.op()), c);
  return c;
}

const std::vector<OperatorCases>& all_operators() {
  static const std::vector<OperatorCases> all = [] {
    std::vector<OperatorCases> found;
    for (const Family& family : families()) {
      for (OperatorCases& op : family.operators()) found.push_back(std::move(op)), found.back().family = family.name;
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return place(a) < place(b); });
    return found;
  }();
  return all;
}

const OperatorCases& find_operator(const std::string& op) {
  std::string known;
  for (const OperatorCases& o : all_operators()) {
    if (o.op == op) return o;
    known.append(" ").append(o.op);
  }
  throw std::invalid_argument("unknown operator \"" + op + "\"" + suggestion(op, api_operators()) + " Known:" + known);
}

double work_of(const Case& full) {
  // A size that depends on the data, or follows from other sizes of the case.
  const std::set<std::string> apart = {"seed", "keys", "rows", "max", "room", "out"};
  double work = 1;
  for (const auto& [key, value] : full.values()) {
    if (apart.contains(key)) continue;
    for (const char* at = value.c_str(); *at != '\0';) {  // "3", "3x1x1", "4x7+3x3"
      char* end = nullptr;
      const double number = std::strtod(at, &end);
      if (end != at && number > 1 && std::isfinite(number)) work *= number;
      at = end == at ? at + 1 : end;
    }
  }
  return work;
}

Case with_defaults(const Case& text) {
  return with_defaults(find_operator(text.op()), text);
}

bool meaningful_in_half(const Case& text) {
  const OperatorCases& op = find_operator(text.op());
  return op.meaningful_in_half == nullptr || op.meaningful_in_half(with_defaults(op, text));
}

double scalar_of(const Case& text, const std::string& key, mluOpDataType_t dtype) {
  const double value = text.real(key);
  return dtype == MLUOP_DTYPE_DOUBLE ? value : static_cast<double>(static_cast<float>(value));
}

bool names_dtype(const Case& text, mluOpDataType_t dtype) {
  const std::string name = dtype_name(dtype), named = text.text_or("dtype", name);
  return named == name || (text.op() == "fft" && named == "complex_" + name);  // as the problem of a transform has it
}

Description describe(const Case& text, mluOpDataType_t dtype) {
  const OperatorCases& op = find_operator(text.op());
  check_keys(op, text);
  const Case full = with_defaults(op, text);
  if (text.is_text_alone()) check_work(full);
  Description d = op.describe(full, dtype);
  d.text = text;
  d.dtype = dtype;
  check_sizes(d);
  give_scalars(d);
  for (TensorSpec& t : d.tensors) {
    if (!t.is_output() && is_float(t.dtype)) t.fill = admissible(text, t.fill);
  }
  if (text.text_or("contract", "") == "extended") {
    d.call = [call = std::move(d.call)](mluOpHandle_t handle, const Arguments& arguments) {
      return under_extended(true, handle, [&] { return call(handle, arguments); });
    };
  }
  return text.text_or("layout", "nhwc") == "nchw" ? as_nchw(std::move(d)) : d;
}

Cases cases_of(const OperatorCases& op, Cases (*list)()) {
  Cases cases = list();
  for (Case& c : cases) c = c.as(op.op);
  return cases;
}

Fill admissible(const Case& text, Fill fill) {
  const std::string type = text.text_or("values", "");
  if (type.empty()) return fill;
  const mluOpDataType_t dtype = type == "half" ? MLUOP_DTYPE_HALF : MLUOP_DTYPE_BFLOAT16;
  return [fill = std::move(fill), dtype](std::int64_t i) { return rounded(dtype, fill(i)); };
}

Values admissible(const Case& text, Values values) {
  const std::int64_t count = static_cast<std::int64_t>(values.size());
  return values_of(admissible(text, given(std::move(values))), count);
}

std::int64_t TensorSpec::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= d;
  return count;
}

std::int64_t TensorSpec::bytes() const {
  return elements() * static_cast<std::int64_t>(element_size(dtype));
}

void TensorSpec::visit_touched(const RunVisitor& visit) const {
  if (is_output() || touched == 0) return;
  if (runs) return runs(visit);
  visit(0, static_cast<std::int64_t>(std::llround(touched * static_cast<double>(elements()))));
}

bool Description::exact() const {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const TensorSpec& t) { return !t.is_output() || t.comparison == Comparison::kBits; });
}

double Description::read_bytes() const {
  double sum = 0;
  for (const TensorSpec& t : tensors) sum += t.is_output() ? 0 : t.touched * static_cast<double>(t.bytes());
  return sum;
}

double Description::write_bytes() const {
  double sum = 0;
  for (const TensorSpec& t : tensors) sum += t.is_output() ? static_cast<double>(t.bytes()) : 0;
  return sum;
}

double Description::all_bytes() const {
  double sum = 0;
  for (const TensorSpec& t : tensors) sum += static_cast<double>(t.bytes());
  return sum;
}

Growth growth_of(const Case& base, const std::string& parameter) {
  Growth growth{parameter, {}};
  for (const int times : {1, 2, 4, 8}) {
    growth.steps.push_back(Case(base).set(parameter, base.real(parameter) * times));
  }
  return growth;
}

Growth growth_of(const Case& base, const std::string& parameter, const std::vector<std::string>& values) {
  return {parameter, each({base}, parameter, values)};
}

std::int64_t odd_size(Random& random, std::int64_t most) {
  const std::int64_t favourites[] = {1, 2, 3, 5, 7, 11, 13, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129};
  const std::int64_t size = random.chance(0.6) ? random.pick(favourites) : random.integer(1, most);
  return std::min(size, most);
}

}  // namespace mluops::cases
