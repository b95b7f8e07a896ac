#include "backends/mlu_emu/neuware/cncc/options.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace cncc {
namespace {

bool starts_with(const std::string& text, const std::string& head) {
  return text.compare(0, head.size(), head) == 0;
}

bool one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_suffix(const std::string& path, std::initializer_list<const char*> suffixes) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return false;
  for (const char* s : suffixes) {
    if (path.compare(dot, std::string::npos, s) == 0) return true;
  }
  return false;
}

/// "mtp_592", "592", "compute_50", "MLU270" ...: the number; 0 for what is no machine of ours. Compilers before the
/// 300 series named cards; MLU200 is all of that series, which here is the card most sources of that time are for.
int arch_number(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const auto& [other, number] : {std::pair("compute_20", 270),
                                      {"compute_30", 372},
                                      {"compute_50", 592},
                                      {"mlu200", 270},
                                      {"mlu300", 372},
                                      {"mlu370", 372},
                                      {"mlu500", 592},
                                      {"mlu590", 592}}) {
    if (name == other) return number;
  }
  for (const int known : {220, 270, 290, 322, 372, 592}) {
    const std::string number = std::to_string(known);
    if (name == number || name == "mtp_" + number || name == "tp_" + number || name == "mlu" + number) return known;
  }
  return 0;
}

/// The words of a response file.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  char quote = '\0';
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\0' && std::isspace(static_cast<unsigned char>(c)) != 0) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\\' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else if (quote == '\0' ? c == '"' || c == '\'' : c == quote) {
      quote = quote == '\0' ? c : '\0';
    } else {
      words.back() += c;
    }
  }
  return words;
}

/// The command line, argument by argument.
class Parser {
 public:
  Parser(const std::vector<std::string>& arguments, Options& options) : arguments_(arguments), o_(options) {}

  std::string run() {
    std::string problem;
    for (at_ = 0; at_ < arguments_.size() && problem.empty(); ++at_) problem = argument(arguments_[at_]);
    if (problem.empty() && archs_ > 0 && !known_) problem = "no known architecture among the --bang-mlu-arch given";
    return problem;
  }

 private:
  std::string argument(const std::string& a) {
    if (a.empty() || a[0] != '-' || a == "-") return o_.inputs.push_back(a), "";
    if (stage(a)) return {};
    if (starts_with(a, "--bang-mlu-arch=") || starts_with(a, "--bang-arch=")) return arch(a.substr(a.find('=') + 1));
    if (ignored(a)) return {};
    if (starts_with(a, "--neuware-path=")) return o_.prefix = a.substr(a.find('=') + 1), "";
    if (starts_with(a, "--bang-prefix-header=")) return o_.prefix_header = a.substr(a.find('=') + 1), "";
    if (a == "-o" || a == "-x") return named_value(a);
    if (a == "-v") return o_.verbose = true, "";
    if (with_value(a)) return {};
    return by_prefix(a);
  }

  /// If several are given, the earliest stage wins: `-c -E` preprocesses.
  bool stage(const std::string& a) {
    for (const auto& [option, stage] : {std::pair("-M", Stage::kDependencies),
                                        {"-MM", Stage::kDependencies},
                                        {"-E", Stage::kPreprocess},
                                        {"-fsyntax-only", Stage::kSyntax},
                                        {"-S", Stage::kAssemble},
                                        {"-c", Stage::kCompile}}) {
      if (a != option) continue;
      o_.stage = std::min(o_.stage, stage);
      if (stage == Stage::kDependencies) o_.preprocess.push_back(a);
      return true;
    }
    return false;
  }

  /// In a list, or over several options, the first architecture that is emulated here counts.
  std::string arch(const std::string& names) {
    ++archs_;
    for (std::size_t at = 0; at < names.size() && !known_;) {
      const std::size_t end = std::min(names.find_first_of(",;", at), names.size());
      const int number = arch_number(names.substr(at, end - at));
      if (number != 0) o_.arch = number, known_ = true;
      at = end + 1;
    }
    return {};
  }

