// Texts of whole words, which a fuzzer finds sooner than letter by letter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mluops::test {

/// A byte stands for the word of its number, or for itself where there is none.
template <class Words>
std::string text_of_words(const Words& words, const std::uint8_t* data, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] < words.size()) {
      text += words[data[i]];
    } else {
      text += static_cast<char>(data[i]);
    }
  }
  return text;
}

}  // namespace mluops::test
