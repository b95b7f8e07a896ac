// Integer divisions that the processor refuses: by zero, and of the smallest integer by -1.
#pragma once

namespace neuware {

enum class Division { kNone, kByZero, kOverflow };

/// Completes the division at which SIGFPE stopped a thread in this `ucontext_t`, as processors do that refuse none: by
/// zero, the quotient is 0 and the remainder is the dividend; of the smallest integer by -1, they are itself and 0.
/// kNone: no division is there, and the context is as before.
Division complete_division(void* context);

}  // namespace neuware
