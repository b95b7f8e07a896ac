// A problem as short text, e.g. "carafe_forward n=1 h=3 w=4 c=6 k=3 g=2 s=2": it names a test or a row, and selects it
// again.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mluops::cases {

class Case {
 public:
  static constexpr std::size_t kMostLetters = 4096;  ///< of a text
  /// "op key=value ...", in the order given; a key's last value counts. Throws std::invalid_argument for other texts.
  static Case read(const std::string& text);
  /// read, and the operator must have a cases file that knows the keys.
  static Case parse(const std::string& text);

  const std::string& op() const { return op_; }
  Case& set(const std::string& key, const std::string& value);
  Case& set(const std::string& key, const char* value) { return set(key, std::string(value)); }
  Case& set(const std::string& key, double value);
  /// This problem under the name of another operator.
  Case as(const std::string& op) const;

  bool has(const std::string& key) const { return find(key) != nullptr; }
  /// Value of a key. Throws std::invalid_argument if it is missing or not a number.
  double real(const std::string& key) const;
  /// Throws std::invalid_argument for what is no whole number from 1 to 2^40 as well. A value that the program set
  /// itself may be any whole number: tests ask what the library answers to a wrong one.
  std::int64_t size(const std::string& key) const { return size_from(key, 1); }
  /// The same from 0.
  std::int64_t count(const std::string& key) const { return size_from(key, 0); }
  /// Throws std::invalid_argument for what is no whole number of an int as well.
  int integer(const std::string& key) const;
  /// The same outside [least, most].
  int integer(const std::string& key, int least, int most) const;
  /// "3", or "3x1x1" where the axes differ: `count` numbers. Throws as above.
  std::vector<int> per_axis(const std::string& key, int count, int least, int most) const;
  const std::string& word(const std::string& key) const;
  /// Value of a key, or fallback.
  double real_or(const std::string& key, double fallback) const { return has(key) ? real(key) : fallback; }
  std::string text_or(const std::string& key, const std::string& fallback) const;

  /// Whether all values come from a text, and none from the program.
  bool is_text_alone() const { return set_here_.empty(); }
  const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }
  std::string text() const;
  /// The text without the operator.
  std::string shape() const;
  /// Follows from the text and `what`: every tensor of every case has numbers of its own.
  std::uint64_t seed(const std::string& what) const;

 private:
  double whole(const std::string& key, double least, double most) const;
  std::int64_t size_from(const std::string& key, double least) const;
  const std::string* find(const std::string& key) const;
  void put(const std::string& key, const std::string& value);

  std::string op_;
  std::vector<std::pair<std::string, std::string>> values_;
  std::vector<std::string> set_here_;  ///< keys that did not come from a text
};

using Cases = std::vector<Case>;

/// Cases from the texts behind the operator's name; whoever asks for them puts in the name.
Cases list(const std::vector<std::string>& texts);
/// Every case once for each value of the key.
Cases each(const Cases& cases, const std::string& key, const std::vector<std::string>& values);
/// One after the other.
Cases joined(Cases first, const Cases& second);

}  // namespace mluops::cases
