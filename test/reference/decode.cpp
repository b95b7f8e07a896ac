#include <cmath>
#include <cstring>
#include <limits>

#include "test/reference/reference.h"

namespace mluops::reference {
namespace {

// (-1)^sign * 1.fraction * 2^(exponent-bias), for a 16-bit format with the given field widths.
double decode16(std::uint16_t bits, int fraction_bits, int exponent_bits) {
  const int exponent_max = (1 << exponent_bits) - 1;
  const int bias = exponent_max / 2;
  const int exponent = (bits >> fraction_bits) & exponent_max;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  double magnitude;
  if (exponent == exponent_max) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - bias - fraction_bits);
  } else {
    magnitude = std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <class T, class Convert>
Values convert(const void* data, std::int64_t count, Convert one) {
  Values values(static_cast<std::size_t>(count));
  const char* bytes = static_cast<const char*>(data);
  for (double& v : values) {
    T element;
    std::memcpy(&element, bytes, sizeof element);
    bytes += sizeof element;
    v = one(element);
  }
  return values;
}

template <class T>
double widen(T element) {
  return static_cast<double>(element);
}

}  // namespace

Values decode(mluOpDataType_t dtype, const void* data, std::int64_t count) {
  switch (dtype) {
    case MLUOP_DTYPE_HALF:
      return convert<std::uint16_t>(data, count, [](std::uint16_t b) { return decode16(b, 10, 5); });
    case MLUOP_DTYPE_BFLOAT16:
      return convert<std::uint16_t>(data, count, [](std::uint16_t b) { return decode16(b, 7, 8); });
    case MLUOP_DTYPE_FLOAT:
      return convert<float>(data, count, widen<float>);
    case MLUOP_DTYPE_DOUBLE:
      return convert<double>(data, count, widen<double>);
    case MLUOP_DTYPE_INT32:
      return convert<std::int32_t>(data, count, widen<std::int32_t>);
    case MLUOP_DTYPE_BOOL:
      return convert<std::uint8_t>(data, count, widen<std::uint8_t>);
    case MLUOP_DTYPE_UINT32:
      return convert<std::uint32_t>(data, count, widen<std::uint32_t>);
    case MLUOP_DTYPE_INT64:
      return convert<std::int64_t>(data, count, widen<std::int64_t>);
    default:
      return {};
  }
}

}  // namespace mluops::reference
