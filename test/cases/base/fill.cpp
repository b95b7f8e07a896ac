#include "test/cases/base/fill.h"

#include <memory>
#include <utility>

#include "test/cases/base/parallel.h"

namespace mluops::cases {
namespace {

constexpr std::int64_t kGrain = 65536;  // elements a thread of its own is worth

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

double unit_random(std::uint64_t seed, std::int64_t i) {
  return static_cast<double>(mix(seed * 0xd1342543de82ef95u + static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
}

Fill uniform(double low, double high, std::uint64_t seed) {
  return [=](std::int64_t i) { return low + unit_random(seed, i) * (high - low); };
}

Fill integers(std::int64_t low, std::int64_t high, std::uint64_t seed) {
  const double choices = static_cast<double>(high - low + 1);
  return [=](std::int64_t i) {
    return static_cast<double>(low + static_cast<std::int64_t>(unit_random(seed, i) * choices));
  };
}

Fill given(reference::Values values) {
  return [values = std::make_shared<const reference::Values>(std::move(values))](std::int64_t i) {
    return values->at(static_cast<std::size_t>(i));
  };
}

reference::Values values_of(const Fill& fill, std::int64_t count) {
  reference::Values values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = fill(i);
  return values;
}

void write(const Fill& fill, mluOpDataType_t dtype, std::int64_t count, void* to) {
  parallel_slices(count, kGrain, [&](std::int64_t begin, std::int64_t end) { store(dtype, fill, begin, end, to); });
}

}  // namespace mluops::cases
