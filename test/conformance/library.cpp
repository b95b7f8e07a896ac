#include "test/conformance/library.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include "test/conformance/asks.h"
#include "test/support/recorded.h"
#include "test/support/run.h"

extern char** environ;

namespace mluops::conformance {
namespace {

using test::Problem;

struct Answer {
  AnswerHead head;
  std::string text;
  std::vector<unsigned char> outputs;
};

/// A child process with LIB in front, from a call on.
class Child {
 public:
  Child(const LibrarySettings& settings, std::size_t first) : seconds_(settings.seconds) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    in_ = ends[0];
    std::vector<std::string> words = {"mluops_conformance"};
    words.insert(words.end(), settings.words.begin(), settings.words.end());
    words.insert(words.end(), {"--answer", std::to_string(ends[1]) + ":" + std::to_string(first)});
    std::vector<std::string> variables = {"LD_PRELOAD=" + settings.library};
    for (char** v = environ; *v != nullptr; ++v) {
      if (std::strncmp(*v, "LD_PRELOAD=", 11) != 0) variables.emplace_back(*v);
    }
    const auto pointers = [](std::vector<std::string>& all) {
      std::vector<char*> list;
      for (std::string& one : all) list.push_back(one.data());
      list.push_back(nullptr);
      return list;
    };
    const int failed =
        posix_spawn(&pid_, "/proc/self/exe", nullptr, nullptr, pointers(words).data(), pointers(variables).data());
    close(ends[1]);
    if (failed != 0) throw std::runtime_error("no process");
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(in_);
  }

  /// nullopt where it ended or takes too long.
  std::optional<Answer> next() {
    Answer answer;
    if (!receive(&answer.head, sizeof answer.head)) return std::nullopt;
    answer.text.resize(answer.head.text_bytes);
    answer.outputs.resize(answer.head.output_bytes);
    if (!receive(answer.text.data(), answer.text.size())) return std::nullopt;
    if (!receive(answer.outputs.data(), answer.outputs.size())) return std::nullopt;
    return answer;
  }
  bool late() const { return late_; }

