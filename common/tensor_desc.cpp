#include "common/tensor_desc.h"

namespace mluops {

int rank(const TensorDesc& t) {
  return static_cast<int>(t.dims.size());
}

bool is_contiguous(const TensorDesc& t) {
  if (t.elements == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t i = t.dims.size(); i-- > 0;) {
    if (t.dims[i] != 1 && t.strides[i] != expected) return false;
    if (__builtin_mul_overflow(expected, t.dims[i], &expected)) return i == 0;
  }
  return true;
}

std::string dims_text(const TensorDesc& t) {
  std::string text = "[";
  for (std::size_t i = 0; i < t.dims.size(); ++i) text += (i ? ", " : "") + std::to_string(t.dims[i]);
  return text + "]";
}

}  // namespace mluops
