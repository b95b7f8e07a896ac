#include "common/op/indice_pairs.h"

#include <algorithm>

#include "common/capture.h"

namespace mluops::op {

Status check_indice_pairs(const TensorArg& pairs, const std::int64_t* indice_num) {
  MLUOPS_RETURN_IF_FINISHED(not_null("indice_num", indice_num));
  MLUOPS_RETURN_IF_FINISHED(has_dtype(pairs, MLUOP_DTYPE_INT32));
  MLUOPS_RETURN_IF_FINISHED(has_dim(pairs, 1, 2, "input and output"));
  const auto& dims = pairs.desc->dims;
  for (std::int64_t k = 0; k < dims[0]; ++k) {
    if (indice_num[k] >= 0 && indice_num[k] <= dims[2]) continue;
    const std::string name = "indice_num[" + std::to_string(k) + "]";
    return in_range(name.c_str(), indice_num[k], 0, dims[2]);
  }
  if (capturing()) note_array("indice_num", MLUOP_DTYPE_INT64, indice_num, dims[0]);
  return Status::go_on();
}

std::int64_t most_pairs(const TensorArg& pairs, const std::int64_t* indice_num) {
  const std::int64_t offsets = pairs.desc->dims[0];
  return offsets == 0 ? 0 : *std::max_element(indice_num, indice_num + offsets);
}

mluopsIndicePairs indice_pairs_of(const TensorArg& pairs, const std::int64_t* indice_num) {
  const auto& dims = pairs.desc->dims;
  return {dims[0], dims[2], static_cast<const std::int32_t*>(pairs.data), indice_num};
}

}  // namespace mluops::op
