#include "backends/mlu_emu/neuware/cncc/columns.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace cncc {
namespace {

/// The name in a line marker, without its escapes.
std::string marked_file(std::string_view marker) {
  std::string name;
  const std::size_t open = marker.find('"'), close = marker.rfind('"');
  for (std::size_t i = open + 1; open != close && i < close; ++i) {
    if (marker[i] == '\\' && i + 1 < close) ++i;
    name += marker[i];
  }
  return name;
}

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}

/// Offsets of a token in a line: a word's are those that are not part of a longer one.
std::vector<std::size_t> occurrences(std::string_view line, std::string_view token) {
  std::vector<std::size_t> found;
  for (std::size_t i = line.find(token); i != std::string_view::npos; i = line.find(token, i + 1)) {
    const bool left = i > 0 && in_word(token.front()) && in_word(line[i - 1]);
    const std::size_t end = i + token.size();
    if (!left && !(end < line.size() && in_word(token.back()) && in_word(line[end]))) found.push_back(i);
  }
  return found;
}

}  // namespace

namespace {

/// The column behind the byte at `i` of a line, where it begins at `column`.
std::size_t behind_byte(std::string_view line, std::size_t i, std::size_t column) {
  const char c = i < line.size() ? line[i] : ' ';
  if (c == '\t') return column + 8 - column % 8;
  return (c & 0xc0) == 0x80 ? column : column + 1;
}

}  // namespace

std::size_t columns_of(std::string_view line, std::size_t bytes) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < bytes; ++i) columns = behind_byte(line, i, columns);
  return columns;
}

std::size_t bytes_of(std::string_view line, std::size_t columns) {
  std::size_t bytes = 0;
  for (std::size_t c = behind_byte(line, 0, 0); c <= columns; c = behind_byte(line, bytes, c)) ++bytes;
  return bytes;
}

Columns::Columns(std::string rewritten, std::string preprocessed, std::vector<Moved> moved)
    : rewritten_(std::move(rewritten)),
      preprocessed_(std::move(preprocessed)),
      moved_(std::move(moved)),
      regions_(regions_of(rewritten_)) {}

std::vector<Columns::Region> Columns::regions_of(const std::string& text) {
  std::vector<Region> regions;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.size() > 2 && line[0] == '#' && std::isdigit(static_cast<unsigned char>(line[2])) != 0) {
      if (!regions.empty()) regions.back().end = at;
      regions.push_back({marked_file(line), std::strtoul(line.data() + 2, nullptr, 10), end + 1, text.size()});
    }
    at = end + 1;
  }
  return regions;
}

std::size_t Columns::line_begin(const std::string& text, std::size_t offset) {
  return offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
}

/// Where that line begins in the rewritten text: a macro's arguments may take several.
std::vector<std::size_t> Columns::starts(const std::string& file, std::size_t line) const {
  std::vector<std::size_t> found;
  for (const Region& r : regions_) {
    if (r.line > line || r.file != file) continue;
    std::size_t at = r.begin;
    for (std::size_t n = r.line; n < line && at < r.end; ++n) at = std::min(rewritten_.find('\n', at), r.end - 1) + 1;
    if (at < r.end) found.push_back(at);
  }
  return found;
}

/// The token at that offset of the line [begin, end), or the first behind it; all of them if there is none.
std::size_t Columns::index_at(std::size_t offset, std::size_t begin, std::size_t end) const {
  const auto after = [](std::size_t o, const Moved& m) { return o < m.to; };
  auto m = std::upper_bound(moved_.begin(), moved_.end(), offset, after);
  if (m != moved_.begin() && std::prev(m)->to >= begin) --m;
  return m != moved_.end() && m->to < end ? static_cast<std::size_t>(m - moved_.begin()) : moved_.size();
}

std::string_view Columns::spelling(std::size_t index) const {
  if (index >= moved_.size()) return {};
  return std::string_view(preprocessed_).substr(moved_[index].from, moved_[index].length);
}

/// The preprocessed line is the author's, or a macro of it was expanded: the token that occurs as often before is the
/// same one. A token that a macro made stands where the last one before it does that the author wrote.
std::size_t Columns::author_column(std::size_t index, std::size_t from, const std::string& line) const {
  const std::size_t begin = line_begin(preprocessed_, from);
  const std::size_t end = std::min(preprocessed_.find('\n', begin), preprocessed_.size());
  const std::string_view expanded = std::string_view(preprocessed_).substr(begin, end - begin);
  if (expanded == line) return from - begin + 1;
  for (std::size_t i = index + 1; i-- > 0 && moved_[i].from >= begin;) {
    const std::size_t at = moved_[i].from - begin, within = i == index ? from - moved_[i].from : 0;
    const std::vector<std::size_t> there = occurrences(expanded, spelling(i)), here = occurrences(line, spelling(i));
    const auto n = static_cast<std::size_t>(std::find(there.begin(), there.end(), at) - there.begin());
    if (n < here.size()) return here[n] + within + 1;
  }
  return std::min(line.find_first_not_of(" \t"), line.size()) + 1;
}

std::optional<Columns::Place> Columns::author(const std::string& file, std::size_t line, std::size_t column) const {
  for (const std::size_t begin : starts(file, line)) {
    const std::size_t end = std::min(rewritten_.find('\n', begin), rewritten_.size()) + 1, offset = begin + column - 1;
    if (column == 0 || offset > end) continue;
    const std::size_t index = index_at(offset, begin, end);
    if (index == moved_.size()) continue;
    const Moved& m = moved_[index];
    const bool in_front = offset < m.to;  // in what was put there
    const std::size_t within = m.replaced || in_front ? 0 : std::min(offset - m.to, m.length);
    return Place{author_column(index, m.from + within, text(file, line)), spelling(index),
                 spelling(in_front ? index : index + 1)};
  }
  return std::nullopt;
}

Columns::Position Columns::position(std::size_t preprocessed) const {
  const auto before = [](const Moved& m, std::size_t o) { return m.from < o; };
  const auto m = std::lower_bound(moved_.begin(), moved_.end(), preprocessed, before);
  Position p{{}, 0, 1, m == moved_.end() ? 1 : m->length};
  const std::vector<Region> regions = regions_of(preprocessed_);
  const auto behind = [](std::size_t o, const Region& r) { return o < r.begin; };
  const auto r = std::upper_bound(regions.begin(), regions.end(), preprocessed, behind);
  if (r == regions.begin()) return p;
  p.file = std::prev(r)->file;
  p.line = std::prev(r)->line;
  for (std::size_t i = std::prev(r)->begin; i < preprocessed; ++i) p.line += preprocessed_[i] == '\n' ? 1 : 0;
  if (m != moved_.end()) {
    p.column = author_column(static_cast<std::size_t>(m - moved_.begin()), preprocessed, text(p.file, p.line));
  }
  return p;
}

const std::string& Columns::text(const std::string& file, std::size_t line) const {
  static const std::string none;
  const auto [known, fresh] = files_.try_emplace(file);
  if (fresh) {
    std::ifstream in(file, std::ios::binary);
    for (std::string l; std::getline(in, l);) known->second.push_back(l);
  }
  return line >= 1 && line <= known->second.size() ? known->second[line - 1] : none;
}

}  // namespace cncc
