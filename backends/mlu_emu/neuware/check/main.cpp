// mluops_check: runs a program whose kernels are checked and tells what the checks found.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr const char* kUsage =
    "usage: mluops_check [--report FILE]... [--warnings-are-errors] [--] PROGRAM [ARGUMENT]...\n"
    "Runs the program and prints what the emulator's checks found in its kernels. A FILE that ends in .sarif or .json\n"
    "gets that form. Exit status: the program's if it is not 0, else 1 where there were faults.\n";
constexpr int kWrongUse = 2, kNotRun = 127, kBySignal = 128;

struct Options {
  std::string reports;  // separated by ':'
  bool strict = false;
  int program = 0;  // its index in argv; 0: wrong use
};

Options parse(int argc, char** argv) {
  Options o;
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; ++i) {
    const std::string a = argv[i];
    if (a == "--") {
      ++i;
      break;
    }
    if (a == "--warnings-are-errors") {
      o.strict = true;
    } else if (a == "--report" && i + 1 < argc) {
      o.reports.append(1, ':').append(argv[++i]);
    } else {
      return {};
    }
  }
  if (i < argc) o.program = i;
  return o;
}

int run(char** command) {
  const pid_t child = fork();
  if (child == 0) {
    execvp(command[0], command);
    std::fprintf(stderr, "mluops_check: %s: %s\n", command[0], std::strerror(errno));
    _exit(kNotRun);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0) return kNotRun;
  return WIFSIGNALED(status) ? kBySignal + WTERMSIG(status) : WEXITSTATUS(status);
}

/// The text's last line begins with a number: of faults, and behind the comma of warnings.
bool clean(const std::string& text, bool strict) {
  const std::size_t line = text.rfind('\n', text.size() - 2) + 1;  // npos + 1 is the first
  const std::size_t comma = text.find(", ", line);
  const int faults = std::atoi(text.c_str() + line);
  const int warnings = comma == std::string::npos ? 0 : std::atoi(text.c_str() + comma + 2);
  return faults == 0 && (!strict || warnings == 0);
}

}  // namespace

int main(int argc, char** argv) {
  const Options o = parse(argc, argv);
  if (o.program == 0) {
    std::fputs(kUsage, stderr);
    return kWrongUse;
  }
  std::string found = (std::filesystem::temp_directory_path() / "mluops_check.XXXXXX").string();
  const int file = mkstemp(found.data());
  if (file < 0) {
    std::perror("mluops_check");
    return kNotRun;
  }
  close(file);
  setenv("MLUOP_EMU_FINDINGS", (found + o.reports).c_str(), 1);
  const int status = run(argv + o.program);
  std::ifstream in(found, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  unlink(found.c_str());
  if (text.empty()) {
    std::fputs("mluops_check: the program launched no kernel, or did not end by itself\n", stderr);
    return status;
  }
  std::fputs(text.c_str(), stdout);
  if (status != 0) return status;
  return clean(text, o.strict) ? 0 : 1;
}
