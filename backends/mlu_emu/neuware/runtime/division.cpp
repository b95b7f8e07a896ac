#include "backends/mlu_emu/neuware/runtime/division.h"

#if defined(__x86_64__)
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#endif

namespace neuware {

#if defined(__x86_64__)
namespace {

/// By the numbers that instructions give registers.
constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
constexpr unsigned kStack = 4, kFrame = 5;  // numbers of RSP and RBP, which stand for other forms of addresses

std::uint64_t thread_pointer() {
  std::uint64_t value = 0;
  asm("mov %%fs:0, %0" : "=r"(value));
  return value;
}

/// div or idiv at the program counter: opcode F6 (bytes) or F7, with 6 or 7 in the middle of the byte behind it.
class Instruction {
 public:
  explicit Instruction(mcontext_t& machine) : machine_(machine), at_(pointer(machine.gregs[REG_RIP])) {
    prefixes();
    const unsigned opcode = take<std::uint8_t>(), modes = take<std::uint8_t>();
    divides_ = (opcode & 0xfeu) == 0xf6u && (modes >> 3u & 7u) >= 6;
    if (!divides_) return;
    bytes_ = opcode == 0xf6u ? 1 : (rex_ & 8u) != 0 ? 8 : narrow_ ? 2 : 4;
    read_divisor(modes);
  }

  bool divides() const { return divides_; }
  bool by_zero() const { return divisor_ == 0; }

  void complete() {
    const std::uint64_t dividend = value(REG_RAX) & mask();
    const std::uint64_t quotient = by_zero() ? 0 : dividend, remainder = by_zero() ? dividend : 0;
    if (bytes_ == 1) {
      set(REG_RAX, remainder << 8u | quotient, 0xffffu);
    } else {
      set(REG_RAX, quotient, mask());
      set(REG_RDX, remainder, mask());
    }
    machine_.gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(at_));
  }

 private:
  static const std::uint8_t* pointer(std::uint64_t address) { return reinterpret_cast<const std::uint8_t*>(address); }
  std::uint64_t value(int at) const { return static_cast<std::uint64_t>(machine_.gregs[at]); }
  std::uint64_t value_of(unsigned number) const { return value(kRegisters[number]); }
  std::uint64_t mask() const { return ~std::uint64_t{0} >> (64u - 8u * bytes_); }

  template <class T>
  T take() {
    T v;
    std::memcpy(&v, at_, sizeof(v));
    at_ += sizeof(v);
    return v;
  }

  void prefixes() {
    for (; *at_ == 0x66 || *at_ == 0x64; ++at_) (*at_ == 0x66 ? narrow_ : of_thread_) = true;
    if ((*at_ & 0xf0u) == 0x40u) rex_ = *at_++;
  }

  void read_divisor(unsigned modes) {
    const unsigned low = modes & 7u, number = low | (rex_ & 1u) << 3u;
    if (modes >> 6u != 3) {
      std::memcpy(&divisor_, pointer(address(modes >> 6u, low)), bytes_);
    } else if (bytes_ == 1 && rex_ == 0 && low >= 4) {
      divisor_ = value_of(low - 4) >> 8u & mask();  // AH, CH, DH, BH
    } else {
      divisor_ = value_of(number) & mask();
    }
  }

  std::uint64_t address(unsigned mode, unsigned low) {
    std::uint64_t sum = of_thread_ ? thread_pointer() : 0;
    const bool scaled = low == kStack;
    if (scaled) {
      const unsigned scale = take<std::uint8_t>(), index = (scale >> 3u & 7u) | (rex_ & 2u) << 2u;
      if (index != kStack) sum += value_of(index) << (scale >> 6u);
      low = scale & 7u;
    }
    if (mode == 0 && low == kFrame) {  // no register: behind the instruction, or, scaled, anywhere
      sum += distance<std::int32_t>();
      return scaled ? sum : sum + reinterpret_cast<std::uintptr_t>(at_);
    }
    sum += value_of(low | (rex_ & 1u) << 3u);
    return mode == 0 ? sum : sum + (mode == 1 ? distance<std::int8_t>() : distance<std::int32_t>());
  }
  template <class T>
  std::uint64_t distance() {
    return static_cast<std::uint64_t>(std::int64_t{take<T>()});
  }

  /// A register of four bytes clears the four above it, a smaller one leaves them.
  void set(int at, std::uint64_t to, std::uint64_t part) {
    const std::uint64_t kept = bytes_ >= 4 ? 0 : value(at) & ~part;
    machine_.gregs[at] = static_cast<greg_t>(kept | to);
  }

  mcontext_t& machine_;
  const std::uint8_t* at_;
  bool divides_ = false, narrow_ = false, of_thread_ = false;
  unsigned rex_ = 0, bytes_ = 4;
  std::uint64_t divisor_ = 0;
};

}  // namespace

Division complete_division(void* context) {
  Instruction instruction(static_cast<ucontext_t*>(context)->uc_mcontext);
  if (!instruction.divides()) return Division::kNone;
  instruction.complete();
  return instruction.by_zero() ? Division::kByZero : Division::kOverflow;
}
#else
Division complete_division(void*) {
  return Division::kNone;
}
#endif

}  // namespace neuware
