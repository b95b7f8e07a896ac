#include "backends/mlu_emu/device/source_text.h"

#include <algorithm>
#include <fstream>
#include <utility>

namespace mluops::emu {
namespace {

constexpr int kAround = 2, kMostLines = 1000;

SourceText read(const std::string& file, int first, int last) {
  SourceText text{std::max(1, first - kAround), {}};
  std::ifstream in(file, std::ios::binary);
  std::string line;
  for (int number = 1; number <= std::min(last + kAround, text.first + kMostLines - 1) && std::getline(in, line);
       ++number) {
    if (number >= text.first) text.lines.push_back(line);
  }
  return text;
}

}  // namespace

std::map<std::string, SourceText> source_texts(const CallReport& report) {
  std::map<std::string, std::pair<int, int>> spans;
  for (const LaunchReport& launch : report.launches) {
    for (const HotLine& l : launch.lines) {
      if (l.file.empty()) continue;
      auto& [first, last] = spans.try_emplace(l.file, l.line, l.line).first->second;
      first = std::min(first, l.line);
      last = std::max(last, l.line);
    }
  }
  std::map<std::string, SourceText> texts;
  for (const auto& [file, span] : spans) {
    SourceText text = read(file, span.first, span.second);
    if (!text.lines.empty()) texts.emplace(file, std::move(text));
  }
  return texts;
}

}  // namespace mluops::emu
