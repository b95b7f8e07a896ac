// Conversions of host data between the runtime's types.
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/mlu_emu/bang/bfloat16.h"
#include "backends/mlu_emu/bang/half.h"
#include "backends/mlu_emu/neuware/include/cnrt.h"
#include "backends/mlu_emu/neuware/runtime/errors.h"
#include "backends/mlu_emu/neuware/runtime/handles.h"
#include "common/round.h"

struct cnrtQuantizedParam {
  int position;
  float scale;
  int offset;
};

namespace neuware {
namespace {

/// visit(T()) for the type; false for one that is unknown.
template <class Visit>
bool with_type(cnrtDataType_V2_t type, Visit&& visit) {
  switch (type) {
    case cnrtBoolean:
    case cnrtUchar:
      return visit(std::uint8_t()), true;
    case cnrtChar:
      return visit(std::int8_t()), true;
    case cnrtShort:
      return visit(std::int16_t()), true;
    case cnrtUshort:
      return visit(std::uint16_t()), true;
    case cnrtInt:
      return visit(std::int32_t()), true;
    case cnrtUint:
      return visit(std::uint32_t()), true;
    case cnrtLonglong:
      return visit(std::int64_t()), true;
    case cnrtUlonglong:
      return visit(std::uint64_t()), true;
    case cnrtHalf:
      return visit(mluops::emu::bang::half()), true;
    case cnrtBfloat:
      return visit(mluops::emu::bang::bfloat16_t()), true;
    case cnrtFloat:
      return visit(float()), true;
    case cnrtDouble:
      return visit(double()), true;
  }
  return false;
}

double round_whole(double x, cnrtRoundingMode_t mode) {
  switch (mode) {
    case cnrtRounding_tz:
      return std::trunc(x);
    case cnrtRounding_dn:
      return std::floor(x);
    case cnrtRounding_up:
      return std::ceil(x);
    case cnrtRounding_rd:
      return mluops::round_half_away(x);
    case cnrtRounding_rm:
      break;
  }
  return std::nearbyint(x);
}

template <class I>
I saturate(double x) {
  constexpr auto kLow = static_cast<double>(std::numeric_limits<I>::min());
  constexpr auto kHigh = static_cast<double>(std::numeric_limits<I>::max());
  if (x != x) return 0;
  if (x <= kLow) return std::numeric_limits<I>::min();
  return x >= kHigh ? std::numeric_limits<I>::max() : static_cast<I>(x);
}

template <class To, class From>
To cast(From x, const cnrtQuantizedParam* q, cnrtRoundingMode_t mode) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From> && sizeof(To) >= sizeof(From)) {
    if (q == nullptr) return static_cast<To>(x);
  }
  auto value = static_cast<double>(x);
  if (q != nullptr && std::is_integral_v<From>) value = (value - q->offset) * std::exp2(q->position) / q->scale;
  if (q != nullptr && std::is_integral_v<To>) value = value * q->scale / std::exp2(q->position) + q->offset;
  if constexpr (std::is_integral_v<To>) return saturate<To>(round_whole(value, mode));
  if constexpr (!std::is_integral_v<To>) return static_cast<To>(value);
}

template <class To, class From>
void cast_all(const void* src, void* dst, int count, const cnrtQuantizedParam* q, cnrtRoundingMode_t mode) {
  for (int i = 0; i < count; ++i) {
    From x;
    std::memcpy(&x, static_cast<const char*>(src) + static_cast<std::size_t>(i) * sizeof(From), sizeof(From));
    const To y = cast<To>(x, q, mode);
    std::memcpy(static_cast<char*>(dst) + static_cast<std::size_t>(i) * sizeof(To), &y, sizeof(To));
  }
}

}  // namespace
}  // namespace neuware

extern "C" {

cnrtRet_t cnrtCreateQuantizedParam(cnrtQuantizedParam_t* param, int position, float scale, int offset) {
  if (param == nullptr || scale == 0) return neuware::keep(cnrtErrorArgsInvalid);
  *param = neuware::Handles<cnrtQuantizedParam>::instance().create(position, scale, offset);
  return neuware::keep(*param == nullptr ? cnrtErrorNoMem : cnrtSuccess);
}
cnrtRet_t cnrtDestroyQuantizedParam(cnrtQuantizedParam_t param) {
  return neuware::keep(neuware::Handles<cnrtQuantizedParam>::instance().destroy(param) ? cnrtSuccess
                                                                                       : cnrtErrorArgsInvalid);
}

cnrtRet_t cnrtCastDataType_V2(const void* src, cnrtDataType_V2_t src_type, void* dst, cnrtDataType_V2_t dst_type,
                              int count, cnrtQuantizedParam_t param, cnrtRoundingMode_t rounding) {
  if (src == nullptr || dst == nullptr || count < 0) return neuware::keep(cnrtErrorArgsInvalid);
  if (param != nullptr && !neuware::Handles<cnrtQuantizedParam>::instance().lives(param)) {
    return neuware::keep(cnrtErrorArgsInvalid);
  }
  bool known = false;
  neuware::with_type(src_type, [&](auto from) {
    known = neuware::with_type(
        dst_type, [&](auto to) { neuware::cast_all<decltype(to), decltype(from)>(src, dst, count, param, rounding); });
  });
  return known ? cnrtSuccess : neuware::keep(cnrtErrorArgsInvalid);
}
}
