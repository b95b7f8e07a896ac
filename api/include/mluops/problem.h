/* The immutable problem of each operator, as a backend sees it. Plain C, part of the plugin ABI.
 *
 * Everything here has been validated: dtypes agree, shapes fit together, no size is zero but where said, every
 * tensor is dense and row-major, element counts fit int64 (and int32 under the STRICT contract), inputs and
 * outputs do not overlap, pointers are not NULL except where said, and RoI batch indices lie in [0, batch-1].
 * Where a problem has a float and a double exact_<its name>, a backend that computes in double reads the double: it is
 * the number the caller means (mluOpExtSetScalars). With any other dtype the two are equal.
 * Other values found in the data (three_interpolate indices, border_align argmax, coordinates, NaN) are arbitrary.
 */
#ifndef MLUOPS_PROBLEM_H_
#define MLUOPS_PROBLEM_H_

#include "mluops/problem/active_rotated_filter.h"
#include "mluops/problem/adam_w.h"
#include "mluops/problem/assign_score_withk.h"
#include "mluops/problem/ball_query.h"
#include "mluops/problem/bezier_align.h"
#include "mluops/problem/border_align.h"
#include "mluops/problem/box_iou.h"
#include "mluops/problem/carafe.h"
#include "mluops/problem/chamfer_distance.h"
#include "mluops/problem/correlation.h"
#include "mluops/problem/dcn.h"
#include "mluops/problem/deform_roi_pool.h"
#include "mluops/problem/diff_iou_rotated.h"
#include "mluops/problem/dynamic_point_to_voxel.h"
#include "mluops/problem/elementwise.h"
#include "mluops/problem/fft.h"
#include "mluops/problem/focal_loss.h"
#include "mluops/problem/furthest_point_sample.h"
#include "mluops/problem/gather_points.h"
#include "mluops/problem/generate_proposals.h"
#include "mluops/problem/get_indice_pairs.h"
#include "mluops/problem/indice_convolution.h"
#include "mluops/problem/indice_max_pool.h"
#include "mluops/problem/iou3d.h"
#include "mluops/problem/knn.h"
#include "mluops/problem/masked_im2col.h"
#include "mluops/problem/moe_dispatch.h"
#include "mluops/problem/ms_deform_attn.h"
#include "mluops/problem/mutual_information.h"
#include "mluops/problem/nms.h"
#include "mluops/problem/points_in_boxes.h"
#include "mluops/problem/poly_nms.h"
#include "mluops/problem/polygons.h"
#include "mluops/problem/prior_box.h"
#include "mluops/problem/prroi_pool.h"
#include "mluops/problem/ps_roi_pool.h"
#include "mluops/problem/psamask.h"
#include "mluops/problem/roi_align.h"
#include "mluops/problem/roi_align_rotated.h"
#include "mluops/problem/roi_crop.h"
#include "mluops/problem/roi_pool.h"
#include "mluops/problem/roiaware_pool3d.h"
#include "mluops/problem/roipoint_pool3d.h"
#include "mluops/problem/rotated_feature_align.h"
#include "mluops/problem/rotated_iou.h"
#include "mluops/problem/sync_batch_norm.h"
#include "mluops/problem/three_interpolate.h"
#include "mluops/problem/three_nn.h"
#include "mluops/problem/tin_shift.h"
#include "mluops/problem/upfirdn2d.h"
#include "mluops/problem/voxel_pooling.h"
#include "mluops/problem/voxelization.h"
#include "mluops/problem/yolo_box.h"

#endif /* MLUOPS_PROBLEM_H_ */
