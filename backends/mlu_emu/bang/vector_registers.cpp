#include "backends/mlu_emu/bang/vector_registers.h"

#include <algorithm>

#include "backends/mlu_emu/bang/operands.h"

namespace mluops::emu::bang {
namespace {

void check_lanes(const Word& word, std::int64_t n, std::int64_t most) {
  if (n < 0 || n > most) word.fault("a register has " + std::to_string(most) + " lanes, not " + std::to_string(n));
}

}  // namespace

template <class T>
void __vv_store(T* nram, const VectorRegister<T>& src, std::int64_t n) {
  Word word(__func__);
  check_lanes(word, n, VectorRegister<T>::kLanes);
  word.destination(nram, n);
  std::copy_n(src.lane, n, nram);
}
template <class T>
void __vv_load(VectorRegister<T>& dst, const T* nram, std::int64_t n) {
  Word word(__func__);
  check_lanes(word, n, VectorRegister<T>::kLanes);
  word.decider(nram, n);
  std::copy_n(nram, n, dst.lane);
}

#define REGISTER(T)                                                     \
  template void __vv_store(T*, const VectorRegister<T>&, std::int64_t); \
  template void __vv_load(VectorRegister<T>&, const T*, std::int64_t)
REGISTER(half);
REGISTER(float);
REGISTER(std::int16_t);
REGISTER(std::uint16_t);
REGISTER(std::int32_t);
REGISTER(std::uint32_t);

}  // namespace mluops::emu::bang
