#include "bench/explain/json.h"

#include <cctype>
#include <cstdlib>
#include <stdexcept>

namespace explain {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Json value() {
    const char c = peek();
    if (c == '{') return object();
    if (c == '[') return array();
    Json v;
    if (c == '"') {
      v.text_ = string();
    } else if (c == 't' || c == 'f') {
      v.number_ = c == 't';
      at_ += c == 't' ? 4 : 5;
    } else {
      v.number_ = number();
    }
    return v;
  }

 private:
  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    if (at_ == text_.size()) fail("the text ends too early");
    return text_[at_];
  }
  void take(char wanted) {
    if (peek() != wanted) fail(std::string("wanted ") + wanted);
    ++at_;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("JSON, byte " + std::to_string(at_) + ": " + what);
  }

  Json object() {
    Json v;
    take('{');
    while (peek() != '}') {
      if (!v.members_.empty()) take(',');
      peek();
      std::string key = string();
      take(':');
      v.members_.emplace_back(std::move(key), value());
    }
    take('}');
    return v;
  }

  Json array() {
    Json v;
    take('[');
    while (peek() != ']') {
      if (!v.items_.empty()) take(',');
      v.items_.push_back(value());
    }
    take(']');
    return v;
  }

  std::string string() {
    take('"');
    std::string s;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size()) s += text_[at_++];
    }
    take('"');
    return s;
  }

  double number() {
    const std::string rest(text_.substr(at_, 40));
    char* end = nullptr;
    const double n = std::strtod(rest.c_str(), &end);
    if (end == rest.c_str()) fail("wanted a value");
    at_ += static_cast<std::size_t>(end - rest.c_str());
    return n;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Json Json::parse(std::string_view text) {
  return JsonReader(text).value();
}

const Json& Json::operator[](std::string_view key) const {
  for (const auto& [name, value] : members_) {
    if (name == key) return value;
  }
  throw std::runtime_error("JSON: there is no member \"" + std::string(key) + "\"");
}

}  // namespace explain
