// Signals of the processor in a kernel's scalar code: wild pointers, divisions by zero, a stack that is used up.
#pragma once

#include <functional>

namespace neuware {

/// To be called before each launch, by one thread at a time: the program may have installed handlers meanwhile. These
/// get the signals of all other code, as if they were the only ones.
void catch_signals();

/// Runs a kernel for a task. Such a signal ends it as a fault whose text says what happened and, as far as it can be
/// found out, at which line; `in_module` is an address in the program or library the kernel lies in. What the kernel's
/// frames hold is not destroyed then. One within the C library's heap, streams or loader ends the process, as their
/// locks would stay taken.
void run_guarded(const std::function<void()>& task, const void* in_module);

/// Ends the task that run_guarded() runs on this thread as one whose stack is used up. Throws, so that locks are
/// released.
[[noreturn]] void leave_used_up_stack();

}  // namespace neuware
