// cncc: the compiler driver of the neuware prefix. BANG C is preprocessed by the host's compiler, rewritten to C++ and
// compiled by it; everything else goes to that compiler as it is.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/mlu_emu/device/arch.h"
#include "backends/mlu_emu/neuware/cncc/columns.h"
#include "backends/mlu_emu/neuware/cncc/messages.h"
#include "backends/mlu_emu/neuware/cncc/options.h"
#include "backends/mlu_emu/neuware/cncc/process.h"
#include "backends/mlu_emu/neuware/cncc/rewrite.h"
#include "backends/mlu_emu/neuware/cncc/source.h"
#include "common/trust.h"

namespace cncc {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

constexpr const char* kVersion = "4.15.0";
constexpr const char* kRewritten = "#pragma cncc rewritten\n";  // the first line of what -E gives

void append(Arguments& to, const Arguments& from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::string host_compiler() {
  const char* chosen = mluops::secure_variable("CNCC_HOST_COMPILER");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  for (const char* name : {"g++", "clang++", "c++"}) {
    std::istringstream path(std::getenv("PATH") == nullptr ? "/usr/bin" : std::getenv("PATH"));
    for (std::string folder; std::getline(path, folder, ':');) {
      if (access((folder + "/" + name).c_str(), X_OK) == 0) return name;
    }
  }
  throw std::runtime_error("no host compiler: install g++ or clang++, or set CNCC_HOST_COMPILER");
}

fs::path prefix_of_executable() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path();
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The sizes in KiB a kernel sees: all a core has, of which it leaves the compiler's share alone.
Arguments machine_macros(int number) {
  constexpr std::int64_t kKiB = 1024, kReserve = 128;
  const mluops::emu::Arch* arch = mluops::emu::find_arch("mtp_" + std::to_string(number));
  if (arch == nullptr) throw std::runtime_error("unknown architecture " + std::to_string(number));
  const auto define = [](const std::string& name, std::int64_t value) {
    return "-D" + name + "=" + std::to_string(value);
  };
  return {"-D__BANG__=1",
          "-D__CNCC__=1",
          define("__BANG_ARCH__", number),
          define("__MLU_NRAM_SIZE__", arch->nram_bytes / kKiB + kReserve),
          define("__MLU_WRAM_SIZE__", arch->wram_bytes / kKiB),
          define("__MLU_SRAM_SIZE__", arch->sram_bytes / kKiB + kReserve)};
}

/// One command line at work.
class Driver {
 public:
  explicit Driver(Options options) : o_(std::move(options)), compiler_(host_compiler()) {
    if (o_.prefix.empty() || !fs::exists(fs::path(o_.prefix) / "include" / "bang.h")) {
      o_.prefix = prefix_of_executable().string();
    }
  }

  int run_all() {
    if (o_.inputs.empty()) throw std::runtime_error("no input files");
    for (const std::string& input : o_.inputs) {
      if ((is_source(input) || o_.stage != Stage::kLink) && !fs::exists(input)) {
        throw std::runtime_error("no such file: '" + input + "'");
      }
    }
    if (o_.precompile) return precompile();
    if (o_.stage == Stage::kLink) return link();
    if (!o_.output.empty() && o_.inputs.size() > 1) throw std::runtime_error("several inputs, but one output file");
    for (const std::string& input : o_.inputs) {
      const int status = translate(input, o_.stage, o_.output.empty() ? default_output(input) : o_.output);
      if (status != 0) return status;
    }
    return 0;
  }

 private:
  std::string default_output(const std::string& input) const {
    if (o_.stage < Stage::kAssemble) return "-";
    return fs::path(input).filename().replace_extension(o_.stage == Stage::kAssemble ? ".s" : ".o").string();
  }

  Arguments includes() const { return {"-isystem", o_.prefix + "/include"}; }

  int translate(const std::string& input, Stage stage, const std::string& output) {
    if (is_rewritten(input)) return compile(input, stage, output);
    return is_bang(o_, input) ? bang(input, stage, output) : plain(input, stage, output);
  }

  int plain(const std::string& input, Stage stage, const std::string& output) {
    Arguments command{compiler_};
    append(command, o_.common);
    append(command, o_.preprocess);
    append(command, dependencies(input, output));
    append(command, includes());
    append(command, stage_options(stage, output));
    command.push_back(input);
    return run(command, o_.verbose);
  }

  static Arguments stage_options(Stage stage, const std::string& output) {
    if (stage == Stage::kSyntax) return {"-fsyntax-only"};
    if (stage == Stage::kDependencies) return {"-o", output};
    return {stage == Stage::kPreprocess ? "-E" : stage == Stage::kAssemble ? "-S" : "-c", "-o", output};
  }

  int bang(const std::string& input, Stage stage, const std::string& output) {
    if (stage == Stage::kDependencies) return preprocess(input, output, output, false);
    const std::string before = scratch_.file(".ii"), after = scratch_.file(".ii");
    if (const int status = preprocess(input, before, output, true); status != 0) return status;
    const std::string preprocessed = read(before);
    Rewritten made;
    try {
      made = rewrite_with_places(preprocessed);
    } catch (const std::runtime_error& e) {
      throw std::runtime_error(input + ": " + e.what());
    }
    const bool wrong = !made.errors.empty();
    write(kRewritten + made.text, stage == Stage::kPreprocess && !wrong ? output : after);
    if (stage == Stage::kPreprocess && !wrong) return 0;
    const std::string messages = scratch_.file(".txt");
    const int status = compile(after, wrong ? Stage::kSyntax : stage, output, messages);
    tell(read(messages), std::move(made), preprocessed);
    return wrong ? 1 : status;
  }

  /// What cncc and the host's compiler have to say about a file, by the lines and columns of the author.
  void tell(const std::string& messages, Rewritten made, const std::string& preprocessed) const {
    const bool silent = std::find(o_.common.begin(), o_.common.end(), "-w") != o_.common.end();
    if (silent) made.warnings.clear();
    if (messages.empty() && made.warnings.empty() && made.errors.empty()) return;
    const Columns columns(std::move(made.text), preprocessed, std::move(made.moved));
    for (const Warning& w : made.warnings) std::fputs(message(columns, w.at, "warning: " + w.text).c_str(), stderr);
    for (const Warning& e : made.errors) std::fputs(message(columns, e.at, "error: " + e.text).c_str(), stderr);
    const bool clang = compiler_.find("clang") != std::string::npos;
    std::fputs(for_author(messages, columns, clang).c_str(), stderr);
  }

  /// Its own -E output, which needs neither preprocessing nor rewriting.
  static bool is_rewritten(const std::string& input) {
    if (!is_source(input)) return false;
    std::string head(std::strlen(kRewritten), '\0');
    std::ifstream in(input, std::ios::binary);
    return in.read(head.data(), static_cast<std::streamsize>(head.size())) && head == kRewritten;
  }

  static void write(const std::string& text, const std::string& path) {
    std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
    bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (file != nullptr) written &= (file == stdout ? std::fflush(file) : std::fclose(file)) == 0;
    if (!written) throw std::runtime_error("cannot write '" + path + "': " + std::strerror(errno));
  }

  /// A prefix header's .gch: of the same options as the files that are to use it.
  int precompile() {
    if (o_.inputs.size() != 1 || o_.output.empty()) throw std::runtime_error("a header to precompile needs -o");
    Arguments command{compiler_, "-x", "c++-header"};
    append(command, bang_options());
    append(command, code_options());
    append(command, machine_macros(o_.arch));
    append(command, includes());
    append(command, o_.preprocess);
    append(command, {o_.inputs[0], "-o", o_.output});
    return run(command, o_.verbose);
  }

  /// What comes in front of every file. A precompiled header stays a mark in the text, which compile() follows.
  Arguments prefix_headers() const {
    const std::string include = o_.prefix + "/include/";
    const std::string first = o_.prefix_header.empty() ? include + "bang.h" : o_.prefix_header;
    Arguments options{"-include", first, "-include", include + "neuware_unit.h"};
    if (fs::exists(first + ".gch")) {
      append(options, code_options());
      options.push_back("-fpch-preprocess");
    }
    return options;
  }

  /// The user's headers come behind the words: they may use them.
  int preprocess(const std::string& input, const std::string& to, const std::string& final_output, bool text) {
    Arguments command{compiler_, "-x", "c++"};
    if (text) command.push_back("-E");
    append(command, bang_options());
    append(command, machine_macros(o_.arch));
    append(command, includes());
    command.push_back("-DNEUWARE_FILE=\"" + escaped(input) + "\"");
    append(command, prefix_headers());
    append(command, o_.preprocess);
    append(command, dependencies(input, final_output));
    append(command, {input, "-o", to});
    return run_with_any_space(command);
  }

  /// g++ takes white space of Unicode, as text from a page of the web has it, for a part of an identifier and gives up,
  /// unless identifiers are those of ASCII: rewriting makes it spaces then.
  int run_with_any_space(Arguments command) {
    const std::string messages = scratch_.file(".txt");
    if (isatty(STDERR_FILENO) != 0) command.insert(command.begin() + 1, "-fdiagnostics-color=always");
    int status = run(command, o_.verbose, messages);
    if (status != 0 && has_unicode_space(read(messages))) {
      command.insert(command.begin() + 1, "-fno-extended-identifiers");
      status = run(command, o_.verbose, messages);
    }
    std::fputs(read(messages).c_str(), stderr);
    return status;
  }

  /// A path as a C string holds it. Compilers disagree on what __BASE_FILE__ is in a file included by the command line.
  static std::string escaped(const std::string& path) {
    std::string out;
    for (const char c : path) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return out;
  }

  /// Rules are for the object, not for the intermediate file, and lie beside it.
  Arguments dependencies(const std::string& input, const std::string& output) const {
    const auto given = [&](std::initializer_list<const char*> options) {
      for (const std::string& a : o_.preprocess) {
        for (const char* option : options) {
          if (a.compare(0, std::strlen(option), option) == 0) return true;
        }
      }
      return false;
    };
    Arguments options;
    if (!given({"-MD", "-MMD"})) return options;
    const bool named = !o_.output.empty() && o_.output != "-" && o_.stage != Stage::kLink;
    const fs::path object = named ? fs::path(o_.output) : fs::path(input).filename().replace_extension(".o");
    if (!given({"-MT", "-MQ"})) append(options, {"-MT", o_.stage == Stage::kLink ? object.string() : output});
    if (!given({"-MF"})) append(options, {"-MF", fs::path(object).replace_extension(".d").string()});
    return options;
  }

  /// The user's options for a BANG C file. Its language is C++17, or a later one that is asked for.
  Arguments bang_options() const {
    Arguments options;
    std::string language = "-std=c++17";
    for (const std::string& a : o_.common) {
      if (a.compare(0, 5, "-std=") != 0) {
        options.push_back(a);
      } else if (a.find("++2") != std::string::npos) {
        language = a;
      }
    }
    options.push_back(language);
    return options;
  }

  /// No fused multiply-add the kernel did not ask for; on-chip memory is reinterpreted freely; faults name lines, and a
  /// debugger knows more where the user asks for it.
  Arguments code_options() const {
    Arguments options{"-ffp-contract=off", "-fno-strict-aliasing"};
    const auto debugs = [](const std::string& a) { return a.compare(0, 2, "-g") == 0; };
    if (std::none_of(o_.common.begin(), o_.common.end(), debugs)) options.insert(options.begin(), "-g1");
    return options;
  }

  /// The compiler's messages are the user's, or go to the file `messages`.
  int compile(const std::string& rewritten, Stage stage, const std::string& output, const std::string& messages = {}) {
    Arguments command{compiler_, "-x", "c++-cpp-output"};
    append(command, bang_options());
    append(command, code_options());
    append(command, {"-Wno-unknown-pragmas", rewritten});
    append(command, stage_options(stage, output));
    return run(command, o_.verbose, messages);
  }

  int link() {
    Arguments command{compiler_};
    append(command, o_.common);
    for (const std::string& input : o_.inputs) {
      if (!is_source(input)) {
        command.push_back(input);
        continue;
      }
      const std::string object = scratch_.file(".o");
      if (const int status = translate(input, Stage::kCompile, object); status != 0) return status;
      command.push_back(object);
    }
    const std::string libraries = o_.prefix + "/lib64";
    append(command, o_.link);
    append(command, {"-L" + libraries, "-Xlinker", "-rpath", "-Xlinker", libraries, "-lcnrt"});
    append(command, {"-o", o_.output.empty() ? "a.out" : o_.output});
    return run(command, o_.verbose);
  }

  Options o_;
  std::string compiler_;
  Scratch scratch_;
};

int main_of(const Arguments& command_line) {
  const Arguments arguments = with_response_files(command_line);
  for (const std::string& a : arguments) {
    if (a == "--version") {
      std::printf("cncc v%s (BANG C on the emulated MLU of mluop-host)\n", kVersion);
      return 0;
    }
  }
  Options options;
  const std::string problem = parse(arguments, options);
  if (!problem.empty()) throw std::runtime_error(problem);
  return Driver(std::move(options)).run_all();
}

}  // namespace
}  // namespace cncc

int main(int argc, char** argv) {
  cncc::catch_signals();
  try {
    return cncc::main_of({argv + 1, argv + argc});
  } catch (const cncc::Interrupted& by) {
    cncc::end_by(by.signal);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "cncc: error: %s\n", e.what());
    return 1;
  }
}