 private:
  bool receive(void* data, std::size_t bytes) {
    char* at = static_cast<char*>(data);
    while (bytes > 0) {
      pollfd ready = {in_, POLLIN, 0};
      late_ = poll(&ready, 1, seconds_ * 1000) == 0;
      const ssize_t got = late_ ? 0 : read(in_, at, bytes);
      if (got <= 0) return false;
      at += got, bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

  int seconds_, in_ = -1;
  pid_t pid_ = 0;
  bool late_ = false;
};

std::string status_text(std::int32_t status) {
  return std::to_string(status) + " " + mluOpGetErrorString(static_cast<mluOpStatus_t>(status));
}

std::vector<unsigned char> output_bytes(const Problem& problem) {
  std::vector<unsigned char> all;
  for (const auto& output : problem.outputs) {
    const auto own = output->bytes();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

void put_outputs(Problem& problem, const std::vector<unsigned char>& bytes) {
  std::size_t at = 0;
  for (const auto& output : problem.outputs) {
    const std::size_t size = output->bytes().size();
    if (at + size > bytes.size()) throw std::runtime_error("an answer is too short");
    std::memcpy(output->data(), bytes.data() + at, size);
    at += size;
  }
}

/// "" where the outputs are right for a host or for a device, which places samples in the tensors' type.
std::string mismatch_of(const Problem& problem) {
  std::string text;
  for (const char* const like : {"mlu_emu", "cpu"}) {
    test::Tolerance tolerance = test::tolerance_of(like, problem.dtype());
    tolerance.units = -1;  // a sum in the tensors' own type
    text = test::mismatch(problem, problem.expect(tolerance.coordinates), tolerance);
    if (text.empty()) break;
  }
  return text;
}

/// Holds answers against this library's backends and the reference.
class Judge {
 public:
  explicit Judge(const std::vector<std::string>& beside) : beside_(beside) {
    for (const std::string& backend : beside) handles_.push_back(std::make_unique<test::Handle>(backend));
  }

  LibraryCase judge(const Ask& ask, const Answer& answer) {
    LibraryCase c = named(ask);
    c.status = status_text(answer.head.status);
    const bool ran = answer.head.status == MLUOP_STATUS_SUCCESS;
    Problem problem = test::make_problem(ask.text, ask.dtype);
    if (ask.lost >= 0) problem.inputs[static_cast<std::size_t>(ask.lost)]->lose_data();
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      const mluOpStatus_t own = test::run(problem, *handles_[i]);
      if (i == 0) c.status_here = status_text(own);
      if (i == 0 && own != MLUOP_STATUS_SUCCESS) c.note = std::string("here: ") + mluOpExtGetLastErrorText();
      const bool equal = own == MLUOP_STATUS_SUCCESS && ran && output_bytes(problem) == answer.outputs;
      c.beside.emplace_back(own != MLUOP_STATUS_SUCCESS ? "refused" : equal ? "equal" : "other");
    }
    if (ran && ask.lost < 0) {
      put_outputs(problem, answer.outputs);
      c.record = line_of(test::record_of(problem));
    }
    if (!ran) {
      c.verdict = "refused";
      c.note = answer.text + (c.note.empty() ? "" : "; " + c.note);
    } else if (c.beside[0] == "equal") {
      c.verdict = "equal";
    } else if (ask.lost >= 0) {
      c.verdict = "differs";
      c.note = "it ran; " + c.note;
    } else {
      c.note = mismatch_of(problem);
      c.verdict = c.note.empty() ? "within" : "differs";
    }
    return c;
  }

  LibraryCase crashed(const Ask& ask, bool late) const {
    LibraryCase c = named(ask);
    c.verdict = "crashed";
    c.note = late ? "no answer in time" : "the process ended";
    c.beside.assign(beside_.size(), "-");
    return c;
  }

 private:
  static LibraryCase named(const Ask& ask) {
    LibraryCase c;
    c.text = ask.text.text() + (ask.lost < 0 ? "" : " (data of input " + std::to_string(ask.lost) + " NULL)");
    c.dtype = cases::dtype_name(ask.dtype);
    return c;
  }

  std::vector<std::string> beside_;
  std::vector<std::unique_ptr<test::Handle>> handles_;
};

/// The answers in order; a child that ends is started again behind the call that ended it.
void collect(const LibrarySettings& settings, const std::vector<Ask>& asks,
             const std::function<void(std::size_t, const Answer*, bool late)>& visit) {
  std::size_t next = 0;
  while (next < asks.size()) {
    Child child(settings, next);
    bool began = false;
    while (next < asks.size()) {
      const std::optional<Answer> answer = child.next();
      if (!answer) break;
      began = true;
      if (answer->head.kind == AnswerHead::kBegins) continue;
      visit(next++, &*answer, false);
    }
    if (next == asks.size()) return;
    if (!began) throw std::runtime_error(settings.library + ": it cannot be used: see above");
    visit(next++, nullptr, child.late());
  }
}

}  // namespace

int LibraryResult::count(const std::string& verdict) const {
  return static_cast<int>(std::ranges::count(cases, verdict, &LibraryCase::verdict));
}

int LibraryResult::statuses() const {
  return static_cast<int>(std::ranges::count_if(cases, [](const LibraryCase& c) { return c.other_status(); }));
}

bool LibraryCase::other_status() const {
  return verdict != "crashed" && status != status_here && status_here != status_text(MLUOP_STATUS_SUCCESS);
}

bool LibraryResult::good() const {
  return count("differs") == 0 && count("crashed") == 0 && statuses() == 0;
}

void examine_library(const LibrarySettings& settings, const std::function<void(const LibraryResult&)>& visit) {
  const std::vector<Ask> asks = asks_of(settings);
  Judge judge(settings.beside);
  LibraryResult result;
  collect(settings, asks, [&](std::size_t i, const Answer* answer, bool late) {
    result.op = asks[i].op->op;
    if (answer == nullptr) {
      result.cases.push_back(judge.crashed(asks[i], late));
    } else if (answer->head.kind == AnswerHead::kAbsent) {
      result.absent = true;
    } else {
      result.cases.push_back(judge.judge(asks[i], *answer));
    }
    if (i + 1 < asks.size() && asks[i + 1].op == asks[i].op) return;
    visit(result);
    result = {};
  });
}

}  // namespace mluops::conformance
