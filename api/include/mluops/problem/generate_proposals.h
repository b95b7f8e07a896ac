/* The problem of GenerateProposalsV2 (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_GENERATE_PROPOSALS_H_
#define MLUOPS_PROBLEM_GENERATE_PROPOSALS_H_

#include <stdint.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** scores [n, h, w, a], bbox_deltas [n, h, w, 4 * a], im_shape [n, 2], anchors and variances [h, w, a, 4]; rpn_rois
 *  [n * post_nms_top_n, 4], rpn_roi_probs [n * post_nms_top_n], rpn_rois_num [n]. */
typedef struct mluopsGenerateProposalsShape {
  mluOpDataType_t dtype;
  int64_t n;       /* may be 0 */
  int64_t h, w, a; /* h * w * a < 2^31 */
} mluopsGenerateProposalsShape;

typedef struct mluopsGenerateProposalsProblem {
  mluopsGenerateProposalsShape shape;
  const void* scores; /* these and all below: NULL where n = 0 */
  const void* bbox_deltas;
  const void* im_shape; /* height, width */
  const void* anchors;
  const void* variances;
  void* rpn_rois;
  void* rpn_roi_probs;
  int32_t* rpn_rois_num;
  int32_t* rpn_rois_batch_size; /* never NULL */
  int64_t pre_nms_top_n;        /* <= 0: all */
  int64_t post_nms_top_n;       /* >= 1; n times it < 2^31 */
  double nms_thresh;            /* > 0 */
  double min_size;              /* may be NaN: 1 */
  int32_t pixel_offset;         /* 0 or 1 */
} mluopsGenerateProposalsProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_GENERATE_PROPOSALS_H_ */
