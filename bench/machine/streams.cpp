#include "bench/machine/streams.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/machine/streams.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Four accumulators: a load per cycle is not held back by the XOR chain.
std::uint32_t Read(const float* HWY_RESTRICT from, std::size_t n) {
  const hn::ScalableTag<std::uint32_t> d;
  const std::size_t step = hn::Lanes(d);
  const auto* words = reinterpret_cast<const std::uint32_t*>(from);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (std::size_t i = 0; i < n; i += 4 * step) {
    a = hn::Xor(a, hn::Load(d, words + i));
    b = hn::Xor(b, hn::Load(d, words + i + step));
    c = hn::Xor(c, hn::Load(d, words + i + 2 * step));
    e = hn::Xor(e, hn::Load(d, words + i + 3 * step));
  }
  return hn::GetLane(hn::Xor(hn::Xor(a, b), hn::Xor(c, e)));
}

void Part(float* HWY_RESTRICT to, std::size_t n, float value) {
  const hn::ScalableTag<float> d;
  const auto v = hn::Set(d, value);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) hn::Stream(v, d, to + i);
}

void Fill(float* HWY_RESTRICT to, std::size_t n, float value) {
  Part(to, n, value);
  hwy::FlushStream();
}

void Copy(const float* HWY_RESTRICT from, float* HWY_RESTRICT to, std::size_t n) {
  const hn::ScalableTag<float> d;
  const std::size_t step = hn::Lanes(d);
  for (std::size_t i = 0; i < n; i += 2 * step) {
    hn::Stream(hn::Load(d, from + i), d, to + i);
    hn::Stream(hn::Load(d, from + i + step), d, to + i + step);
  }
  hwy::FlushStream();
}

// Ten chains cover four cycles of latency on two ports with room to spare, and stay in registers everywhere.
float FmaChains(std::int64_t rounds, double* flops) {
  const hn::ScalableTag<float> d;
  const auto x = hn::Set(d, 0.999f), y = hn::Set(d, 0.001f);
  // Different starts: equal chains would be computed once.
  auto a = hn::Set(d, 0.0f), b = hn::Set(d, 0.1f), c = hn::Set(d, 0.2f), e = hn::Set(d, 0.3f), f = hn::Set(d, 0.4f);
  auto g = hn::Set(d, 0.5f), h = hn::Set(d, 0.6f), i = hn::Set(d, 0.7f), j = hn::Set(d, 0.8f), k = hn::Set(d, 0.9f);
  for (std::int64_t r = 0; r < rounds; ++r) {
    a = hn::MulAdd(a, x, y);
    b = hn::MulAdd(b, x, y);
    c = hn::MulAdd(c, x, y);
    e = hn::MulAdd(e, x, y);
    f = hn::MulAdd(f, x, y);
    g = hn::MulAdd(g, x, y);
    h = hn::MulAdd(h, x, y);
    i = hn::MulAdd(i, x, y);
    j = hn::MulAdd(j, x, y);
    k = hn::MulAdd(k, x, y);
  }
  *flops += 2.0 * 10.0 * static_cast<double>(rounds) * static_cast<double>(hn::Lanes(d));
  const auto sum = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(hn::Add(f, g), hn::Add(h, i)));
  return hn::GetLane(hn::Add(sum, hn::Add(j, k)));
}

const char* TargetName() {
  return HWY_TARGET == HWY_AVX3 ? "AVX512" : hwy::TargetName(HWY_TARGET);
}

}  // namespace HWY_NAMESPACE
}  // namespace bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench {
HWY_EXPORT(Read);
HWY_EXPORT(Part);
HWY_EXPORT(Fill);
HWY_EXPORT(Copy);
HWY_EXPORT(FmaChains);
HWY_EXPORT(TargetName);

std::uint32_t stream_read(const float* from, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(Read)(from, n);
}
void stream_fill(float* to, std::size_t n, float value) {
  HWY_DYNAMIC_DISPATCH(Fill)(to, n, value);
}
void stream_part(float* to, std::size_t n, float value) {
  HWY_DYNAMIC_DISPATCH(Part)(to, n, value);
}
void stream_done() {
  hwy::FlushStream();
}
void stream_copy(const float* from, float* to, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(Copy)(from, to, n);
}
float fma_chains(std::int64_t rounds, double* flops) {
  return HWY_DYNAMIC_DISPATCH(FmaChains)(rounds, flops);
}
const char* stream_target() {
  return HWY_DYNAMIC_DISPATCH(TargetName)();
}
}  // namespace bench
#endif
