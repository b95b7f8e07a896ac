// Reads JSON as the library's queries give it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace explain {

/// A JSON value. Asking for what is not there throws std::runtime_error.
class Json {
 public:
  static Json parse(std::string_view text);

  double number() const { return number_; }
  long long integer() const { return static_cast<long long>(number_); }
  const std::string& text() const { return text_; }
  const std::vector<Json>& items() const { return items_; }
  const std::vector<std::pair<std::string, Json>>& members() const { return members_; }
  const Json& operator[](std::string_view key) const;

 private:
  friend class JsonReader;
  double number_ = 0;  // true is 1
  std::string text_;
  std::vector<Json> items_;
  std::vector<std::pair<std::string, Json>> members_;
};

}  // namespace explain
