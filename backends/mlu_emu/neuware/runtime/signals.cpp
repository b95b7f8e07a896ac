#include "backends/mlu_emu/neuware/runtime/signals.h"

#include <execinfo.h>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "backends/mlu_emu/device/core.h"
#include "backends/mlu_emu/neuware/runtime/c_library.h"
#include "backends/mlu_emu/neuware/runtime/division.h"
#include "backends/mlu_emu/neuware/runtime/memory.h"
#include "backends/mlu_emu/neuware/runtime/source_line.h"

namespace neuware {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int kMostFrames = 48;

struct Crash {
  int signal, code, frames;
  const void* address;
  void* frame[kMostFrames];
};

/// A place at which a task divided by zero, or the smallest integer by -1.
struct Divided {
  Division how;
  void* frame[kMostFrames];
  int frames;
};

/// Where a task that cannot go on lands, and where it divided.
struct Landing {
  static constexpr int kMostDivided = 8;
  sigjmp_buf buffer;
  Divided divided[kMostDivided];
  int divisions = 0;
};

// In the library's own storage: a handler must not allocate.
__attribute__((tls_model("initial-exec"))) thread_local Landing* landing = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local Crash crash;

struct sigaction before[NSIG];  // as of the first launch
struct sigaction latest[NSIG];  // as of the last one: the program may have put a handler of its own over ours

/// The call of the program's own handler that runs on this thread: it may call the previous handler, which is ours.
struct Passing {
  const void *context, *frame;
};
__attribute__((tls_model("initial-exec"))) thread_local Passing passing = {};

void act(const struct sigaction& old, int signal, siginfo_t* info, void* context) {
  if ((old.sa_flags & SA_SIGINFO) != 0) return old.sa_sigaction(signal, info, context);
  if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) return old.sa_handler(signal);
  sigaction(signal, &old, nullptr);  // the instruction is tried again
  if (info->si_code <= 0) raise(signal);
}

/// The action of the process if this library were not there.
void pass_on(int signal, siginfo_t* info, void* context) {
  const void* const frame = __builtin_frame_address(0);
  if (passing.context == context && frame < passing.frame) return act(before[signal], signal, info, context);
  passing = {context, frame};
  act(latest[signal], signal, info, context);
  passing = {};
}

/// Handles a task that cannot be left: the process ends by the signal.
void tell_last_words() {
  const auto put = [](const char* text) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
  };
  put("[cnrt] [Error] ");
  put(mluops::emu::Core::current().launch().spec.kernel.c_str());
  put(": scalar code failed inside the host's C library, most likely because it had written beyond its memory: "
      "the library's locks are taken, so the process ends\n");
}

const void* program_counter(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(machine.pc);
#else
  return nullptr;
#endif
}

/// The frames from the program counter `at` on, to `frame`. Above lie the handler, the trampoline of signals and, in
/// some builds, what intercepts backtrace.
int frames_from(const void* at, void** frame) {
  const int all = backtrace(frame, kMostFrames);
  const int first = static_cast<int>(std::find(frame, frame + all, at) - frame);
  if (first == all) return all;
  std::copy(frame + first, frame + all, frame);
  return all - first;
}

/// Completes a division and keeps where it was, each place once.
bool completes_division(const void* at, void* context) {
  Divided* const end = landing->divided + landing->divisions;
  const bool known = std::any_of(landing->divided, end, [at](const Divided& d) { return d.frame[0] == at; });
  const bool keep = !known && landing->divisions < Landing::kMostDivided;
  if (keep) end->frames = frames_from(at, end->frame);  // of the context as it is: it goes on behind the division
  const Division how = complete_division(context);
  if (how == Division::kNone) return false;
  if (keep) end->how = how, ++landing->divisions;
  return true;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const bool of_this_thread = info->si_code > 0 || signal == SIGABRT;
  if (landing == nullptr || !of_this_thread) return pass_on(signal, info, context);
  const void* const at = program_counter(context);
  if (signal == SIGFPE && completes_division(at, context)) return;
  crash.signal = signal;
  crash.code = info->si_code;
  crash.address = info->si_addr;
  crash.frames = frames_from(at, crash.frame);
  if (cannot_be_left(crash.frame, crash.frames)) {
    landing = nullptr;
    tell_last_words();
    return pass_on(signal, info, context);
  }
  siglongjmp(landing->buffer, 1);
}

void take_signal(int signal, bool first) {
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  struct sigaction now = {};
  sigaction(signal, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal) return;
  latest[signal] = now;
  if (first) before[signal] = now;
  sigaction(signal, &action, nullptr);
}

/// A stack of its own for the handler on this thread, and where the thread's stack ends.
class Stacks {
 public:
  Stacks() : memory_(new char[kBytes]) {
    stack_t stack = {};
    stack.ss_sp = memory_.get();
    stack.ss_size = kBytes;
    sigaltstack(&stack, nullptr);
    pthread_attr_t attributes;
    void* low = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    low_ = reinterpret_cast<std::uintptr_t>(low);
    kept_ = std::min(kKept, size / 4);
  }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks() {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }

