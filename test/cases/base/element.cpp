#include "test/cases/base/element.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace mluops::cases {
namespace {

struct Format {
  int fraction_bits;
  int min_exponent;
  double max;
};

Format format_of(mluOpDataType_t dtype) {
  switch (dtype) {
    case MLUOP_DTYPE_HALF:
      return {10, -14, 65504};
    case MLUOP_DTYPE_BFLOAT16:
      return {7, -126, std::ldexp(255, 120)};
    case MLUOP_DTYPE_FLOAT:
      return {23, -126, std::numeric_limits<float>::max()};
    default:
      return {52, -1022, std::numeric_limits<double>::max()};
  }
}

std::uint16_t bits16(mluOpDataType_t dtype, double value) {
  const int fraction_bits = format_of(dtype).fraction_bits;
  const int exponent_bits = 15 - fraction_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const std::uint16_t infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1 << (fraction_bits - 1)));
  const double magnitude = std::fabs(rounded(dtype, value));
  if (std::isinf(magnitude)) return sign | infinity;
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), format_of(dtype).min_exponent);
  const int scaled = static_cast<int>(std::ldexp(magnitude, fraction_bits - exponent));
  const int exponent_field = exponent + bias - 1;  // the leading one of `scaled` carries into it
  return static_cast<std::uint16_t>(sign | ((exponent_field << fraction_bits) + scaled));
}

template <class T, class Convert>
void store_as(const Elements& value, std::int64_t begin, std::int64_t end, void* data, Convert convert) {
  char* bytes = static_cast<char*>(data) + begin * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t i = begin; i < end; ++i, bytes += sizeof(T)) {
    const T element = convert(value(i));
    std::memcpy(bytes, &element, sizeof element);
  }
}

}  // namespace

bool is_float(mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_HALF || dtype == MLUOP_DTYPE_BFLOAT16 || dtype == MLUOP_DTYPE_FLOAT ||
         dtype == MLUOP_DTYPE_DOUBLE;
}

std::size_t element_size(mluOpDataType_t dtype) {
  std::size_t size = 0;
  mluOpGetSizeOfDataType(dtype, &size);
  return size;
}

double spacing(mluOpDataType_t dtype, double value) {
  const Format f = format_of(dtype);
  const int exponent = value == 0 || !std::isfinite(value) ? f.min_exponent : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, f.min_exponent) - f.fraction_bits);
}

double rounded(mluOpDataType_t dtype, double value) {
  if (dtype == MLUOP_DTYPE_DOUBLE || !is_float(dtype)) return value;
  if (dtype == MLUOP_DTYPE_FLOAT) return static_cast<float>(value);
  if (value == 0 || !std::isfinite(value)) return value;
  const double step = spacing(dtype, value);
  const double nearest = std::nearbyint(value / step) * step;
  if (std::fabs(nearest) <= format_of(dtype).max) return nearest;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

void store(mluOpDataType_t dtype, const Elements& value, std::int64_t begin, std::int64_t end, void* data) {
  switch (dtype) {
    case MLUOP_DTYPE_DOUBLE:
      return store_as<double>(value, begin, end, data, [](double v) { return v; });
    case MLUOP_DTYPE_FLOAT:
      return store_as<float>(value, begin, end, data, [](double v) { return static_cast<float>(v); });
    case MLUOP_DTYPE_INT32:
      return store_as<std::int32_t>(value, begin, end, data, [](double v) { return static_cast<std::int32_t>(v); });
    case MLUOP_DTYPE_BOOL:
      return store_as<std::uint8_t>(value, begin, end, data, [](double v) { return std::uint8_t{v != 0}; });
    case MLUOP_DTYPE_INT64:
      return store_as<std::int64_t>(value, begin, end, data, [](double v) { return static_cast<std::int64_t>(v); });
    default:
      return store_as<std::uint16_t>(value, begin, end, data, [=](double v) { return bits16(dtype, v); });
  }
}

void encode(mluOpDataType_t dtype, const reference::Values& values, void* data) {
  store(
      dtype, [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; }, 0,
      static_cast<std::int64_t>(values.size()), data);
}

std::string dtype_name(mluOpDataType_t dtype) {
  switch (dtype) {
    case MLUOP_DTYPE_HALF:
      return "half";
    case MLUOP_DTYPE_FLOAT:
      return "float";
    case MLUOP_DTYPE_DOUBLE:
      return "double";
    case MLUOP_DTYPE_BFLOAT16:
      return "bfloat16";
    case MLUOP_DTYPE_INT32:
      return "int32";
    case MLUOP_DTYPE_BOOL:
      return "bool";
    case MLUOP_DTYPE_INT64:
      return "int64";
    default:
      return "other";
  }
}

}  // namespace mluops::cases
