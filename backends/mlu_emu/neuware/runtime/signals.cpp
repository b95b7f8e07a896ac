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
#include <memory>
#include <string>

#include "backends/mlu_emu/device/core.h"
#include "backends/mlu_emu/neuware/runtime/c_library.h"
#include "backends/mlu_emu/neuware/runtime/memory.h"
#include "backends/mlu_emu/neuware/runtime/source_line.h"

namespace neuware {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int kMostFrames = 48;

struct Crash {
  int signal, code, frames, first;
  const void* address;
  void* frame[kMostFrames];
};

// In the library's own storage: a handler must not allocate.
__attribute__((tls_model("initial-exec"))) thread_local sigjmp_buf* landing = nullptr;
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

void on_signal(int signal, siginfo_t* info, void* context) {
  const bool of_this_thread = info->si_code > 0 || signal == SIGABRT;
  if (landing == nullptr || !of_this_thread) return pass_on(signal, info, context);
  crash.signal = signal;
  crash.code = info->si_code;
  crash.address = info->si_addr;
  crash.frames = backtrace(crash.frame, kMostFrames);
  // Above lie the handler, the trampoline of signals and, in some builds, what intercepts backtrace.
  crash.first = 0;
  while (crash.first < crash.frames && crash.frame[crash.first] != program_counter(context)) ++crash.first;
  if (crash.first == crash.frames) crash.first = 0;
  if (cannot_be_left(crash.frame + crash.first, crash.frames - crash.first)) {
    landing = nullptr;
    tell_last_words();
    return pass_on(signal, info, context);
  }
  siglongjmp(*landing, 1);
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
  if (c.signal == SIGFPE) return "divided an integer by zero";
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
  return c.signal == SIGFPE || ((c.signal == SIGSEGV || c.signal == SIGBUS) && !stacks().used_up(c.address));
}

struct OutOfStack {};

/// setjmp() has this frame alone: nothing here has to be destroyed.
bool landed(const std::function<void()>& task, sigjmp_buf& buffer) {
  if (sigsetjmp(buffer, 0) != 0) return true;
  landing = &buffer;
  task();
  return false;
}

bool left_early(const std::function<void()>& task, sigjmp_buf& buffer) {
  try {
    return landed(task, buffer);
  } catch (const OutOfStack&) {
    return true;
  }
}

}  // namespace

void leave_used_up_stack() {
  crash.signal = SIGSEGV;
  crash.code = SEGV_MAPERR;
  crash.address = stacks().low();
  crash.frames = backtrace(crash.frame, kMostFrames);
  crash.first = 0;
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
  mluops::emu::Core::current().keep_stack(stacks().low(), stacks().kept());
  struct Landing {
    sigjmp_buf buffer;
    ~Landing() { landing = nullptr; }
  } here;
  if (!left_early(task, here.buffer)) return;
  landing = nullptr;
  const SourceLine line = source_line(crash.frame + crash.first, crash.frames - crash.first, in_module);
  mluops::emu::Core& core = mluops::emu::Core::current();
  core.act_at({line.file.empty() ? nullptr : line.file.c_str(), line.line});
  const std::string text = (line.function.empty() ? "" : "in " + line.function + ": ") + what(crash);
  went_astray(crash) ? core.scalars_went_astray(text) : core.fault("scalar code", text);
}

}  // namespace neuware
