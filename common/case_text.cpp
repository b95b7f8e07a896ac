#include "common/case_text.h"

#include <algorithm>

namespace mluops::op {

std::string short_dtype_name(mluOpDataType_t dtype) {
  std::string name = dtype_name(dtype);  // "DTYPE_FLOAT"
  name.erase(0, name.find('_') + 1);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return name;
}

}  // namespace mluops::op