  const void* low() const { return reinterpret_cast<const void*>(low_); }
  /// Bytes from there on: room for a word of the library, and for the unwinder after it.
  std::size_t kept() const { return kept_; }
  /// The address lies where a frame too many would.
  bool used_up(const void* address) const {
    constexpr std::uintptr_t kNear = 1 << 16;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at + kNear >= low_ && at < low_ + kNear;
  }

 private:
  static constexpr std::size_t kBytes = 1 << 16, kKept = 1 << 18;
  std::unique_ptr<char[]> memory_;
  std::uintptr_t low_ = 0;
  std::size_t kept_ = 0;
};

Stacks& stacks() {
  thread_local Stacks instance;
  return instance;
}

std::string what(const Crash& c) {
  constexpr std::uintptr_t kPage = 4096;
  const auto at = reinterpret_cast<std::uintptr_t>(c.address);
  if (c.signal == SIGFPE) return "an exception of floating-point numbers, which the program asked for";
  if (c.signal == SIGABRT) return "aborted: a failed assertion or abort()";
  if (c.signal == SIGILL) return "illegal instruction";
  if (stacks().used_up(c.address)) return "stack overflow: endless recursion or very large local arrays";
  if (c.code == SI_KERNEL) return "accessed an address without memory";
  constexpr int kHexDigits = 2 + 16 + 1;
  char hex[kHexDigits];
  std::snprintf(hex, sizeof(hex), "%#llx", static_cast<unsigned long long>(at));
  if (at < kPage) return std::string("accessed address ") + hex + ", a null pointer";
  const std::string beside = Blocks::instance().near(c.address);
  return std::string("accessed address ") + hex + ", which is memory of neither the device nor the host" +
         (beside.empty() ? "" : ": " + beside);
}

/// Numbers that a memory core does not have may lead there, where kernels let it run code that is meant for the others.
bool went_astray(const Crash& c) {
  return (c.signal == SIGSEGV || c.signal == SIGBUS) && !stacks().used_up(c.address);
}

struct OutOfStack {};

/// setjmp() has this frame alone: nothing here has to be destroyed.
bool landed(const std::function<void()>& task, Landing& here) {
  if (sigsetjmp(here.buffer, 0) != 0) return true;
  landing = &here;
  task();
  return false;
}

bool left_early(const std::function<void()>& task, Landing& here) {
  try {
    return landed(task, here);
  } catch (const OutOfStack&) {
    return true;
  }
}

/// Later faults and warnings of the core are about this place.
std::string act_at(const SourceLine& line) {
  mluops::emu::Core::current().act_at({line.file.empty() ? nullptr : line.file.c_str(), line.line});
  return line.function.empty() ? "" : "in " + line.function + ": ";
}

/// Tasks tell of the same places, and finding out a line starts a program. One task runs at a time.
const SourceLine& line_of(const Divided& d, const void* in_module) {
  static auto& known = *new std::map<const void*, SourceLine>;
  const auto [at, added] = known.try_emplace(d.frame[0]);
  if (added) at->second = source_line(d.frame, d.frames, in_module);
  return at->second;
}

void tell(const Divided& d, const void* in_module) {
  const char* const what = d.how == Division::kByZero
                               ? "divided an integer by zero: the quotient is 0 and the remainder the dividend here, "
                                 "and the guide says nothing of it"
                               : "divided the smallest integer by -1: the quotient is the dividend and the remainder 0 "
                                 "here, and the guide says nothing of it";
  const std::string text = act_at(line_of(d, in_module)) + what;
  const mluops::emu::Core& core = mluops::emu::Core::current();
  const bool for_nothing = core.task().memory_core && core.launch().settings.checks.memory;
  for_nothing ? core.scalars_went_astray(text) : core.warn("scalar code", text);
}

/// However the task ends.
class TellsDivisions {
 public:
  TellsDivisions(const Landing& here, const void* in_module) : here_(here), in_module_(in_module) {}
  TellsDivisions(const TellsDivisions&) = delete;
  TellsDivisions& operator=(const TellsDivisions&) = delete;
  ~TellsDivisions() {
    landing = nullptr;
    for (int i = 0; i < here_.divisions; ++i) tell(here_.divided[i], in_module_);
  }

 private:
  const Landing& here_;
  const void* in_module_;
};

}  // namespace

void leave_used_up_stack() {
  crash.signal = SIGSEGV;
  crash.code = SEGV_MAPERR;
  crash.address = stacks().low();
  crash.frames = backtrace(crash.frame, kMostFrames);
  throw OutOfStack{};
}

void catch_signals() {
  static bool first = true;
  if (first) {
    void* frame[1];
    backtrace(frame, 1);  // loads what it needs
    find_c_library();
  }
  for (const int signal : kSignals) take_signal(signal, first);
  first = false;
}

void run_guarded(const std::function<void()>& task, const void* in_module) {
  mluops::emu::Core& core = mluops::emu::Core::current();
  core.keep_stack(stacks().low(), stacks().kept());
  Landing here;
  const TellsDivisions tells(here, in_module);
  if (!left_early(task, here)) return;
  landing = nullptr;
  const SourceLine line = source_line(crash.frame, crash.frames, in_module);
  const std::string text = act_at(line) + what(crash);
  went_astray(crash) ? core.scalars_went_astray(text) : core.fault("scalar code", text);
}

}  // namespace neuware
