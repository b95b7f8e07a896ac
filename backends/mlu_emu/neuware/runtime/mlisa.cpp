// Inline MLISA: an interpreter of the instruction forms that are known; any other is a fault that shows its text.
#include <bit>
#include <cstring>
#include <string_view>

#include "backends/mlu_emu/bang/operands.h"
#include "backends/mlu_emu/bang/words.h"
#include "backends/mlu_emu/neuware/include/neuware.h"

namespace neuware {
namespace {

namespace bang = mluops::emu::bang;
using bang::half;
using Operand = Mlisa::Operand;

/// The text without white space and line breaks.
std::string compact(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n') out += c;
  }
  return out;
}

/// One instruction: its name, and its operands as they are written.
struct Instruction {
  std::string name;
  std::vector<std::string> arguments;
};

Instruction parse(const std::string& text) {
  Instruction in;
  const std::size_t name_end = std::min(text.size(), text.find_first_of("[%"));
  in.name = text.substr(0, name_end);
  int depth = 0;
  std::string argument;
  for (const char c : text.substr(name_end)) {
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c == ',' && depth == 0) {
      in.arguments.push_back(std::move(argument));
      argument.clear();
    } else {
      argument += c;
    }
  }
  if (!argument.empty()) in.arguments.push_back(std::move(argument));
  return in;
}

/// One instruction at work on its operands.
class Interpreter {
 public:
  Interpreter(const std::string& text, const Instruction& in, const std::vector<Operand>& operands)
      : text_(text), in_(in), operands_(operands) {}

  void run() {
    if (in_.name == "sync") return bang::__sync();
    if (in_.name == "findlast1.gpr.b32") return find_last();
    if (in_.name == "index.vvr.f32") return index();
    if (in_.name == "div.scalar.nram.f32") return divide<float>("div.scalar.nram.f32");
    if (in_.name == "div.scalar.nram.f16") return divide<half>("div.scalar.nram.f16");
    if (in_.name == "fuse.nram.f32") return fuse<float>("fuse.nram.f32");
    if (in_.name == "fuse.nram.f16") return fuse<half>("fuse.nram.f16");
    if (in_.name == "fuse.nram.s32") return fuse<std::int32_t>("fuse.nram.s32");
    if (in_.name == "fuse.nram.u32") return fuse<std::uint32_t>("fuse.nram.u32");
    if (in_.name == "gather.vector.nram.nram.nram.u32") return gather();
    unknown();
  }

 private:
  [[noreturn]] void unknown() const {
    mluops::emu::Core::current().fault("inline MLISA", "this instruction is not modelled: " + text_);
  }
  void want_arguments(std::size_t count) const {
    if (in_.arguments.size() != count) unknown();
  }

  // The names of words outlive the launch: the timeline keeps them.

  /// "%[name]"
  const Operand& named(std::string_view written) const {
    for (const Operand& o : operands_) {
      if (written == "%[" + o.name + "]") return o;
    }
    unknown();
  }
  double number(const std::string& written) const {
    if (!written.empty() && written[0] != '%') return std::strtod(written.c_str(), nullptr);
    return named(written).number;
  }
  /// A number that a register of 64 bits holds.
  std::int64_t count(const std::string& written) const {
    constexpr double kBeyond = 0x1p63;
    const double value = number(written);
    if (!(value >= -kBeyond && value < kBeyond)) unknown();
    return static_cast<std::int64_t>(value);
  }
  /// "[%[name]]", or null for a number.
  void* memory(std::string_view written) const {
    if (written.size() < 2 || written.front() != '[') return nullptr;
    return named(written.substr(1, written.size() - 2)).pointer;
  }
  template <class T>
  T* lanes(const std::string& written) const {
    void* p = memory(written);
    if (p == nullptr) unknown();
    return static_cast<T*>(p);
  }

  /// Index of the highest bit that is set; all ones for 0.
  void find_last() const {
    want_arguments(2);
    const Operand& to = named(in_.arguments[0]);
    const auto value = static_cast<std::uint32_t>(count(in_.arguments[1]));
    const auto result = static_cast<std::uint32_t>(std::bit_width(value)) - 1;
    if (to.object == nullptr || to.bytes != sizeof(result)) unknown();
    std::memcpy(to.object, &result, sizeof(result));
  }

  void index() const {
    want_arguments(3);
    const Operand& to = named(in_.arguments[0]);
    if (to.object == nullptr || to.bytes != sizeof(bang::vv_float)) unknown();
    bang::__vv_index(*static_cast<bang::vv_float*>(to.object), static_cast<float>(number(in_.arguments[1])),
                     static_cast<float>(number(in_.arguments[2])));
  }

