// Every rule of the arguments of non-maximum suppression. Source: mluOpNms of MLU-OPS 1.11, mmcv's nms, soft_nms and
// nms_match.
#pragma once

#include "common/op/check.h"
#include "mluops/op/nms.h"
#include "mluops/problem/nms.h"

/// What mluOpNmsDescriptor_t points to.
struct mluOpNmsStruct {
  bool is_set = false;
  mluOpNmsBoxPointMode_t box_mode = MLUOP_NMS_BOX_DIAGONAL;
  mluOpNmsOutputMode_t output_mode = MLUOP_NMS_OUTPUT_TARGET_INDICES;
  mluOpNmsAlgo_t algo = MLUOP_NMS_ALGO_EXCLUDE_BOUNDARY;
  mluOpNmsMethodMode_t method_mode = MLUOP_NMS_HARD_NMS;
  double iou_threshold = 0;
  float soft_nms_sigma = 0;
  int max_output_size = 0;
  double confidence_threshold = 0;
  float offset = 0;
  int input_layout = 0;
  bool pad_to_max_output_size = false;
};

namespace mluops::op {

struct NmsArgs {
  mluOpHandle_t handle;
  mluOpNmsDescriptor_t nms_desc;
  TensorArg boxes, confidence, output;
  void* output_size;
};

struct SoftNmsArgs {
  mluOpHandle_t handle;
  TensorArg boxes, scores;
  Scalar iou_threshold, sigma, min_score;
  mluOpExtSoftNmsMethod_t method;
  int offset;
  TensorArg dets, indices;
  void* output_size;
};

struct NmsMatchArgs {
  mluOpHandle_t handle;
  TensorArg dets;
  Scalar iou_threshold;
  TensorArg indices, group_sizes;
  void* group_count;
};

/// Checks the values and puts them into the descriptor.
Status set_nms_descriptor(mluOpNmsDescriptor_t desc, const mluOpNmsStruct& values);
Status check_nms(const NmsArgs& args, mluopsNmsProblem& problem);
Status check_soft_nms(const SoftNmsArgs& args, mluopsSoftNmsProblem& problem);
Status check_nms_match(const NmsMatchArgs& args, mluopsNmsMatchProblem& problem);

}  // namespace mluops::op
