#include "bench/cases/case.h"

#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "bench/cases/builders.h"
#include "bench/machine/parallel.h"

namespace bench {
namespace {

// A counter-based generator: element i is computed alone, so filling needs no order.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

double unit(std::uint64_t seed, std::int64_t i) {
  return static_cast<double>(mix(seed * 0xd1342543de82ef95u + static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
}

double value_of(const Fill& fill, std::int64_t i) {
  if (fill.kind == Fill::Kind::given) return (*fill.values)[static_cast<std::size_t>(i)];
  const double u = unit(fill.seed, i);
  if (fill.kind == Fill::Kind::uniform) return fill.low + u * (fill.high - fill.low);
  return fill.low + static_cast<double>(static_cast<std::int64_t>(u * (fill.high - fill.low + 1)));
}

// All 65536 half values, by their bits.
const Values& half_values() {
  static const Values table = [] {
    std::vector<std::uint16_t> bits(65536);
    std::iota(bits.begin(), bits.end(), std::uint16_t{0});
    return mluops::reference::decode(MLUOP_DTYPE_HALF, bits.data(), 65536);
  }();
  return table;
}

// Nearest half, ties to even; subnormals share the spacing of the smallest normals.
std::uint16_t half_bits(double value) {
  if (value == 0) return 0;
  const int exponent = std::max(std::ilogb(value), -14);
  const double steps = std::nearbyint(std::ldexp(std::fabs(value), 10 - exponent));
  const int bits = std::min(0x7c00, (exponent + 14) * 1024 + static_cast<int>(steps));
  return static_cast<std::uint16_t>(value < 0 ? bits | 0x8000 : bits);
}

void store(mluOpDataType_t dtype, void* to, std::int64_t i, double value) {
  if (dtype == MLUOP_DTYPE_FLOAT) {
    static_cast<float*>(to)[i] = static_cast<float>(value);
  } else if (dtype == MLUOP_DTYPE_INT32) {
    static_cast<std::int32_t*>(to)[i] = static_cast<std::int32_t>(value);
  } else {
    static_cast<std::uint16_t*>(to)[i] = half_bits(value);
  }
}

}  // namespace

double unit_random(std::uint64_t seed, std::int64_t i) {
  return unit(seed, i);
}

std::string bracketed(const std::vector<std::int64_t>& dims) {
  std::string text = "[";
  for (const std::int64_t d : dims) text.append(std::to_string(d)).append(",");
  text.back() = ']';
  return text;
}

Fill uniform(double low, double high, std::uint64_t seed) {
  return {Fill::Kind::uniform, low, high, seed, nullptr};
}

Fill integers(std::int64_t low, std::int64_t high, std::uint64_t seed) {
  return {Fill::Kind::integers, static_cast<double>(low), static_cast<double>(high), seed, nullptr};
}

Fill given(std::vector<float> values) {
  return {Fill::Kind::given, 0, 0, 0, std::make_shared<const std::vector<float>>(std::move(values))};
}

std::int64_t Tensor::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= d;
  return count;
}

std::int64_t Tensor::bytes() const {
  return elements() * dtype_size(dtype);
}

void Tensor::visit_touched(const RunVisitor& visit) const {
  if (is_output() || touched == 0) return;
  if (runs) return runs(visit);
  visit(0, static_cast<std::int64_t>(std::llround(touched * static_cast<double>(elements()))));
}

double Case::read_bytes() const {
  double sum = 0;
  for (const Tensor& t : tensors) sum += t.is_output() ? 0 : t.touched * static_cast<double>(t.bytes());
  return sum;
}

double Case::write_bytes() const {
  double sum = 0;
  for (const Tensor& t : tensors) sum += t.is_output() ? static_cast<double>(t.bytes()) : 0;
  return sum;
}

double Case::all_bytes() const {
  double sum = 0;
  for (const Tensor& t : tensors) sum += static_cast<double>(t.bytes());
  return sum;
}

const char* dtype_name(mluOpDataType_t dtype) {
  if (dtype == MLUOP_DTYPE_HALF) return "half";
  return dtype == MLUOP_DTYPE_INT32 ? "int32" : "float";
}

std::int64_t dtype_size(mluOpDataType_t dtype) {
  return dtype == MLUOP_DTYPE_HALF ? 2 : 4;
}

void fill_tensor(const Tensor& tensor, void* to) {
  if (tensor.fill.values && static_cast<std::int64_t>(tensor.fill.values->size()) != tensor.elements()) {
    throw std::logic_error(tensor.name + ": wrong number of given values");
  }
  parallel_slices(tensor.elements(), 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) store(tensor.dtype, to, i, value_of(tensor.fill, i));
  });
}

double element(mluOpDataType_t dtype, const void* data, std::int64_t i) {
  if (dtype == MLUOP_DTYPE_FLOAT) return static_cast<double>(static_cast<const float*>(data)[i]);
  if (dtype == MLUOP_DTYPE_INT32) return static_cast<double>(static_cast<const std::int32_t*>(data)[i]);
  return half_values()[static_cast<const std::uint16_t*>(data)[i]];
}

Values elements(mluOpDataType_t dtype, const void* data, std::int64_t count) {
  Values values(static_cast<std::size_t>(count));
  parallel_slices(count, 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) values[static_cast<std::size_t>(i)] = element(dtype, data, i);
  });
  return values;
}

double rounded(mluOpDataType_t dtype, double value) {
  std::uint32_t bytes = 0;
  store(dtype, &bytes, 0, value);
  return element(dtype, &bytes, 0);
}

}  // namespace bench
