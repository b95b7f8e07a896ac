// Instructions of inline MLISA on operands of every kind: what is not modelled or leaves a buffer is a fault that names
// the kernel.
#include <array>

#include "backends/mlu_emu/bang/bang.h"
#include "backends/mlu_emu/device/context.h"
#include "backends/mlu_emu/neuware/include/neuware.h"
#include "test/fuzz/targets/target.h"
#include "test/fuzz/targets/words.h"

namespace mluops::test {
namespace {

/// A byte names one of them, or stands for itself.
constexpr std::array kWords = {
    "fuse.nram.f32",
    "fuse.nram.f16",
    "fuse.nram.s32",
    "fuse.nram.u32",
    "div.scalar.nram.f32",
    "div.scalar.nram.f16",
    "index.vvr.f32",
    "findlast1.gpr.b32",
    "sync",
    "gather.vector.nram.nram.nram.u32",
    "[%[x]]",
    "[%[y]]",
    "[%[null]]",
    "%[n]",
    "%[many]",
    "%[real]",
    "%[nan]",
    "%[out]",
    "%[vector]",
    "%[none]",
    ".add(",
    ".sub(",
    ".mul(",
    ".and(",
    ".or(",
    ".xor(",
    ".eq(",
    ".lt(",
    ".ge(",
    ")",
    "(",
    "[",
    "]",
    ", ",
    ";",
    "%",
    "0",
    "-1",
    "64",
    "1e300",
};

void run(const std::string& text, char* nram) {
  constexpr std::int64_t kApart = 4096;
  float* const none = nullptr;
  std::uint32_t out = 0;
  emu::bang::vv_float vector{};
  neuware::Mlisa(text.c_str())
      .operand("x", "r", nram)
      .operand("y", "r", nram + kApart)
      .operand("null", "r", none)
      .operand("n", "r", 64)
      .operand("many", "r", std::int64_t{1} << 62)
      .operand("real", "r", 0.5f)
      .operand("nan", "r", __builtin_nan(""))
      .operand("out", "=r", out)
      .operand("vector", "=r", vector)
      .run();
}

}  // namespace

void fuzz_mlisa(const std::uint8_t* data, std::size_t size) {
  static emu::Context context;
  context.settings.set("check", "memory,race,overlap");  // its memory holds whatever was there
  emu::LaunchSpec spec;
  spec.kernel = "fuzz";
  spec.x = 1;
  const std::string text = text_of_words(kWords, data, size);
  context.begin_call("fuzz");
  const std::string fault = context.run(spec, 1, [&](char* nram) { run(text, nram); });
  require_harmless(fault.empty() || fault.find("fuzz") != std::string::npos ? "" : "a fault without a kernel: " + fault,
                   text);
}

}  // namespace mluops::test
