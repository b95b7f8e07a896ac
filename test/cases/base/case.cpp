#include "test/cases/base/case.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "test/cases/base/random.h"

namespace mluops::cases {

Case Case::read(const std::string& text) {
  if (text.size() > kMostLetters) {
    throw std::invalid_argument("case: wanted at most " + std::to_string(kMostLetters) + " letters, got " +
                                std::to_string(text.size()));
  }
  std::istringstream words(text);
  std::string word;
  Case c;
  if (!(words >> c.op_)) throw std::invalid_argument("empty case");
  while (words >> word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("case: wanted key=value, got " + word);
    c.put(word.substr(0, equals), word.substr(equals + 1));
  }
  return c;
}

const std::string* Case::find(const std::string& key) const {
  for (const auto& [k, v] : values_) {
    if (k == key) return &v;
  }
  return nullptr;
}

void Case::put(const std::string& key, const std::string& value) {
  for (auto& [k, v] : values_) {
    if (k == key) {
      v = value;
      return;
    }
  }
  values_.emplace_back(key, value);
}

Case& Case::set(const std::string& key, const std::string& value) {
  put(key, value);
  set_here_.push_back(key);
  return *this;
}

Case& Case::set(const std::string& key, double value) {
  char buffer[40];
  const bool whole = std::abs(value) < 0x1p53 && std::trunc(value) == value;
  std::snprintf(buffer, sizeof buffer, whole ? "%.0f" : "%.9g", value);
  return set(key, std::string(buffer));
}

Case Case::as(const std::string& op) const {
  Case other = *this;
  other.op_ = op;
  return other;
}

const std::string& Case::word(const std::string& key) const {
  const std::string* value = find(key);
  if (value == nullptr) throw std::invalid_argument("case " + text() + ": no " + key);
  return *value;
}

double Case::real(const std::string& key) const {
  const std::string& value = word(key);
  std::size_t used = 0;
  double number = 0;
  try {
    number = std::stod(value, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != value.size()) throw std::invalid_argument(key + ": wanted a number, got \"" + value + "\"");
  return number;
}

double Case::whole(const std::string& key, double least, double most) const {
  const double value = real(key);
  if (value >= least && value <= most && value == std::floor(value)) return value;
  char range[80];
  std::snprintf(range, sizeof range, ": wanted a whole number from %.0f to %.0f, got ", least, most);
  throw std::invalid_argument(key + range + word(key));
}

std::int64_t Case::size_from(const std::string& key, double least) const {
  const bool of_program = std::find(set_here_.begin(), set_here_.end(), key) != set_here_.end();
  return static_cast<std::int64_t>(of_program ? whole(key, -0x1p62, 0x1p62) : whole(key, least, 0x1p40));
}

int Case::integer(const std::string& key) const {
  using Limits = std::numeric_limits<int>;
  return integer(key, Limits::min(), Limits::max());
}

int Case::integer(const std::string& key, int least, int most) const {
  return static_cast<int>(whole(key, least, most));
}

std::vector<int> Case::per_axis(const std::string& key, int count, int least, int most) const {
  std::vector<int> numbers;
  std::istringstream parts(word(key));
  for (std::string part; std::getline(parts, part, 'x');) {
    numbers.push_back(Case().set(key, part).integer(key, least, most));
  }
  if (numbers.size() == 1) numbers.resize(static_cast<std::size_t>(count), numbers[0]);
  if (static_cast<int>(numbers.size()) == count) return numbers;
  throw std::invalid_argument(key + ": wanted a number or " + std::to_string(count) + " of them, got " + word(key));
}

std::string Case::text_or(const std::string& key, const std::string& fallback) const {
  const std::string* value = find(key);
  return value == nullptr ? fallback : *value;
}

std::string Case::text() const {
  return values_.empty() ? op_ : op_ + " " + shape();
}

std::string Case::shape() const {
  std::string line;
  for (const auto& [k, v] : values_) line += (line.empty() ? "" : " ") + k + "=" + v;
  return line;
}

std::uint64_t Case::seed(const std::string& what) const {
  return Random(what + " of " + text()).bits();
}

Cases list(const std::vector<std::string>& texts) {
  Cases cases;
  for (const std::string& text : texts) cases.push_back(Case::read("? " + text));
  return cases;
}

Cases each(const Cases& cases, const std::string& key, const std::vector<std::string>& values) {
  Cases all;
  for (const Case& c : cases) {
    for (const std::string& value : values) all.push_back(Case(c).set(key, value));
  }
  return all;
}

Cases joined(Cases first, const Cases& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace mluops::cases
