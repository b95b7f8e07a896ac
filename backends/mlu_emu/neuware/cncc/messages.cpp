#include "backends/mlu_emu/neuware/cncc/messages.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace cncc {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

/// "file:line:column: text"
struct Head {
  std::string file, text;
  std::size_t line = 0, column = 0;
  bool is(const char* kind) const { return text.compare(0, std::string_view(kind).size(), kind) == 0; }
};

bool parse(const std::string& message, Head& head) {
  for (std::size_t colon = message.find(':'); colon != kNowhere; colon = message.find(':', colon + 1)) {
    char* end = nullptr;
    const unsigned long line = std::strtoul(message.c_str() + colon + 1, &end, 10);
    if (line == 0 || *end != ':' || std::isdigit(static_cast<unsigned char>(end[1])) == 0) continue;
    const unsigned long column = std::strtoul(end + 1, &end, 10);
    if (column == 0 || *end != ':' || end[1] != ' ') continue;
    head = {message.substr(0, colon), end + 2, line, column};
    return true;
  }
  return false;
}

void replace(std::string& text, const std::string& what, const std::string& with) {
  if (const std::size_t at = text.find(what); at != kNowhere) text.replace(at, what.size(), with);
}

/// A line with spaces for its tabs, as columns count them.
std::string shown(const std::string& line) {
  std::string out;
  for (const char c : line)
    out += c == '\t' ? std::string(8 - columns_of(out, out.size()) % 8, ' ') : std::string(1, c);
  return out;
}

class Reader {
 public:
  Reader(const std::string& messages, const Columns& columns, bool bytes) : columns_(columns), bytes_(bytes) {
    std::istringstream in(messages);
    for (std::string line; std::getline(in, line);) lines_.push_back(line);
    for (const std::string& line : lines_) {
      const bool length = line.find("variably modified") != kNowhere || line.find("call to 'on_chip'") != kNowhere;
      if (Head h; length && parse(line, h)) note_length(h);
    }
  }

  std::string run() {
    for (const std::string& line : lines_) {
      if (Head h; parse(line, h)) {
        head(line, h);
      } else if (!dropping_) {
        below(line);
      }
    }
    return out_;
  }

 private:
  /// An on-chip array whose length is no constant: the host's compiler says so in ten lines.
  void note_length(const Head& h) {
    for (const char* const space : {"__nram__", "__wram__", "__mlu_shared__"}) {
      if (columns_.text(h.file, h.line).find(space) != kNowhere) lengths_.insert({h.file, h.line});
    }
  }

  /// What was inserted at an element of such an array has no type for it.
  bool is_of_such_an_array(const Head& h) const {
    if (lengths_.empty() || !h.is("error: no matching function for call to")) return false;
    for (const char* const name : {"index(", "element<", "elements<", "object<", "pointee<"}) {
      if (h.text.find(name) != kNowhere) return true;
    }
    return false;
  }

  void head(const std::string& line, Head h) {
    const bool root = h.is("error:") || h.is("warning:") || h.is("fatal error:");
    const bool length = lengths_.count({h.file, h.line}) != 0;
    if (h.is("error:") && (length ? !told_.insert({h.file, h.line}).second : is_of_such_an_array(h))) {
      dropping_ = true;
      return;
    }
    if (root) dropping_ = false;
    if (dropping_) return;
    const std::string& source = columns_.text(h.file, h.line);
    const std::size_t byte = bytes_ ? h.column : bytes_of(source, h.column - 1) + 1;
    const auto place = columns_.author(h.file, h.line, byte);
    old_ = new_ = columns_of(source, byte - 1);
    width_ = 1;
    line_ = h.line;
    clang_source_.reset();
    if (!place) return say(line);
    if (bytes_) clang_source_ = shown(source);
    new_ = columns_of(source, place->column - 1);
    if (new_ != old_)
      width_ = std::max<std::size_t>(1, std::min(place->token.size(), source.size() + 1 - place->column));
    for (const std::string quotes : {"\u2018::\u2019", "'::'"}) {
      if (!place->next.empty()) {
        const std::string mark = quotes.substr(0, quotes.find(':'));
        replace(h.text, "before " + quotes,
                "before " + mark + std::string(place->next) + quotes.substr(mark.size() + 2));
      }
    }
    if (length && h.is("error:")) h.text = "error: the length of an on-chip array must be a constant";
    say(h.file + ":" + std::to_string(h.line) + ":" + std::to_string(bytes_ ? place->column : new_ + 1) + ": " +
        h.text);
    dropping_ = length && h.is("error:");
    if (dropping_) say(shown(source)), say(std::string(new_, ' ') + "^");
  }

  /// The source line, its carets, what might be put there.
  void below(const std::string& line) {
    if (clang_source_) {  // it shows the rewritten line
      say(*clang_source_);
      old_ = kNowhere;
      return clang_source_.reset();
    }
    const bool suggestion = old_ == kNowhere && line[0] == ' ' && line.find('^') == kNowhere;
    if (suggestion) return;
    const std::size_t bar = line.find(" | "), text = line.find_first_not_of(" 0123456789");
    const bool numbered = bar != kNowhere && text == bar + 1 && line[0] == ' ';
    const std::size_t begin = numbered ? bar + 3 : 0;
    if (numbered && line.find_first_not_of(' ') < bar) shown_ = std::strtoul(line.c_str(), nullptr, 10);
    const std::string marks = line.substr(std::min(begin, line.size()));
    const bool source_line = !numbered ? marks.find_first_not_of(" ~^") != kNowhere : line.find_first_not_of(' ') < bar;
    if (new_ == old_ || source_line || marks.empty()) return say(line);
    const std::size_t first = marks.find_first_not_of(' ');
    if (marks.find('^') != kNowhere) {
      say(line.substr(0, begin) + std::string(new_, ' ') + "^" + std::string(width_ - 1, '~'));
    } else if (shown_ == line_ && first == old_ && marks.find('~') == kNowhere) {
      say(line.substr(0, begin) + std::string(new_, ' ') + marks.substr(first));
    }
  }

  void say(const std::string& line) { out_ += line + '\n'; }

  const Columns& columns_;
  bool bytes_;
  std::vector<std::string> lines_;
  std::string out_;
  std::set<std::pair<std::string, std::size_t>> lengths_, told_;
  std::size_t old_ = 0, new_ = 0, width_ = 1, line_ = 0, shown_ = 0;  // of the message at hand; `shown_`: source line
  std::optional<std::string> clang_source_;
  bool dropping_ = false;
};

}  // namespace

std::string message(const Columns& columns, std::size_t preprocessed, const std::string& text) {
  const Columns::Position p = columns.position(preprocessed);
  const std::string& source = columns.text(p.file, p.line);
  const std::size_t column = columns_of(source, p.column - 1);
  return p.file + ":" + std::to_string(p.line) + ":" + std::to_string(column + 1) + ": " + text + "\n" + shown(source) +
         "\n" + std::string(column, ' ') + "^" + std::string(p.length > 1 ? p.length - 1 : 0, '~') + "\n";
}

std::string for_author(const std::string& messages, const Columns& columns, bool bytes) {
  return Reader(messages, columns, bytes).run();
}

}  // namespace cncc
