#include "backends/mlu_emu/neuware/cncc/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace cncc {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t pending = 0, child = 0;

void note(int signal) {
  pending = signal;
  if (child > 0) kill(static_cast<pid_t>(child), signal);
}

void check_signals() {
  if (pending != 0) throw Interrupted{static_cast<int>(pending)};
}

}  // namespace

void catch_signals() {
  for (const int signal : kSignals) {
    struct sigaction before = {}, action = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // as nohup wants it
    action.sa_handler = note;
    sigaction(signal, &action, nullptr);
  }
}

void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::_Exit(1);
}

int run(const std::vector<std::string>& command, bool verbose, const std::string& messages) {
  std::vector<char*> argv;
  for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  if (verbose) {
    for (const std::string& a : command) std::fprintf(stderr, "%s ", a.c_str());
    std::fprintf(stderr, "\n");
  }
  check_signals();
  const pid_t started = fork();
  if (started == 0) {
    if (!messages.empty() && std::freopen(messages.c_str(), "wb", stderr) == nullptr) _exit(127);
    execvp(argv[0], argv.data());
    std::fprintf(stderr, "cncc: error: cannot run '%s'\n", argv[0]);
    _exit(127);
  }
  if (started < 0) throw std::runtime_error("cannot start " + command[0]);
  child = started;
  if (pending != 0) kill(started, static_cast<int>(pending));  // it came in between
  int status = 1;
  while (waitpid(started, &status, 0) != started) {
    if (errno != EINTR) throw std::runtime_error("lost " + command[0]);
  }
  child = 0;
  check_signals();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

Scratch::Scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "cncc-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create a directory for temporary files");
  path_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace cncc
