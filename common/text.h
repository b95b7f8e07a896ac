// Texts of others on their way to terminals and into JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mluops {

/// Bytes of the UTF-8 character at the front of the text, 0 where it begins with none: no surrogates, no longer forms.
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0), second = byte(1);
  if (text.empty()) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    const bool good = follows(1) && follows(2) && (first != 0xe0 || second >= 0xa0) && (first != 0xed || second < 0xa0);
    return good ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  const bool range = (first != 0xf0 || second >= 0x90) && (first != 0xf4 || second < 0x90);
  return range && follows(1) && follows(2) && follows(3) ? 4 : 0;
}

/// Control characters, those of 8 bits (C1) too.
inline bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

inline void append_hex(std::string& to, std::string_view bytes, const char* before) {
  constexpr const char* kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    to.append(before).append(1, kDigits[code / 16]).append(1, kDigits[code % 16]);
  }
}

/// The text with control characters, and bytes that are no UTF-8, as \xNN: what a caller or a file says must not move a
/// terminal's cursor or fake a line. `lines`: a text of several lines, which they stay.
inline std::string printable(std::string_view text, bool lines = false) {
  std::string line;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view one = text.substr(0, length == 0 ? 1 : length);
    if (length == 0 || (is_control(one) && !(lines && one == "\n"))) {
      append_hex(line, one, "\\x");
    } else {
      line += one;
    }
    text.remove_prefix(one.size());
  }
  return line;
}

/// The inside of a JSON string: quotes, backslashes and control characters escaped, U+FFFD for bytes that are no UTF-8.
inline std::string json_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view one = text.substr(0, length == 0 ? 1 : length);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (one == "\"" || one == "\\") {
      out.append("\\").append(one);
    } else if (length == 1 && is_control(one)) {
      append_hex(out, one, "\\u00");
    } else {
      out += one;
    }
    text.remove_prefix(one.size());
  }
  return out;
}

/// A path as the path of a URI (RFC 3986): everything but letters, digits and -._~/ is percent-encoded.
inline std::string uri_of_path(std::string_view path) {
  std::string uri;
  for (const char c : path) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || std::string_view("-._~/").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      append_hex(uri, {&c, 1}, "%");
    }
  }
  return uri;
}

}  // namespace mluops