  void gather() const {
    want_arguments(6);
    bang::__gather(lanes<char>(in_.arguments[0]), lanes<char>(in_.arguments[1]), lanes<std::uint32_t>(in_.arguments[2]),
                   count(in_.arguments[3]), bang::NRAM2NRAM, count(in_.arguments[5]), count(in_.arguments[4]));
  }

  template <class T>
  void divide(const char* name) const {
    want_arguments(4);
    T* dst = lanes<T>(in_.arguments[0]);
    const T* src = lanes<T>(in_.arguments[1]);
    const auto by = static_cast<bang::Wide<T>>(T(number(in_.arguments[2])));
    const std::int64_t n = count(in_.arguments[3]);
    bang::Word word(name);
    word.lanes(dst, src, n);
    bang::map(dst, src, n, [=](bang::Wide<T> x) { return x / by; });
  }

  // ---- fuse: one operation after the other on each lane ----

  template <class T>
  struct Step {
    T (*apply)(T, T);
    const T* vector;
    T value;
  };

  /// ".mul(%[x])", ".sub([%[y]])"
  template <class T>
  Step<T> step(const std::string& written) const {
    const std::size_t open = written.find('(');
    if (written.size() < 3 || written[0] != '.' || open == std::string::npos || written.back() != ')') unknown();
    Step<T> s{operation<T>(written.substr(1, open - 1)), nullptr, T(0)};
    const std::string argument = written.substr(open + 1, written.size() - open - 2);
    s.vector = static_cast<const T*>(memory(argument));
    if (s.vector != nullptr) return s;
    if constexpr (std::is_integral_v<T>) {
      s.value = static_cast<T>(count(argument));
    } else {
      s.value = T(number(argument));
    }
    return s;
  }

  /// Each operation rounds in the lanes' type; integers wrap around.
  template <class T>
  auto operation(const std::string& op) const -> T (*)(T, T) {
    using N = std::conditional_t<std::is_integral_v<T>, std::uint32_t, bang::Wide<T>>;
    if (op == "add") return [](T a, T b) { return static_cast<T>(static_cast<N>(a) + static_cast<N>(b)); };
    if (op == "sub") return [](T a, T b) { return static_cast<T>(static_cast<N>(a) - static_cast<N>(b)); };
    if (op == "mul") return [](T a, T b) { return static_cast<T>(static_cast<N>(a) * static_cast<N>(b)); };
    if (op == "eq") return [](T a, T b) { return T(a == b); };
    if (op == "ne") return [](T a, T b) { return T(a != b); };
    if (op == "lt") return [](T a, T b) { return T(a < b); };
    if (op == "le") return [](T a, T b) { return T(a <= b); };
    if (op == "gt") return [](T a, T b) { return T(a > b); };
    if (op == "ge") return [](T a, T b) { return T(a >= b); };
    if constexpr (std::is_integral_v<T>) {
      if (op == "and") return [](T a, T b) { return static_cast<T>(a & b); };
      if (op == "or") return [](T a, T b) { return static_cast<T>(a | b); };
      if (op == "xor") return [](T a, T b) { return static_cast<T>(a ^ b); };
    }
    unknown();
  }

  template <class T>
  void fuse(const char* name) const {
    if (in_.arguments.size() < 4) unknown();
    T* dst = lanes<T>(in_.arguments[0]);
    const std::int64_t n = count(in_.arguments[1]);
    const T* src = lanes<T>(in_.arguments[2]);
    std::vector<Step<T>> steps;
    for (std::size_t i = 3; i < in_.arguments.size(); ++i) steps.push_back(step<T>(in_.arguments[i]));
    bang::Word word(name);
    word.count(n);
    word.source(src, n);
    for (const Step<T>& s : steps) {
      if (s.vector != nullptr) word.source(s.vector, n, "operand");
    }
    word.destination(dst, n);
    for (std::int64_t i = 0; i < n; ++i) {
      T lane = src[i];
      for (const Step<T>& s : steps) lane = s.apply(lane, s.vector != nullptr ? s.vector[i] : s.value);
      dst[i] = lane;
    }
  }

  const std::string& text_;
  const Instruction& in_;
  const std::vector<Operand>& operands_;
};

}  // namespace

void Mlisa::run() {
  const std::string text = compact(text_);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.size(), text.find(';', begin));
    const Instruction in = parse(text.substr(begin, end - begin));
    if (!in.name.empty()) Interpreter(text_, in, operands_).run();
    begin = end + 1;
  }
}

}  // namespace neuware
