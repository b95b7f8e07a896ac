#include "backends/mlu_emu/neuware/cncc/options.h"

#include <cstdlib>

namespace cncc {
namespace {

bool starts_with(const std::string& text, const std::string& head) {
  return text.compare(0, head.size(), head) == 0;
}

bool has_suffix(const std::string& path, std::initializer_list<const char*> suffixes) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return false;
  for (const char* s : suffixes) {
    if (path.compare(dot, std::string::npos, s) == 0) return true;
  }
  return false;
}

/// "mtp_592", "592", "compute_50" ...: the number; 0 for what is no machine of ours.
int arch_number(const std::string& name) {
  for (const int known : {220, 270, 290, 322, 372, 592}) {
    const std::string number = std::to_string(known);
    if (name == number || name == "mtp_" + number || name == "tp_" + number) return known;
  }
  return 0;
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
    if (a == "-o" || a == "-x") return named_value(a);
    if (a == "-v") return o_.verbose = true, "";
    if (with_value(a)) return {};
    return by_prefix(a);
  }

  bool stage(const std::string& a) {
    if (a == "-E") o_.stage = Stage::kPreprocess;
    if (a == "-S") o_.stage = Stage::kAssemble;
    if (a == "-c") o_.stage = Stage::kCompile;
    return a == "-E" || a == "-S" || a == "-c";
  }

  /// The first architecture that is a machine here counts: one is emulated at a time.
  std::string arch(const std::string& name) {
    ++archs_;
    const int number = arch_number(name);
    if (number == 0 || known_) return {};
    o_.arch = number;
    known_ = true;
    return {};
  }

  /// Options of the vendor's tools that have nothing to act on here.
  bool ignored(const std::string& a) {
    if (a == "-mllvm" || a == "-Xbang-cnas" || a == "-Xbang-cnlink") return ++at_, true;
    for (const char* known : {"--no-neuware-version-check", "-fbang-instrument-kernels", "--bang-wram-align64",
                              "-fbang-stack-protector", "--target=", "--bang-stack-on-ldram", "-Werror"}) {
      if (starts_with(a, known)) return true;
    }
    return false;
  }

  std::string named_value(const std::string& a) {
    if (at_ + 1 >= arguments_.size()) return "missing argument to '" + a + "'";
    const std::string& value = arguments_[++at_];
    if (a == "-o") o_.output = value;
    if (a == "-x" && value != "bang" && value != "c++") return "unsupported language '" + value + "'";
    if (a == "-x" && value == "bang") o_.force_bang = true;
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
