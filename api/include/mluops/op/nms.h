/* Non-maximum suppression, hard and soft, and its groups: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_NMS_H_
#define MLUOPS_OP_NMS_H_

#include <stdbool.h>
#include <stddef.h>

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** What the four numbers of a box are. */
typedef enum {
  MLUOP_NMS_BOX_DIAGONAL = 0, /**< x1, y1, x2, y2. */
  MLUOP_NMS_BOX_CENTER = 1,   /**< x and y of the centre, width, height. */
} mluOpNmsBoxPointMode_t;

/** What mluOpNms writes of each box it keeps, best score first. */
typedef enum {
  MLUOP_NMS_OUTPUT_TARGET_INDICES = 0,              /**< Index of the box; output [max]. */
  MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1 = 1, /**< Score and the box's numbers as given; output [max, 5]. */
  MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_2 = 2, /**< The same, output [5, max]. */
  MLUOP_NMS_OUTPUT_TARGET_BATCH_AND_CLASS = 3,      /**< Batches and classes; NOT_SUPPORTED. */
} mluOpNmsOutputMode_t;

/** How scores of suppressed boxes change. mluOpNms knows HARD only; the soft ones are mluOpExtSoftNms. */
typedef enum {
  MLUOP_NMS_HARD_NMS = 0,
  MLUOP_NMS_SOFT_NMS_LINEAR = 1,
  MLUOP_NMS_SOFT_NMS_GAUSSIAN = 2,
} mluOpNmsMethodMode_t;

/** Kept for clients: `offset` alone decides, as with the vendor's library, which drops this value. */
typedef enum {
  MLUOP_NMS_ALGO_EXCLUDE_BOUNDARY = 0,
  MLUOP_NMS_ALGO_INCLUDE_BOUNDARY = 1,
} mluOpNmsAlgo_t;

typedef struct mluOpNmsStruct* mluOpNmsDescriptor_t;

/** Creates an empty descriptor. BAD_PARAM: NULL. ALLOC_FAILED. */
mluOpStatus_t MLUOP_WIN_API mluOpCreateNmsDescriptor(mluOpNmsDescriptor_t* desc);
/** Destroys a descriptor. BAD_PARAM: NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpDestroyNmsDescriptor(mluOpNmsDescriptor_t desc);

/** Sets what mluOpNms does.
 *
 *  @param box_mode, output_mode, algo, method_mode  see the enumerations.
 *  @param iou_threshold         a box is suppressed by a better one when their IoU is greater.
 *  @param soft_nms_sigma        >= 0; without effect.
 *  @param max_output_size       most boxes kept, >= 0.
 *  @param confidence_threshold  boxes are looked at when their score is greater; in [0,1]. Under the EXTENDED contract
 *                               any number; -INFINITY looks at every box, NaN scores first.
 *  @param offset                0 or 1: the width of a box is x2 - x1 + offset, likewise the height.
 *  @param input_layout          0: boxes are [N, 4]; 1: [4, N].
 *  @param pad_to_max_output_size  write zeros behind the kept boxes, up to max_output_size of them.
 *  BAD_PARAM: nms_desc NULL, a value outside its enumeration or range. */
mluOpStatus_t MLUOP_WIN_API mluOpSetNmsDescriptor(mluOpNmsDescriptor_t nms_desc, const mluOpNmsBoxPointMode_t box_mode,
                                                  const mluOpNmsOutputMode_t output_mode, const mluOpNmsAlgo_t algo,
                                                  const mluOpNmsMethodMode_t method_mode, const float iou_threshold,
                                                  const float soft_nms_sigma, const int max_output_size,
                                                  const float confidence_threshold, const float offset,
                                                  const int input_layout, const bool pad_to_max_output_size);
/** As mluOpSetNmsDescriptor, for boxes and scores of double: the thresholds are not rounded to float. */
mluOpStatus_t MLUOP_WIN_API mluOpExtSetNmsDescriptor(mluOpNmsDescriptor_t nms_desc,
                                                     const mluOpNmsBoxPointMode_t box_mode,
                                                     const mluOpNmsOutputMode_t output_mode, const double iou_threshold,
                                                     const int max_output_size, const double confidence_threshold,
                                                     const int offset, const int input_layout,
                                                     const bool pad_to_max_output_size);

/** Bytes of workspace mluOpNms wants: 0, the host takes memory of its own.
 *  BAD_PARAM: handle, nms_desc, boxes_desc or size is NULL. */
mluOpStatus_t MLUOP_WIN_API mluOpGetNmsWorkspaceSize(mluOpHandle_t handle, mluOpNmsDescriptor_t nms_desc,
                                                     const mluOpTensorDescriptor_t boxes_desc,
                                                     const mluOpTensorDescriptor_t confidence_desc, size_t* size);

