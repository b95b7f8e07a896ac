// Programs that are run, files that are gone behind them, signals that end both.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cncc {

/// Thrown when SIGINT, SIGTERM or SIGHUP came, so that what is left of the work is cleaned up.
struct Interrupted {
  int signal;
};

void catch_signals();
/// Ends the process as the signal would have.
[[noreturn]] void end_by(int signal);

/// Runs a program and returns its exit status; its messages are the user's, or go to the file `messages`. Throws
/// Interrupted.
int run(const std::vector<std::string>& command, bool verbose, const std::string& messages = {});

/// A directory for intermediate files, removed with everything in it.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  std::string file(const std::string& suffix) { return (path_ / (std::to_string(count_++) + suffix)).string(); }

 private:
  std::filesystem::path path_;
  int count_ = 0;
};

}  // namespace cncc
