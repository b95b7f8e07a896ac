#include <cmath>

#include "common/dtype.h"
#include "common/op/elementwise.h"

namespace mluops::op {
namespace {

/// HALF, FLOAT, INT32, EXTENDED also DOUBLE and BFLOAT16; `more` in the text where the operator has another.
Status has_real_dtype(const TensorArg& t, mluOpExtContract_t contract, const char* more) {
  const mluOpDataType_t dtype = t.desc->dtype;
  if (dtype == MLUOP_DTYPE_INT32 || !has_float_dtype(t, contract).failed()) return Status::go_on();
  const bool extended = contract == MLUOP_EXT_CONTRACT_EXTENDED;
  return Status::bad_param(text_of(t.name, ": wanted dtype DTYPE_HALF, DTYPE_FLOAT, DTYPE_INT32", more,
                                   extended ? ", DTYPE_DOUBLE or DTYPE_BFLOAT16" : "", ", got ", dtype_name(dtype)));
}

}  // namespace

Status have_abs_dtypes(const TensorArg& x, const TensorArg& y, mluOpExtContract_t contract) {
  if (x.desc->dtype == MLUOP_DTYPE_COMPLEX_FLOAT) return has_dtype(y, MLUOP_DTYPE_FLOAT);
  MLUOPS_RETURN_IF_FINISHED(has_real_dtype(x, contract, ", DTYPE_COMPLEX_FLOAT"));
  return same_dtype(y, x);
}

Status has_logspace_dtype(const TensorArg& res, mluOpExtContract_t contract) {
  return has_real_dtype(res, contract, "");
}

Status has_finite_base(const Scalar& base) {
  if (std::isfinite(base.value)) return Status::go_on();
  return Status::bad_param(text_of("base: wanted a finite number, got ", base.value));
}

std::int64_t elements_of(const TensorArg& t) {
  return static_cast<std::int64_t>(t.desc->elements);
}

}  // namespace mluops::op