/** Non-maximum suppression: walks over the boxes from the best score down (equal scores: lower index first) and keeps
 *  each box whose IoU with every box kept before is not greater than the threshold.
 *
 *    IoU(a,b) = inter / (area(a) + area(b) - inter)     NaN, as of degenerate boxes, is not greater
 *
 *  @param boxes        T [N, 4] or [4, N] by input_layout.
 *  @param confidence   T [N], the scores; HALF beside FLOAT boxes is taken too.
 *  @param workspace    not used; may be NULL.
 *  @param output       INT32 or UINT32 [>= min(N, max_output_size)] indices (EXTENDED: INT64 too), or T [that, 5], or
 *                      T [5, that]; with padding at least max_output_size. What lies behind is left as it was.
 *  @param output_size  INT32 [1]: how many boxes were kept.
 *  N = 0: SUCCESS, *output_size is 0. 3-D boxes, boxes of 7 numbers, soft methods: NOT_SUPPORTED. Strided tensors:
 *  NOT_SUPPORTED. Source: mmcv's nms; docs/op/nms.md. */
mluOpStatus_t MLUOP_WIN_API mluOpNms(mluOpHandle_t handle, const mluOpNmsDescriptor_t nms_desc,
                                     const mluOpTensorDescriptor_t boxes_desc, const void* boxes,
                                     const mluOpTensorDescriptor_t confidence_desc, const void* confidence,
                                     void* workspace, size_t workspace_size, const mluOpTensorDescriptor_t output_desc,
                                     void* output, void* output_size);

/** What mluOpExtSoftNms multiplies the score of a box by, given its IoU with the box kept last. */
typedef enum {
  MLUOP_EXT_SOFT_NMS_NAIVE = 0,    /**< 0 where IoU >= iou_threshold, else 1. */
  MLUOP_EXT_SOFT_NMS_LINEAR = 1,   /**< 1 - IoU where IoU >= iou_threshold, else 1. */
  MLUOP_EXT_SOFT_NMS_GAUSSIAN = 2, /**< exp(-IoU^2 / sigma). */
} mluOpExtSoftNmsMethod_t;

/** Soft non-maximum suppression: takes the box of the greatest score, lowers the scores of the others by their IoU with
 *  it, drops those that fall below min_score, and goes on until none is left.
 *
 *  @param boxes        T [N, 4]: x1, y1, x2, y2.
 *  @param scores       T [N].
 *  @param iou_threshold, sigma, min_score  see above; sigma is read by GAUSSIAN only.
 *  @param offset       0 or 1, as with mluOpSetNmsDescriptor.
 *  @param dets         T [N, 5]: box and new score, in the order taken; zeros from row
 *                      *output_size on.
 *  @param indices      INT32 [N] (EXTENDED: INT64 too): which boxes these are; 0 from *output_size on.
 *  @param output_size  INT32 [1]: how many boxes were taken.
 *  N = 0: SUCCESS, *output_size is 0. Strided tensors: NOT_SUPPORTED. Cost: O(N * kept).
 *  Source: Bodla et al., "Soft-NMS", ICCV 2017; mmcv's soft_nms, whose order of equal scores is kept. */
mluOpStatus_t MLUOP_WIN_API mluOpExtSoftNms(mluOpHandle_t handle, const mluOpTensorDescriptor_t boxes_desc,
                                            const void* boxes, const mluOpTensorDescriptor_t scores_desc,
                                            const void* scores, const float iou_threshold, const float sigma,
                                            const float min_score, const mluOpExtSoftNmsMethod_t method,
                                            const int offset, const mluOpTensorDescriptor_t dets_desc, void* dets,
                                            const mluOpTensorDescriptor_t indices_desc, void* indices,
                                            void* output_size);

/** Groups boxes by suppression: every box belongs to the best box kept before it whose IoU with it is at least the
 *  threshold, or is kept itself.
 *
 *  @param dets         T [N, 5]: x1, y1, x2, y2, score.
 *  @param indices      INT32 [N] (EXTENDED: INT64 too): the groups one after the other, best kept box first; in each
 *                      the kept box, then those it suppresses, by score (equal scores: lower index first).
 *  @param group_sizes  INT32 [N] (EXTENDED: INT64 too), the dtype of indices: boxes of each group; 0 from *group_count
 *                      on.
 *  @param group_count  INT32 [1]: number of groups.
 *  N = 0: SUCCESS, *group_count is 0. Strided tensors: NOT_SUPPORTED. Source: mmcv's nms_match. */
mluOpStatus_t MLUOP_WIN_API mluOpExtNmsMatch(mluOpHandle_t handle, const mluOpTensorDescriptor_t dets_desc,
                                             const void* dets, const float iou_threshold,
                                             const mluOpTensorDescriptor_t indices_desc, void* indices,
                                             const mluOpTensorDescriptor_t group_sizes_desc, void* group_sizes,
                                             void* group_count);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_NMS_H_ */
