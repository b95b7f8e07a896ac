// cncc's rewriting of preprocessed files: whatever the text, it gives C++ or says what it cannot express. Lines stay
// where they are, and a text without BANG C and loops stays as it is.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "backends/mlu_emu/neuware/cncc/rewrite.h"
#include "backends/mlu_emu/neuware/cncc/source.h"
#include "test/fuzz/targets/target.h"
#include "test/fuzz/targets/words.h"

namespace mluops::test {
namespace {

/// What the rewriting looks at. A byte names one of them, or stands for itself.
constexpr std::array kWords = {
    "__nram__ ",
    "__wram__ ",
    "__mlu_shared__ ",
    "__ldram__ ",
    "__mlu_const__ ",
    "__mlu_func__ ",
    "__mlu_device__ ",
    "asm ",
    "volatile",
    "<<<",
    ">>>",
    "kernel",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    ",",
    ";",
    ":",
    "::",
    "=",
    "?",
    "0",
    "*",
    "&",
    "template ",
    "struct ",
    "class ",
    "namespace ",
    "extern ",
    "static ",
    "inline ",
    "operator",
    "__attribute__",
    "alignas",
    "decltype",
    "float ",
    "int ",
    "x",
    "y",
    "\"add [%0], 1;\"",
    "\"=r\"",
    "R\"(",
    ")\"",
    "'",
    "\n",
    "# 1 \"f\"\n",
    "# 1 \"f\" 3\n",
    "static_cast",
    "NULL",
    "#pragma p\n",
    "return ",
    "thread_local",
    "~",
    "\\",
    "const ",
    "\"C\"",
    "enum ",
    ".5e-3",
    "for ",
    "while ",
    "do ",
};

/// What makes it change a text; loops get a look at the watchdog.
constexpr std::array kChanged = {"__nram__", "__wram__", "__mlu_", "__ldram__", "asm",
                                 "<<<",      "?",        "for",    "while",     "do"};

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

void fuzz_cncc(const std::uint8_t* data, std::size_t size) {
  const std::string text = text_of_words(kWords, data, size);
  std::string out;
  try {
    out = cncc::rewrite(text);
  } catch (const std::runtime_error& e) {
    require_harmless(std::string(e.what()).empty() ? "no reason" : "", text);
    return;
  }
  const bool plain = !cncc::has_unicode_space(text) &&
                     std::none_of(kChanged.begin(), kChanged.end(), [&](const char* w) { return contains(text, w); });
  require_harmless(plain && out != text ? "a text without BANG C and loops was changed: " + out : "", text);
  if (contains(text, "\"") || contains(text, "'")) return;  // a literal that is dropped may have held lines
  const bool same_lines = std::count(out.begin(), out.end(), '\n') == std::count(text.begin(), text.end(), '\n');
  require_harmless(same_lines ? "" : "lines were moved: " + out, text);
}

}  // namespace mluops::test
