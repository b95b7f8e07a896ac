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
struct cnnlNmsStruct {
  int box_mode = 0, output_mode = 0, input_layout = 0, max_output_size = 0;
  float iou_threshold = 0, confidence_threshold = 0, offset = 0;
  bool pad = false;
};
struct cnnlDCNStruct {
  int pad[4] = {}, stride[2] = {}, dilation[2] = {};
  int parts = 0, groups = 0;  // of channels: with offsets, and with filters of their own
};
struct cnnlRoiAlignStruct {
  int pooled_h = 0, pooled_w = 0, sampling_ratio = 0;
  float spatial_scale = 0;
  bool mean = true, aligned = true;
};
/// There is one algorithm.
struct cnnlMatMulAlgoStruct {};
struct cnnlMatMulHeuristicResult {};
