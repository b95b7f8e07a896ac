// Writes JSON: commas and quotes in the right places, nothing else.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/text.h"

namespace mluops::emu {

class Json {
 public:
  const std::string& text() const { return text_; }

  Json& open(char bracket) { return put(), text_ += bracket, first_ = true, *this; }
  Json& close(char bracket) { return text_ += bracket, first_ = false, *this; }
  Json& key(std::string_view name) {
    value(name);
    text_ += ": ";
    first_ = true;
    return *this;
  }
  Json& value(std::string_view s) {
    put();
    text_.append("\"").append(json_escaped(s)).append("\"");
    return *this;
  }
  Json& value(const char* s) { return value(std::string_view(s)); }
  Json& value(bool b) { return put(), text_ += b ? "true" : "false", *this; }
  template <std::integral I>
  Json& value(I i) {
    return put(), text_ += std::to_string(i), *this;
  }
  Json& value(double d) {
    constexpr int kDigits = 9;
    char digits[32];  // not printf: its decimal point is the locale's
    const auto end = std::to_chars(digits, digits + sizeof(digits), d, std::chars_format::general, kDigits).ptr;
    return put(), text_.append(digits, end), *this;
  }
  template <class T>
  Json& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }
  Json& newline() { return text_ += '\n', *this; }

 private:
  void put() {
    if (!first_) text_ += ", ";
    first_ = false;
  }

  std::string text_;
  bool first_ = true;
};

}  // namespace mluops::emu