  /// Options of the vendor's tools that have nothing to act on here.
  bool ignored(const std::string& a) {
    if (a == "-mllvm" || a == "-Xbang-cnas" || a == "-Xbang-cnlink") return ++at_, true;
    for (const char* known :
         {"--no-neuware-version-check", "-fbang-instrument-kernels", "--bang-wram-align64", "-fbang-stack-protector",
          "--target=", "--bang-stack-on-ldram", "--bang-device-only", "-Werror"}) {
      if (starts_with(a, known)) return true;
    }
    return false;
  }

  std::string named_value(const std::string& a) {
    if (at_ + 1 >= arguments_.size()) return "missing argument to '" + a + "'";
    const std::string& value = arguments_[++at_];
    if (a == "-o") o_.output = value;
    if (a == "-x" && !one_of(value, {"bang", "bang-header", "c++"})) return "unsupported language '" + value + "'";
    if (a == "-x" && value == "bang") o_.force_bang = true;
    if (a == "-x" && value == "bang-header") o_.precompile = true;
    return {};
  }

  bool with_value(const std::string& a) {
    for (const char* known : {"-I", "-D", "-U", "-include", "-isystem", "-iquote", "-MF", "-MT", "-MQ"}) {
      if (a == known && at_ + 1 < arguments_.size()) {
        o_.preprocess.insert(o_.preprocess.end(), {a, arguments_[++at_]});
        return true;
      }
    }
    for (const char* known : {"-L", "-l", "-Xlinker", "-u"}) {
      if (a == known && at_ + 1 < arguments_.size()) {
        o_.link.insert(o_.link.end(), {a, arguments_[++at_]});
        return true;
      }
    }
    return false;
  }

  std::string by_prefix(const std::string& a) {
    for (const char* head : {"-I", "-D", "-U", "-isystem", "-M", "-H"}) {
      if (starts_with(a, head)) return o_.preprocess.push_back(a), "";
    }
    for (const char* head : {"-L", "-l", "-Wl,", "-shared", "-static", "-rdynamic", "-pie", "-no-pie", "-fuse-ld="}) {
      if (starts_with(a, head)) return o_.link.push_back(a), "";
    }
    for (const char* head : {"-O", "-f", "-m", "-g", "-std=", "-pthread", "-W", "-w", "-pipe", "-p", "--coverage"}) {
      if (starts_with(a, head)) return o_.common.push_back(a), "";
    }
    return "unsupported option '" + a + "'";
  }

  const std::vector<std::string>& arguments_;
  Options& o_;
  std::size_t at_ = 0;
  int archs_ = 0;
  bool known_ = false;
};

}  // namespace

std::vector<std::string> with_response_files(const std::vector<std::string>& arguments) {
  constexpr int kMostFiles = 2000;  // they contain each other
  std::vector<std::string> out, rest(arguments.rbegin(), arguments.rend());
  for (int files = 0; !rest.empty();) {
    const std::string a = rest.back();
    rest.pop_back();
    std::ifstream in(a.size() > 1 && a[0] == '@' ? a.substr(1) : std::string(), std::ios::binary);
    if (!in) {
      out.push_back(a);
      continue;
    }
    if (++files > kMostFiles) throw std::runtime_error("too many response files: '" + a + "'");
    const std::vector<std::string> words = words_of({std::istreambuf_iterator<char>(in), {}});
    rest.insert(rest.end(), words.rbegin(), words.rend());
  }
  return out;
}

std::string parse(const std::vector<std::string>& arguments, Options& options) {
  return Parser(arguments, options).run();
}

bool is_source(const std::string& input) {
  return has_suffix(input, {".mlu", ".cpp", ".cc", ".cxx", ".c", ".C", ".ii", ".i", ".s", ".S"});
}

bool is_bang(const Options& options, const std::string& input) {
  return has_suffix(input, {".mlu"}) || (options.force_bang && is_source(input));
}

}  // namespace cncc
