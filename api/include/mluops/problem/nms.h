/* The problems of non-maximum suppression (see mluops/problem.h for what has been validated). */
#ifndef MLUOPS_PROBLEM_NMS_H_
#define MLUOPS_PROBLEM_NMS_H_

#include <stdint.h>

#include "mlu_op_types.h"
#include "mluops/op/nms.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** boxes boxes of dtype, maybe none; indices are written as index_dtype: INT32, UINT32 or INT64. */
typedef struct mluopsNmsShape {
  mluOpDataType_t dtype;
  mluOpDataType_t index_dtype;
  int64_t boxes;
  double iou_threshold; /* a C float unless the caller gave a double, as are the others */
  float offset;         /* 0 or 1 */
} mluopsNmsShape;

typedef struct mluopsNmsProblem {
  mluopsNmsShape shape;
  mluOpDataType_t score_dtype;
  mluOpNmsBoxPointMode_t box_mode;
  mluOpNmsOutputMode_t output_mode; /* indices or one of the two forms of score and box, in dtype */
  int transposed;                   /* boxes are [4, boxes] */
  double score_threshold;           /* boxes count where score > it; NaN: all of them, NaN scores first */
  int64_t max_output;
  int64_t room; /* boxes there is room for in output: the row length of [5, room] */
  int pad;      /* zeros up to max_output boxes; room is then at least as much */
  const void* boxes;
  const void* scores;
  void* output;
  int32_t* output_size;
} mluopsNmsProblem;

typedef struct mluopsSoftNmsProblem {
  mluopsNmsShape shape;
  float sigma;
  float min_score;
  mluOpExtSoftNmsMethod_t method;
  const void* boxes;  /* [boxes,4] */
  const void* scores; /* [boxes] */
  void* dets;         /* [boxes,5] */
  void* indices;
  int32_t* output_size;
  double exact_sigma;     /* sigma; in DOUBLE what the caller may have given more exactly */
  double exact_min_score; /* likewise */
} mluopsSoftNmsProblem;

typedef struct mluopsNmsMatchProblem {
  mluopsNmsShape shape; /* offset is 0 */
  const void* dets;     /* [boxes,5] */
  void* indices;
  void* group_sizes;
  int32_t* group_count;
} mluopsNmsMatchProblem;

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_PROBLEM_NMS_H_ */
