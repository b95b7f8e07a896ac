// What the handles and descriptors of operations hold.
#pragma once

#include <vector>

#include "backends/mlu_emu/neuware/cnnl/tensor.h"

struct cnnlContext {
  cnrtQueue_t queue = nullptr;
};
struct cnnlTransposeStruct {
  std::vector<int> permute;
};
struct cnnlReduceStruct {
  cnnlReduceOp_t op = CNNL_REDUCE_ADD;
  std::vector<int> axes;
};
struct cnnlOpTensorStruct {
  cnnlOpTensorDesc_t op = CNNL_OP_TENSOR_ADD;
};
struct cnnlUniqueStruct {
  int dim = 0;
  bool inverse = false, counts = false;
};
struct cnnlMatMulStruct {
  bool transpose_a = false, transpose_b = false;
};
/// There is one algorithm.
struct cnnlMatMulAlgoStruct {};
struct cnnlMatMulHeuristicResult {};
