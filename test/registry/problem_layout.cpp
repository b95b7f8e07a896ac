// Layout of every problem struct: the plugin ABI, and the bytes of captured files. Written once, from the headers
// before they were generated: a new struct is appended, a member at the end of its struct, no offset changes.
#include <cstddef>

#include "mluops/problem.h"

namespace {

static_assert(sizeof(void*) == 8, "these are the layouts of 64-bit targets");

#define AT(Problem, member, offset) (offsetof(Problem, member) == (offset))

static_assert(sizeof(mluopsAssignScoreWithkShape) == 56 && AT(mluopsAssignScoreWithkShape, dtype, 0) &&
              AT(mluopsAssignScoreWithkShape, b, 8) && AT(mluopsAssignScoreWithkShape, n, 16) &&
              AT(mluopsAssignScoreWithkShape, m, 24) && AT(mluopsAssignScoreWithkShape, o, 32) &&
              AT(mluopsAssignScoreWithkShape, p, 40) && AT(mluopsAssignScoreWithkShape, k, 48));
static_assert(sizeof(mluopsAssignScoreWithkForwardProblem) == 96 &&
              AT(mluopsAssignScoreWithkForwardProblem, shape, 0) &&
              AT(mluopsAssignScoreWithkForwardProblem, points, 56) &&
              AT(mluopsAssignScoreWithkForwardProblem, centers, 64) &&
              AT(mluopsAssignScoreWithkForwardProblem, scores, 72) &&
              AT(mluopsAssignScoreWithkForwardProblem, knn_idx, 80) &&
              AT(mluopsAssignScoreWithkForwardProblem, output, 88));
static_assert(sizeof(mluopsAssignScoreWithkBackwardProblem) == 120 &&
              AT(mluopsAssignScoreWithkBackwardProblem, shape, 0) &&
              AT(mluopsAssignScoreWithkBackwardProblem, grad_output, 56) &&
              AT(mluopsAssignScoreWithkBackwardProblem, points, 64) &&
              AT(mluopsAssignScoreWithkBackwardProblem, centers, 72) &&
              AT(mluopsAssignScoreWithkBackwardProblem, scores, 80) &&
              AT(mluopsAssignScoreWithkBackwardProblem, knn_idx, 88) &&
              AT(mluopsAssignScoreWithkBackwardProblem, grad_points, 96) &&
              AT(mluopsAssignScoreWithkBackwardProblem, grad_centers, 104) &&
              AT(mluopsAssignScoreWithkBackwardProblem, grad_scores, 112));
static_assert(sizeof(mluopsBallQueryShape) == 48 && AT(mluopsBallQueryShape, dtype, 0) &&
              AT(mluopsBallQueryShape, b, 8) && AT(mluopsBallQueryShape, m, 16) && AT(mluopsBallQueryShape, n, 24) &&
              AT(mluopsBallQueryShape, nsample, 32) && AT(mluopsBallQueryShape, min_radius, 40) &&
              AT(mluopsBallQueryShape, max_radius, 44));
static_assert(sizeof(mluopsBallQueryProblem) == 88 && AT(mluopsBallQueryProblem, shape, 0) &&
              AT(mluopsBallQueryProblem, new_xyz, 48) && AT(mluopsBallQueryProblem, xyz, 56) &&
              AT(mluopsBallQueryProblem, idx, 64) && AT(mluopsBallQueryProblem, exact_min_radius, 72) &&
              AT(mluopsBallQueryProblem, exact_max_radius, 80));
static_assert(sizeof(mluopsBezierAlignShape) == 80 && AT(mluopsBezierAlignShape, dtype, 0) &&
              AT(mluopsBezierAlignShape, batch, 8) && AT(mluopsBezierAlignShape, h, 16) &&
              AT(mluopsBezierAlignShape, w, 24) && AT(mluopsBezierAlignShape, c, 32) &&
              AT(mluopsBezierAlignShape, rois, 40) && AT(mluopsBezierAlignShape, pooled_h, 48) &&
              AT(mluopsBezierAlignShape, pooled_w, 56) && AT(mluopsBezierAlignShape, spatial_scale, 64) &&
              AT(mluopsBezierAlignShape, sampling_ratio, 68) && AT(mluopsBezierAlignShape, aligned, 72));
static_assert(sizeof(mluopsBezierAlignForwardProblem) == 120 && AT(mluopsBezierAlignForwardProblem, shape, 0) &&
              AT(mluopsBezierAlignForwardProblem, input, 80) && AT(mluopsBezierAlignForwardProblem, beziers, 88) &&
              AT(mluopsBezierAlignForwardProblem, output, 96) && AT(mluopsBezierAlignForwardProblem, layout, 104) &&
              AT(mluopsBezierAlignForwardProblem, exact_spatial_scale, 112));
static_assert(sizeof(mluopsBezierAlignBackwardProblem) == 120 && AT(mluopsBezierAlignBackwardProblem, shape, 0) &&
              AT(mluopsBezierAlignBackwardProblem, grad_output, 80) &&
              AT(mluopsBezierAlignBackwardProblem, beziers, 88) &&
              AT(mluopsBezierAlignBackwardProblem, grad_input, 96) &&
              AT(mluopsBezierAlignBackwardProblem, layout, 104) &&
              AT(mluopsBezierAlignBackwardProblem, exact_spatial_scale, 112));
static_assert(sizeof(mluopsBorderAlignShape) == 56 && AT(mluopsBorderAlignShape, dtype, 0) &&
              AT(mluopsBorderAlignShape, n, 8) && AT(mluopsBorderAlignShape, h, 16) &&
              AT(mluopsBorderAlignShape, w, 24) && AT(mluopsBorderAlignShape, c, 32) &&
              AT(mluopsBorderAlignShape, k, 40) && AT(mluopsBorderAlignShape, pool_size, 48));
static_assert(sizeof(mluopsBorderAlignForwardProblem) == 96 && AT(mluopsBorderAlignForwardProblem, shape, 0) &&
              AT(mluopsBorderAlignForwardProblem, input, 56) && AT(mluopsBorderAlignForwardProblem, boxes, 64) &&
              AT(mluopsBorderAlignForwardProblem, output, 72) && AT(mluopsBorderAlignForwardProblem, argmax, 80) &&
              AT(mluopsBorderAlignForwardProblem, layout, 88));
static_assert(sizeof(mluopsBorderAlignBackwardProblem) == 96 && AT(mluopsBorderAlignBackwardProblem, shape, 0) &&
              AT(mluopsBorderAlignBackwardProblem, grad_output, 56) &&
              AT(mluopsBorderAlignBackwardProblem, boxes, 64) && AT(mluopsBorderAlignBackwardProblem, argmax, 72) &&
              AT(mluopsBorderAlignBackwardProblem, grad_input, 80) && AT(mluopsBorderAlignBackwardProblem, layout, 88));
static_assert(sizeof(mluopsBoxIouShape) == 40 && AT(mluopsBoxIouShape, dtype, 0) && AT(mluopsBoxIouShape, n, 8) &&
              AT(mluopsBoxIouShape, m, 16) && AT(mluopsBoxIouShape, mode, 24) && AT(mluopsBoxIouShape, aligned, 28) &&
              AT(mluopsBoxIouShape, offset, 32));
static_assert(sizeof(mluopsBoxIouProblem) == 64 && AT(mluopsBoxIouProblem, shape, 0) &&
              AT(mluopsBoxIouProblem, bbox1, 40) && AT(mluopsBoxIouProblem, bbox2, 48) &&
              AT(mluopsBoxIouProblem, ious, 56));
static_assert(sizeof(mluopsNmsRotatedShape) == 24 && AT(mluopsNmsRotatedShape, dtype, 0) &&
              AT(mluopsNmsRotatedShape, n, 8) && AT(mluopsNmsRotatedShape, width, 16));
static_assert(sizeof(mluopsNmsRotatedProblem) == 64 && AT(mluopsNmsRotatedProblem, shape, 0) &&
              AT(mluopsNmsRotatedProblem, boxes, 24) && AT(mluopsNmsRotatedProblem, scores, 32) &&
              AT(mluopsNmsRotatedProblem, output, 40) && AT(mluopsNmsRotatedProblem, result_num, 48) &&
              AT(mluopsNmsRotatedProblem, iou_threshold, 56));
static_assert(sizeof(mluopsCarafeShape) == 80 && AT(mluopsCarafeShape, dtype, 0) && AT(mluopsCarafeShape, n, 8) &&
              AT(mluopsCarafeShape, h, 16) && AT(mluopsCarafeShape, w, 24) && AT(mluopsCarafeShape, c, 32) &&
              AT(mluopsCarafeShape, ho, 40) && AT(mluopsCarafeShape, wo, 48) && AT(mluopsCarafeShape, kernel, 56) &&
              AT(mluopsCarafeShape, group, 64) && AT(mluopsCarafeShape, scale, 72));
static_assert(sizeof(mluopsCarafeForwardProblem) == 112 && AT(mluopsCarafeForwardProblem, shape, 0) &&
              AT(mluopsCarafeForwardProblem, input, 80) && AT(mluopsCarafeForwardProblem, mask, 88) &&
              AT(mluopsCarafeForwardProblem, output, 96) && AT(mluopsCarafeForwardProblem, layout, 104));
static_assert(sizeof(mluopsCarafeBackwardProblem) == 128 && AT(mluopsCarafeBackwardProblem, shape, 0) &&
              AT(mluopsCarafeBackwardProblem, input, 80) && AT(mluopsCarafeBackwardProblem, mask, 88) &&
              AT(mluopsCarafeBackwardProblem, grad_output, 96) && AT(mluopsCarafeBackwardProblem, grad_input, 104) &&
              AT(mluopsCarafeBackwardProblem, grad_mask, 112) && AT(mluopsCarafeBackwardProblem, layout, 120));
static_assert(sizeof(mluopsChamferDistanceShape) == 32 && AT(mluopsChamferDistanceShape, dtype, 0) &&
              AT(mluopsChamferDistanceShape, b, 8) && AT(mluopsChamferDistanceShape, n, 16) &&
              AT(mluopsChamferDistanceShape, m, 24));
static_assert(sizeof(mluopsChamferDistanceForwardProblem) == 80 && AT(mluopsChamferDistanceForwardProblem, shape, 0) &&
              AT(mluopsChamferDistanceForwardProblem, xyz1, 32) && AT(mluopsChamferDistanceForwardProblem, xyz2, 40) &&
              AT(mluopsChamferDistanceForwardProblem, dist1, 48) &&
              AT(mluopsChamferDistanceForwardProblem, dist2, 56) && AT(mluopsChamferDistanceForwardProblem, idx1, 64) &&
              AT(mluopsChamferDistanceForwardProblem, idx2, 72));
static_assert(
    sizeof(mluopsChamferDistanceBackwardProblem) == 96 && AT(mluopsChamferDistanceBackwardProblem, shape, 0) &&
    AT(mluopsChamferDistanceBackwardProblem, xyz1, 32) && AT(mluopsChamferDistanceBackwardProblem, xyz2, 40) &&
    AT(mluopsChamferDistanceBackwardProblem, idx1, 48) && AT(mluopsChamferDistanceBackwardProblem, idx2, 56) &&
    AT(mluopsChamferDistanceBackwardProblem, grad_dist1, 64) &&
    AT(mluopsChamferDistanceBackwardProblem, grad_dist2, 72) &&
    AT(mluopsChamferDistanceBackwardProblem, grad_xyz1, 80) && AT(mluopsChamferDistanceBackwardProblem, grad_xyz2, 88));
static_assert(sizeof(mluopsCorrelationShape) == 104 && AT(mluopsCorrelationShape, dtype, 0) &&
              AT(mluopsCorrelationShape, n, 8) && AT(mluopsCorrelationShape, h, 16) &&
              AT(mluopsCorrelationShape, w, 24) && AT(mluopsCorrelationShape, c, 32) &&
              AT(mluopsCorrelationShape, out_h, 40) && AT(mluopsCorrelationShape, out_w, 48) &&
              AT(mluopsCorrelationShape, max_displacement, 56) && AT(mluopsCorrelationShape, kernel_h, 60) &&
              AT(mluopsCorrelationShape, kernel_w, 64) && AT(mluopsCorrelationShape, stride_h, 68) &&
              AT(mluopsCorrelationShape, stride_w, 72) && AT(mluopsCorrelationShape, pad_h, 76) &&
              AT(mluopsCorrelationShape, pad_w, 80) && AT(mluopsCorrelationShape, dilation_h, 84) &&
              AT(mluopsCorrelationShape, dilation_w, 88) && AT(mluopsCorrelationShape, dilation_patch_h, 92) &&
              AT(mluopsCorrelationShape, dilation_patch_w, 96));
static_assert(sizeof(mluopsCorrelationForwardProblem) == 136 && AT(mluopsCorrelationForwardProblem, shape, 0) &&
              AT(mluopsCorrelationForwardProblem, input1, 104) && AT(mluopsCorrelationForwardProblem, input2, 112) &&
              AT(mluopsCorrelationForwardProblem, output, 120) && AT(mluopsCorrelationForwardProblem, layout, 128));
static_assert(sizeof(mluopsCorrelationBackwardProblem) == 152 && AT(mluopsCorrelationBackwardProblem, shape, 0) &&
              AT(mluopsCorrelationBackwardProblem, grad_output, 104) &&
              AT(mluopsCorrelationBackwardProblem, input1, 112) && AT(mluopsCorrelationBackwardProblem, input2, 120) &&
              AT(mluopsCorrelationBackwardProblem, grad_input1, 128) &&
              AT(mluopsCorrelationBackwardProblem, grad_input2, 136) &&
              AT(mluopsCorrelationBackwardProblem, layout, 144));
static_assert(sizeof(mluopsDcnShape) == 144 && AT(mluopsDcnShape, dtype, 0) && AT(mluopsDcnShape, batch, 8) &&
              AT(mluopsDcnShape, h, 16) && AT(mluopsDcnShape, w, 24) && AT(mluopsDcnShape, ci, 32) &&
              AT(mluopsDcnShape, co, 40) && AT(mluopsDcnShape, kernel_h, 48) && AT(mluopsDcnShape, kernel_w, 56) &&
              AT(mluopsDcnShape, out_h, 64) && AT(mluopsDcnShape, out_w, 72) && AT(mluopsDcnShape, pad_top, 80) &&
              AT(mluopsDcnShape, pad_left, 88) && AT(mluopsDcnShape, stride_h, 96) &&
              AT(mluopsDcnShape, stride_w, 104) && AT(mluopsDcnShape, dilation_h, 112) &&
              AT(mluopsDcnShape, dilation_w, 120) && AT(mluopsDcnShape, groups, 128) &&
              AT(mluopsDcnShape, deform_groups, 136));
static_assert(sizeof(mluopsDcnForwardProblem) == 200 && AT(mluopsDcnForwardProblem, shape, 0) &&
              AT(mluopsDcnForwardProblem, input, 144) && AT(mluopsDcnForwardProblem, offset, 152) &&
              AT(mluopsDcnForwardProblem, mask, 160) && AT(mluopsDcnForwardProblem, filter, 168) &&
              AT(mluopsDcnForwardProblem, bias, 176) && AT(mluopsDcnForwardProblem, output, 184) &&
              AT(mluopsDcnForwardProblem, layout, 192));
static_assert(sizeof(mluopsDcnBackwardDataProblem) == 216 && AT(mluopsDcnBackwardDataProblem, shape, 0) &&
              AT(mluopsDcnBackwardDataProblem, input, 144) && AT(mluopsDcnBackwardDataProblem, offset, 152) &&
              AT(mluopsDcnBackwardDataProblem, mask, 160) && AT(mluopsDcnBackwardDataProblem, filter, 168) &&
              AT(mluopsDcnBackwardDataProblem, grad_output, 176) && AT(mluopsDcnBackwardDataProblem, grad_input, 184) &&
              AT(mluopsDcnBackwardDataProblem, grad_offset, 192) && AT(mluopsDcnBackwardDataProblem, grad_mask, 200) &&
              AT(mluopsDcnBackwardDataProblem, layout, 208));
static_assert(sizeof(mluopsDcnBackwardWeightProblem) == 200 && AT(mluopsDcnBackwardWeightProblem, shape, 0) &&
              AT(mluopsDcnBackwardWeightProblem, input, 144) && AT(mluopsDcnBackwardWeightProblem, offset, 152) &&
              AT(mluopsDcnBackwardWeightProblem, mask, 160) && AT(mluopsDcnBackwardWeightProblem, grad_output, 168) &&
              AT(mluopsDcnBackwardWeightProblem, grad_filter, 176) &&
              AT(mluopsDcnBackwardWeightProblem, grad_bias, 184) && AT(mluopsDcnBackwardWeightProblem, layout, 192));
static_assert(sizeof(mluopsDeformRoiPoolShape) == 80 && AT(mluopsDeformRoiPoolShape, dtype, 0) &&
              AT(mluopsDeformRoiPoolShape, batch, 8) && AT(mluopsDeformRoiPoolShape, h, 16) &&
              AT(mluopsDeformRoiPoolShape, w, 24) && AT(mluopsDeformRoiPoolShape, c, 32) &&
              AT(mluopsDeformRoiPoolShape, rois, 40) && AT(mluopsDeformRoiPoolShape, pooled_h, 48) &&
              AT(mluopsDeformRoiPoolShape, pooled_w, 56) && AT(mluopsDeformRoiPoolShape, spatial_scale, 64) &&
              AT(mluopsDeformRoiPoolShape, gamma, 68) && AT(mluopsDeformRoiPoolShape, sampling_ratio, 72));
static_assert(sizeof(mluopsDeformRoiPoolForwardProblem) == 136 && AT(mluopsDeformRoiPoolForwardProblem, shape, 0) &&
              AT(mluopsDeformRoiPoolForwardProblem, input, 80) && AT(mluopsDeformRoiPoolForwardProblem, rois, 88) &&
              AT(mluopsDeformRoiPoolForwardProblem, offset, 96) && AT(mluopsDeformRoiPoolForwardProblem, output, 104) &&
              AT(mluopsDeformRoiPoolForwardProblem, layout, 112) &&
              AT(mluopsDeformRoiPoolForwardProblem, exact_spatial_scale, 120) &&
              AT(mluopsDeformRoiPoolForwardProblem, exact_gamma, 128));
static_assert(sizeof(mluopsDeformRoiPoolBackwardProblem) == 152 && AT(mluopsDeformRoiPoolBackwardProblem, shape, 0) &&
              AT(mluopsDeformRoiPoolBackwardProblem, grad_output, 80) &&
              AT(mluopsDeformRoiPoolBackwardProblem, input, 88) && AT(mluopsDeformRoiPoolBackwardProblem, rois, 96) &&
              AT(mluopsDeformRoiPoolBackwardProblem, offset, 104) &&
              AT(mluopsDeformRoiPoolBackwardProblem, grad_input, 112) &&
              AT(mluopsDeformRoiPoolBackwardProblem, grad_offset, 120) &&
              AT(mluopsDeformRoiPoolBackwardProblem, layout, 128) &&
              AT(mluopsDeformRoiPoolBackwardProblem, exact_spatial_scale, 136) &&
              AT(mluopsDeformRoiPoolBackwardProblem, exact_gamma, 144));
static_assert(sizeof(mluopsDiffIouRotatedSortVerticesShape) == 16 &&
              AT(mluopsDiffIouRotatedSortVerticesShape, dtype, 0) && AT(mluopsDiffIouRotatedSortVerticesShape, n, 8));
static_assert(sizeof(mluopsDiffIouRotatedSortVerticesProblem) == 48 &&
              AT(mluopsDiffIouRotatedSortVerticesProblem, shape, 0) &&
              AT(mluopsDiffIouRotatedSortVerticesProblem, vertices, 16) &&
              AT(mluopsDiffIouRotatedSortVerticesProblem, mask, 24) &&
              AT(mluopsDiffIouRotatedSortVerticesProblem, num_valid, 32) &&
              AT(mluopsDiffIouRotatedSortVerticesProblem, idx, 40));
static_assert(sizeof(mluopsDynamicPointToVoxelShape) == 40 && AT(mluopsDynamicPointToVoxelShape, dtype, 0) &&
              AT(mluopsDynamicPointToVoxelShape, n, 8) && AT(mluopsDynamicPointToVoxelShape, c, 16) &&
              AT(mluopsDynamicPointToVoxelShape, m, 24) && AT(mluopsDynamicPointToVoxelShape, reduce, 32));
static_assert(sizeof(mluopsDynamicPointToVoxelForwardProblem) == 96 &&
              AT(mluopsDynamicPointToVoxelForwardProblem, shape, 0) &&
              AT(mluopsDynamicPointToVoxelForwardProblem, feats, 40) &&
              AT(mluopsDynamicPointToVoxelForwardProblem, coors, 48) &&
              AT(mluopsDynamicPointToVoxelForwardProblem, voxel_feats, 56) &&
              AT(mluopsDynamicPointToVoxelForwardProblem, voxel_coors, 64) &&
              AT(mluopsDynamicPointToVoxelForwardProblem, point2voxel_map, 72) &&
              AT(mluopsDynamicPointToVoxelForwardProblem, voxel_points_count, 80) &&
              AT(mluopsDynamicPointToVoxelForwardProblem, voxel_num, 88));
static_assert(sizeof(mluopsDynamicPointToVoxelBackwardProblem) == 96 &&
              AT(mluopsDynamicPointToVoxelBackwardProblem, shape, 0) &&
              AT(mluopsDynamicPointToVoxelBackwardProblem, grad_voxel_feats, 40) &&
              AT(mluopsDynamicPointToVoxelBackwardProblem, feats, 48) &&
              AT(mluopsDynamicPointToVoxelBackwardProblem, voxel_feats, 56) &&
              AT(mluopsDynamicPointToVoxelBackwardProblem, point2voxel_map, 64) &&
              AT(mluopsDynamicPointToVoxelBackwardProblem, voxel_points_count, 72) &&
              AT(mluopsDynamicPointToVoxelBackwardProblem, voxel_num, 80) &&
              AT(mluopsDynamicPointToVoxelBackwardProblem, grad_feats, 88));
static_assert(sizeof(mluopsFocalLossShape) == 32 && AT(mluopsFocalLossShape, dtype, 0) &&
              AT(mluopsFocalLossShape, n, 8) && AT(mluopsFocalLossShape, c, 16) &&
              AT(mluopsFocalLossShape, alpha, 24) && AT(mluopsFocalLossShape, gamma, 28));
static_assert(sizeof(mluopsFocalLossProblem) == 80 && AT(mluopsFocalLossProblem, shape, 0) &&
              AT(mluopsFocalLossProblem, input, 32) && AT(mluopsFocalLossProblem, target, 40) &&
              AT(mluopsFocalLossProblem, weight, 48) && AT(mluopsFocalLossProblem, result, 56) &&
              AT(mluopsFocalLossProblem, exact_alpha, 64) && AT(mluopsFocalLossProblem, exact_gamma, 72));
static_assert(sizeof(mluopsFurthestPointSampleShape) == 32 && AT(mluopsFurthestPointSampleShape, dtype, 0) &&
              AT(mluopsFurthestPointSampleShape, b, 8) && AT(mluopsFurthestPointSampleShape, n, 16) &&
              AT(mluopsFurthestPointSampleShape, m, 24));
static_assert(sizeof(mluopsFurthestPointSampleProblem) == 48 && AT(mluopsFurthestPointSampleProblem, shape, 0) &&
              AT(mluopsFurthestPointSampleProblem, points, 32) && AT(mluopsFurthestPointSampleProblem, idx, 40));
static_assert(sizeof(mluopsFurthestPointSampleWithDistProblem) == 48 &&
              AT(mluopsFurthestPointSampleWithDistProblem, shape, 0) &&
              AT(mluopsFurthestPointSampleWithDistProblem, distances, 32) &&
              AT(mluopsFurthestPointSampleWithDistProblem, idx, 40));
static_assert(sizeof(mluopsGatherPointsShape) == 40 && AT(mluopsGatherPointsShape, dtype, 0) &&
              AT(mluopsGatherPointsShape, b, 8) && AT(mluopsGatherPointsShape, c, 16) &&
              AT(mluopsGatherPointsShape, n, 24) && AT(mluopsGatherPointsShape, m, 32));
static_assert(sizeof(mluopsGatherPointsForwardProblem) == 64 && AT(mluopsGatherPointsForwardProblem, shape, 0) &&
              AT(mluopsGatherPointsForwardProblem, points, 40) && AT(mluopsGatherPointsForwardProblem, idx, 48) &&
              AT(mluopsGatherPointsForwardProblem, output, 56));
static_assert(sizeof(mluopsGatherPointsBackwardProblem) == 64 && AT(mluopsGatherPointsBackwardProblem, shape, 0) &&
              AT(mluopsGatherPointsBackwardProblem, grad_output, 40) &&
              AT(mluopsGatherPointsBackwardProblem, idx, 48) && AT(mluopsGatherPointsBackwardProblem, grad_points, 56));
static_assert(sizeof(mluopsGenerateProposalsShape) == 40 && AT(mluopsGenerateProposalsShape, dtype, 0) &&
              AT(mluopsGenerateProposalsShape, n, 8) && AT(mluopsGenerateProposalsShape, h, 16) &&
              AT(mluopsGenerateProposalsShape, w, 24) && AT(mluopsGenerateProposalsShape, a, 32));
static_assert(sizeof(mluopsGenerateProposalsProblem) == 152 && AT(mluopsGenerateProposalsProblem, shape, 0) &&
              AT(mluopsGenerateProposalsProblem, scores, 40) && AT(mluopsGenerateProposalsProblem, bbox_deltas, 48) &&
              AT(mluopsGenerateProposalsProblem, im_shape, 56) && AT(mluopsGenerateProposalsProblem, anchors, 64) &&
              AT(mluopsGenerateProposalsProblem, variances, 72) && AT(mluopsGenerateProposalsProblem, rpn_rois, 80) &&
              AT(mluopsGenerateProposalsProblem, rpn_roi_probs, 88) &&
              AT(mluopsGenerateProposalsProblem, rpn_rois_num, 96) &&
              AT(mluopsGenerateProposalsProblem, rpn_rois_batch_size, 104) &&
              AT(mluopsGenerateProposalsProblem, pre_nms_top_n, 112) &&
              AT(mluopsGenerateProposalsProblem, post_nms_top_n, 120) &&
              AT(mluopsGenerateProposalsProblem, nms_thresh, 128) &&
              AT(mluopsGenerateProposalsProblem, min_size, 136) &&
              AT(mluopsGenerateProposalsProblem, pixel_offset, 144));
static_assert(sizeof(mluopsSparseAxis) == 24 && AT(mluopsSparseAxis, input, 0) && AT(mluopsSparseAxis, output, 4) &&
              AT(mluopsSparseAxis, filter, 8) && AT(mluopsSparseAxis, pad, 12) && AT(mluopsSparseAxis, stride, 16) &&
              AT(mluopsSparseAxis, dilation, 20));
static_assert(sizeof(mluopsGetIndicePairsShape) == 144 && AT(mluopsGetIndicePairsShape, axes, 0) &&
              AT(mluopsGetIndicePairsShape, axis, 4) && AT(mluopsGetIndicePairsShape, batch, 104) &&
              AT(mluopsGetIndicePairsShape, sub_m, 112) && AT(mluopsGetIndicePairsShape, transpose, 116) &&
              AT(mluopsGetIndicePairsShape, inputs, 120) && AT(mluopsGetIndicePairsShape, outputs, 128) &&
              AT(mluopsGetIndicePairsShape, offsets, 136));
static_assert(sizeof(mluopsGetIndicePairsProblem) == 184 && AT(mluopsGetIndicePairsProblem, shape, 0) &&
              AT(mluopsGetIndicePairsProblem, indices, 144) && AT(mluopsGetIndicePairsProblem, indice_pairs, 152) &&
              AT(mluopsGetIndicePairsProblem, out_indices, 160) && AT(mluopsGetIndicePairsProblem, indice_num, 168) &&
              AT(mluopsGetIndicePairsProblem, num_act_out, 176));
static_assert(sizeof(mluopsIndicePairs) == 32 && AT(mluopsIndicePairs, offsets, 0) &&
              AT(mluopsIndicePairs, places, 8) && AT(mluopsIndicePairs, indice_pairs, 16) &&
              AT(mluopsIndicePairs, indice_num, 24));
static_assert(sizeof(mluopsIndiceConvolutionShape) == 72 && AT(mluopsIndiceConvolutionShape, dtype, 0) &&
              AT(mluopsIndiceConvolutionShape, inputs, 8) && AT(mluopsIndiceConvolutionShape, outputs, 16) &&
              AT(mluopsIndiceConvolutionShape, ci, 24) && AT(mluopsIndiceConvolutionShape, co, 32) &&
              AT(mluopsIndiceConvolutionShape, filter_strides, 40) && AT(mluopsIndiceConvolutionShape, inverse, 64));
static_assert(sizeof(mluopsIndiceConvolutionForwardProblem) == 128 &&
              AT(mluopsIndiceConvolutionForwardProblem, shape, 0) &&
              AT(mluopsIndiceConvolutionForwardProblem, pairs, 72) &&
              AT(mluopsIndiceConvolutionForwardProblem, features, 104) &&
              AT(mluopsIndiceConvolutionForwardProblem, filters, 112) &&
              AT(mluopsIndiceConvolutionForwardProblem, features_out, 120));
static_assert(sizeof(mluopsIndiceConvolutionBackwardDataProblem) == 128 &&
              AT(mluopsIndiceConvolutionBackwardDataProblem, shape, 0) &&
              AT(mluopsIndiceConvolutionBackwardDataProblem, pairs, 72) &&
              AT(mluopsIndiceConvolutionBackwardDataProblem, grad_output, 104) &&
              AT(mluopsIndiceConvolutionBackwardDataProblem, filters, 112) &&
              AT(mluopsIndiceConvolutionBackwardDataProblem, grad_input, 120));
static_assert(sizeof(mluopsIndiceConvolutionBackwardFilterProblem) == 128 &&
              AT(mluopsIndiceConvolutionBackwardFilterProblem, shape, 0) &&
              AT(mluopsIndiceConvolutionBackwardFilterProblem, pairs, 72) &&
              AT(mluopsIndiceConvolutionBackwardFilterProblem, features, 104) &&
              AT(mluopsIndiceConvolutionBackwardFilterProblem, grad_output, 112) &&
              AT(mluopsIndiceConvolutionBackwardFilterProblem, grad_filters, 120));
static_assert(sizeof(mluopsIndiceMaxPoolShape) == 32 && AT(mluopsIndiceMaxPoolShape, dtype, 0) &&
              AT(mluopsIndiceMaxPoolShape, inputs, 8) && AT(mluopsIndiceMaxPoolShape, outputs, 16) &&
              AT(mluopsIndiceMaxPoolShape, c, 24));
static_assert(sizeof(mluopsIndiceMaxPoolForwardProblem) == 80 && AT(mluopsIndiceMaxPoolForwardProblem, shape, 0) &&
              AT(mluopsIndiceMaxPoolForwardProblem, pairs, 32) && AT(mluopsIndiceMaxPoolForwardProblem, features, 64) &&
              AT(mluopsIndiceMaxPoolForwardProblem, features_out, 72));
static_assert(sizeof(mluopsIndiceMaxPoolBackwardProblem) == 96 && AT(mluopsIndiceMaxPoolBackwardProblem, shape, 0) &&
              AT(mluopsIndiceMaxPoolBackwardProblem, pairs, 32) &&
              AT(mluopsIndiceMaxPoolBackwardProblem, features, 64) &&
              AT(mluopsIndiceMaxPoolBackwardProblem, features_out, 72) &&
              AT(mluopsIndiceMaxPoolBackwardProblem, grad_output, 80) &&
              AT(mluopsIndiceMaxPoolBackwardProblem, grad_input, 88));
static_assert(sizeof(mluopsBoxesOverlapBevShape) == 24 && AT(mluopsBoxesOverlapBevShape, dtype, 0) &&
              AT(mluopsBoxesOverlapBevShape, n, 8) && AT(mluopsBoxesOverlapBevShape, m, 16));
static_assert(sizeof(mluopsBoxesOverlapBevProblem) == 48 && AT(mluopsBoxesOverlapBevProblem, shape, 0) &&
              AT(mluopsBoxesOverlapBevProblem, boxes_a, 24) && AT(mluopsBoxesOverlapBevProblem, boxes_b, 32) &&
              AT(mluopsBoxesOverlapBevProblem, overlap, 40));
static_assert(sizeof(mluopsNms3dShape) == 24 && AT(mluopsNms3dShape, dtype, 0) && AT(mluopsNms3dShape, n, 8) &&
              AT(mluopsNms3dShape, iou_threshold, 16) && AT(mluopsNms3dShape, rotated, 20));
static_assert(sizeof(mluopsNms3dProblem) == 56 && AT(mluopsNms3dProblem, shape, 0) &&
              AT(mluopsNms3dProblem, boxes, 24) && AT(mluopsNms3dProblem, keep, 32) &&
              AT(mluopsNms3dProblem, num_out, 40) && AT(mluopsNms3dProblem, exact_iou_threshold, 48));
static_assert(sizeof(mluopsKnnShape) == 40 && AT(mluopsKnnShape, dtype, 0) && AT(mluopsKnnShape, b, 8) &&
              AT(mluopsKnnShape, n, 16) && AT(mluopsKnnShape, m, 24) && AT(mluopsKnnShape, k, 32));
static_assert(sizeof(mluopsKnnProblem) == 72 && AT(mluopsKnnProblem, shape, 0) && AT(mluopsKnnProblem, xyz, 40) &&
              AT(mluopsKnnProblem, new_xyz, 48) && AT(mluopsKnnProblem, idx, 56) && AT(mluopsKnnProblem, dist2, 64));
static_assert(sizeof(mluopsMaskedIm2colShape) == 72 && AT(mluopsMaskedIm2colShape, dtype, 0) &&
              AT(mluopsMaskedIm2colShape, c, 8) && AT(mluopsMaskedIm2colShape, h, 16) &&
              AT(mluopsMaskedIm2colShape, w, 24) && AT(mluopsMaskedIm2colShape, m, 32) &&
              AT(mluopsMaskedIm2colShape, kernel_h, 40) && AT(mluopsMaskedIm2colShape, kernel_w, 48) &&
              AT(mluopsMaskedIm2colShape, pad_h, 56) && AT(mluopsMaskedIm2colShape, pad_w, 64));
static_assert(sizeof(mluopsMaskedIm2colForwardProblem) == 104 && AT(mluopsMaskedIm2colForwardProblem, shape, 0) &&
              AT(mluopsMaskedIm2colForwardProblem, feature, 72) &&
              AT(mluopsMaskedIm2colForwardProblem, mask_h_idx, 80) &&
              AT(mluopsMaskedIm2colForwardProblem, mask_w_idx, 88) &&
              AT(mluopsMaskedIm2colForwardProblem, data_col, 96));
static_assert(sizeof(mluopsMaskedCol2imForwardProblem) == 104 && AT(mluopsMaskedCol2imForwardProblem, shape, 0) &&
              AT(mluopsMaskedCol2imForwardProblem, col, 72) && AT(mluopsMaskedCol2imForwardProblem, mask_h_idx, 80) &&
              AT(mluopsMaskedCol2imForwardProblem, mask_w_idx, 88) && AT(mluopsMaskedCol2imForwardProblem, im, 96));
static_assert(sizeof(mluopsMsDeformAttnShape) == 64 && AT(mluopsMsDeformAttnShape, dtype, 0) &&
              AT(mluopsMsDeformAttnShape, batch, 8) && AT(mluopsMsDeformAttnShape, keys, 16) &&
              AT(mluopsMsDeformAttnShape, heads, 24) && AT(mluopsMsDeformAttnShape, channels, 32) &&
              AT(mluopsMsDeformAttnShape, levels, 40) && AT(mluopsMsDeformAttnShape, queries, 48) &&
              AT(mluopsMsDeformAttnShape, points, 56));
static_assert(sizeof(mluopsMsDeformAttnForwardProblem) == 112 && AT(mluopsMsDeformAttnForwardProblem, shape, 0) &&
              AT(mluopsMsDeformAttnForwardProblem, value, 64) &&
              AT(mluopsMsDeformAttnForwardProblem, spatial_shapes, 72) &&
              AT(mluopsMsDeformAttnForwardProblem, level_start_index, 80) &&
              AT(mluopsMsDeformAttnForwardProblem, sampling_loc, 88) &&
              AT(mluopsMsDeformAttnForwardProblem, attn_weight, 96) &&
              AT(mluopsMsDeformAttnForwardProblem, output, 104));
static_assert(sizeof(mluopsMsDeformAttnBackwardProblem) == 136 && AT(mluopsMsDeformAttnBackwardProblem, shape, 0) &&
              AT(mluopsMsDeformAttnBackwardProblem, value, 64) &&
              AT(mluopsMsDeformAttnBackwardProblem, spatial_shapes, 72) &&
              AT(mluopsMsDeformAttnBackwardProblem, level_start_index, 80) &&
              AT(mluopsMsDeformAttnBackwardProblem, sampling_loc, 88) &&
              AT(mluopsMsDeformAttnBackwardProblem, attn_weight, 96) &&
              AT(mluopsMsDeformAttnBackwardProblem, grad_output, 104) &&
              AT(mluopsMsDeformAttnBackwardProblem, grad_value, 112) &&
              AT(mluopsMsDeformAttnBackwardProblem, grad_sampling_loc, 120) &&
              AT(mluopsMsDeformAttnBackwardProblem, grad_attn_weight, 128));
static_assert(sizeof(mluopsNmsShape) == 32 && AT(mluopsNmsShape, dtype, 0) && AT(mluopsNmsShape, index_dtype, 4) &&
              AT(mluopsNmsShape, boxes, 8) && AT(mluopsNmsShape, iou_threshold, 16) && AT(mluopsNmsShape, offset, 24));
static_assert(sizeof(mluopsNmsProblem) == 120 && AT(mluopsNmsProblem, shape, 0) &&
              AT(mluopsNmsProblem, score_dtype, 32) && AT(mluopsNmsProblem, box_mode, 36) &&
              AT(mluopsNmsProblem, output_mode, 40) && AT(mluopsNmsProblem, transposed, 44) &&
              AT(mluopsNmsProblem, score_threshold, 48) && AT(mluopsNmsProblem, max_output, 56) &&
              AT(mluopsNmsProblem, room, 64) && AT(mluopsNmsProblem, pad, 72) && AT(mluopsNmsProblem, boxes, 80) &&
              AT(mluopsNmsProblem, scores, 88) && AT(mluopsNmsProblem, output, 96) &&
              AT(mluopsNmsProblem, output_size, 104) && AT(mluopsNmsProblem, box_numbers, 112));
static_assert(sizeof(mluopsSoftNmsProblem) == 104 && AT(mluopsSoftNmsProblem, shape, 0) &&
              AT(mluopsSoftNmsProblem, sigma, 32) && AT(mluopsSoftNmsProblem, min_score, 36) &&
              AT(mluopsSoftNmsProblem, method, 40) && AT(mluopsSoftNmsProblem, boxes, 48) &&
              AT(mluopsSoftNmsProblem, scores, 56) && AT(mluopsSoftNmsProblem, dets, 64) &&
              AT(mluopsSoftNmsProblem, indices, 72) && AT(mluopsSoftNmsProblem, output_size, 80) &&
              AT(mluopsSoftNmsProblem, exact_sigma, 88) && AT(mluopsSoftNmsProblem, exact_min_score, 96));
static_assert(sizeof(mluopsNmsMatchProblem) == 64 && AT(mluopsNmsMatchProblem, shape, 0) &&
              AT(mluopsNmsMatchProblem, dets, 32) && AT(mluopsNmsMatchProblem, indices, 40) &&
              AT(mluopsNmsMatchProblem, group_sizes, 48) && AT(mluopsNmsMatchProblem, group_count, 56));
static_assert(sizeof(mluopsPointsInBoxesShape) == 40 && AT(mluopsPointsInBoxesShape, dtype, 0) &&
              AT(mluopsPointsInBoxesShape, b, 8) && AT(mluopsPointsInBoxesShape, m, 16) &&
              AT(mluopsPointsInBoxesShape, n, 24) && AT(mluopsPointsInBoxesShape, centred, 32));
static_assert(sizeof(mluopsPointsInBoxesPartProblem) == 64 && AT(mluopsPointsInBoxesPartProblem, shape, 0) &&
              AT(mluopsPointsInBoxesPartProblem, points, 40) && AT(mluopsPointsInBoxesPartProblem, boxes, 48) &&
              AT(mluopsPointsInBoxesPartProblem, idx, 56));
static_assert(sizeof(mluopsPointsInBoxesAllProblem) == 64 && AT(mluopsPointsInBoxesAllProblem, shape, 0) &&
              AT(mluopsPointsInBoxesAllProblem, points, 40) && AT(mluopsPointsInBoxesAllProblem, boxes, 48) &&
              AT(mluopsPointsInBoxesAllProblem, inside, 56));
static_assert(sizeof(mluopsPolyNmsShape) == 16 && AT(mluopsPolyNmsShape, dtype, 0) && AT(mluopsPolyNmsShape, n, 8));
static_assert(sizeof(mluopsPolyNmsProblem) == 48 && AT(mluopsPolyNmsProblem, shape, 0) &&
              AT(mluopsPolyNmsProblem, boxes, 16) && AT(mluopsPolyNmsProblem, output, 24) &&
              AT(mluopsPolyNmsProblem, output_size, 32) && AT(mluopsPolyNmsProblem, iou_threshold, 40));
static_assert(sizeof(mluopsConvexIouShape) == 24 && AT(mluopsConvexIouShape, dtype, 0) &&
              AT(mluopsConvexIouShape, n, 8) && AT(mluopsConvexIouShape, k, 16));
static_assert(sizeof(mluopsConvexIouProblem) == 48 && AT(mluopsConvexIouProblem, shape, 0) &&
              AT(mluopsConvexIouProblem, pointsets, 24) && AT(mluopsConvexIouProblem, polygons, 32) &&
              AT(mluopsConvexIouProblem, ious, 40));
static_assert(sizeof(mluopsPointsetsShape) == 16 && AT(mluopsPointsetsShape, dtype, 0) &&
              AT(mluopsPointsetsShape, n, 8));
static_assert(sizeof(mluopsConvexGiouProblem) == 48 && AT(mluopsConvexGiouProblem, shape, 0) &&
              AT(mluopsConvexGiouProblem, pointsets, 16) && AT(mluopsConvexGiouProblem, polygons, 24) &&
              AT(mluopsConvexGiouProblem, giou, 32) && AT(mluopsConvexGiouProblem, grad_pointsets, 40));
static_assert(sizeof(mluopsMinAreaPolygonsProblem) == 32 && AT(mluopsMinAreaPolygonsProblem, shape, 0) &&
              AT(mluopsMinAreaPolygonsProblem, pointsets, 16) && AT(mluopsMinAreaPolygonsProblem, polygons, 24));
static_assert(sizeof(mluopsPointsInPolygonsShape) == 24 && AT(mluopsPointsInPolygonsShape, dtype, 0) &&
              AT(mluopsPointsInPolygonsShape, n, 8) && AT(mluopsPointsInPolygonsShape, m, 16));
static_assert(sizeof(mluopsPointsInPolygonsProblem) == 48 && AT(mluopsPointsInPolygonsProblem, shape, 0) &&
              AT(mluopsPointsInPolygonsProblem, points, 24) && AT(mluopsPointsInPolygonsProblem, polygons, 32) &&
              AT(mluopsPointsInPolygonsProblem, inside, 40));
static_assert(sizeof(mluopsPriorBoxShape) == 48 && AT(mluopsPriorBoxShape, dtype, 0) &&
              AT(mluopsPriorBoxShape, sizes, 8) && AT(mluopsPriorBoxShape, ratios, 16) &&
              AT(mluopsPriorBoxShape, max_sizes, 24) && AT(mluopsPriorBoxShape, h, 32) &&
              AT(mluopsPriorBoxShape, w, 40));
static_assert(sizeof(mluopsPriorBoxProblem) == 136 && AT(mluopsPriorBoxProblem, shape, 0) &&
              AT(mluopsPriorBoxProblem, min_sizes, 48) && AT(mluopsPriorBoxProblem, aspect_ratios, 56) &&
              AT(mluopsPriorBoxProblem, variances, 64) && AT(mluopsPriorBoxProblem, max_sizes, 72) &&
              AT(mluopsPriorBoxProblem, output, 80) && AT(mluopsPriorBoxProblem, var, 88) &&
              AT(mluopsPriorBoxProblem, im_height, 96) && AT(mluopsPriorBoxProblem, im_width, 100) &&
              AT(mluopsPriorBoxProblem, step_h, 104) && AT(mluopsPriorBoxProblem, step_w, 112) &&
              AT(mluopsPriorBoxProblem, offset, 120) && AT(mluopsPriorBoxProblem, clip, 128) &&
              AT(mluopsPriorBoxProblem, min_max_order, 132));
static_assert(sizeof(mluopsPrRoiPoolShape) == 72 && AT(mluopsPrRoiPoolShape, dtype, 0) &&
              AT(mluopsPrRoiPoolShape, batch, 8) && AT(mluopsPrRoiPoolShape, h, 16) &&
              AT(mluopsPrRoiPoolShape, w, 24) && AT(mluopsPrRoiPoolShape, c, 32) &&
              AT(mluopsPrRoiPoolShape, rois, 40) && AT(mluopsPrRoiPoolShape, pooled_h, 48) &&
              AT(mluopsPrRoiPoolShape, pooled_w, 56) && AT(mluopsPrRoiPoolShape, spatial_scale, 64));
static_assert(sizeof(mluopsPrRoiPoolForwardProblem) == 112 && AT(mluopsPrRoiPoolForwardProblem, shape, 0) &&
              AT(mluopsPrRoiPoolForwardProblem, input, 72) && AT(mluopsPrRoiPoolForwardProblem, rois, 80) &&
              AT(mluopsPrRoiPoolForwardProblem, output, 88) && AT(mluopsPrRoiPoolForwardProblem, layout, 96) &&
              AT(mluopsPrRoiPoolForwardProblem, exact_spatial_scale, 104));
static_assert(sizeof(mluopsPrRoiPoolBackwardProblem) == 128 && AT(mluopsPrRoiPoolBackwardProblem, shape, 0) &&
              AT(mluopsPrRoiPoolBackwardProblem, grad_output, 72) && AT(mluopsPrRoiPoolBackwardProblem, input, 80) &&
              AT(mluopsPrRoiPoolBackwardProblem, rois, 88) && AT(mluopsPrRoiPoolBackwardProblem, grad_input, 96) &&
              AT(mluopsPrRoiPoolBackwardProblem, grad_rois, 104) && AT(mluopsPrRoiPoolBackwardProblem, layout, 112) &&
              AT(mluopsPrRoiPoolBackwardProblem, exact_spatial_scale, 120));
static_assert(sizeof(mluopsPsRoiPoolShape) == 72 && AT(mluopsPsRoiPoolShape, dtype, 0) &&
              AT(mluopsPsRoiPoolShape, batch, 8) && AT(mluopsPsRoiPoolShape, h, 16) &&
              AT(mluopsPsRoiPoolShape, w, 24) && AT(mluopsPsRoiPoolShape, rois, 32) &&
              AT(mluopsPsRoiPoolShape, pooled_h, 40) && AT(mluopsPsRoiPoolShape, pooled_w, 48) &&
              AT(mluopsPsRoiPoolShape, output_dim, 56) && AT(mluopsPsRoiPoolShape, spatial_scale, 64));
static_assert(sizeof(mluopsPsRoiPoolForwardProblem) == 120 && AT(mluopsPsRoiPoolForwardProblem, shape, 0) &&
              AT(mluopsPsRoiPoolForwardProblem, input, 72) && AT(mluopsPsRoiPoolForwardProblem, rois, 80) &&
              AT(mluopsPsRoiPoolForwardProblem, output, 88) && AT(mluopsPsRoiPoolForwardProblem, mapping_channel, 96) &&
              AT(mluopsPsRoiPoolForwardProblem, layout, 104) &&
              AT(mluopsPsRoiPoolForwardProblem, exact_spatial_scale, 112));
static_assert(sizeof(mluopsPsRoiPoolBackwardProblem) == 120 && AT(mluopsPsRoiPoolBackwardProblem, shape, 0) &&
              AT(mluopsPsRoiPoolBackwardProblem, grad_output, 72) && AT(mluopsPsRoiPoolBackwardProblem, rois, 80) &&
              AT(mluopsPsRoiPoolBackwardProblem, mapping_channel, 88) &&
              AT(mluopsPsRoiPoolBackwardProblem, grad_input, 96) && AT(mluopsPsRoiPoolBackwardProblem, layout, 104) &&
              AT(mluopsPsRoiPoolBackwardProblem, exact_spatial_scale, 112));
static_assert(sizeof(mluopsPsamaskShape) == 56 && AT(mluopsPsamaskShape, dtype, 0) && AT(mluopsPsamaskShape, n, 8) &&
              AT(mluopsPsamaskShape, h, 16) && AT(mluopsPsamaskShape, w, 24) && AT(mluopsPsamaskShape, h_mask, 32) &&
              AT(mluopsPsamaskShape, w_mask, 40) && AT(mluopsPsamaskShape, psa_type, 48));
static_assert(sizeof(mluopsPsamaskForwardProblem) == 80 && AT(mluopsPsamaskForwardProblem, shape, 0) &&
              AT(mluopsPsamaskForwardProblem, x, 56) && AT(mluopsPsamaskForwardProblem, y, 64) &&
              AT(mluopsPsamaskForwardProblem, layout, 72));
static_assert(sizeof(mluopsPsamaskBackwardProblem) == 80 && AT(mluopsPsamaskBackwardProblem, shape, 0) &&
              AT(mluopsPsamaskBackwardProblem, dy, 56) && AT(mluopsPsamaskBackwardProblem, dx, 64) &&
              AT(mluopsPsamaskBackwardProblem, layout, 72));
static_assert(sizeof(mluopsRoiAlignShape) == 80 && AT(mluopsRoiAlignShape, dtype, 0) &&
              AT(mluopsRoiAlignShape, batch, 8) && AT(mluopsRoiAlignShape, h, 16) && AT(mluopsRoiAlignShape, w, 24) &&
              AT(mluopsRoiAlignShape, c, 32) && AT(mluopsRoiAlignShape, rois, 40) &&
              AT(mluopsRoiAlignShape, pooled_h, 48) && AT(mluopsRoiAlignShape, pooled_w, 56) &&
              AT(mluopsRoiAlignShape, spatial_scale, 64) && AT(mluopsRoiAlignShape, sampling_ratio, 68) &&
              AT(mluopsRoiAlignShape, aligned, 72) && AT(mluopsRoiAlignShape, mean, 76));
static_assert(sizeof(mluopsRoiAlignForwardProblem) == 136 && AT(mluopsRoiAlignForwardProblem, shape, 0) &&
              AT(mluopsRoiAlignForwardProblem, input, 80) && AT(mluopsRoiAlignForwardProblem, rois, 88) &&
              AT(mluopsRoiAlignForwardProblem, output, 96) && AT(mluopsRoiAlignForwardProblem, argmax_x, 104) &&
              AT(mluopsRoiAlignForwardProblem, argmax_y, 112) && AT(mluopsRoiAlignForwardProblem, layout, 120) &&
              AT(mluopsRoiAlignForwardProblem, exact_spatial_scale, 128));
static_assert(sizeof(mluopsRoiAlignBackwardProblem) == 136 && AT(mluopsRoiAlignBackwardProblem, shape, 0) &&
              AT(mluopsRoiAlignBackwardProblem, grad_output, 80) && AT(mluopsRoiAlignBackwardProblem, rois, 88) &&
              AT(mluopsRoiAlignBackwardProblem, argmax_x, 96) && AT(mluopsRoiAlignBackwardProblem, argmax_y, 104) &&
              AT(mluopsRoiAlignBackwardProblem, grad_input, 112) && AT(mluopsRoiAlignBackwardProblem, layout, 120) &&
              AT(mluopsRoiAlignBackwardProblem, exact_spatial_scale, 128));
static_assert(sizeof(mluopsRoiAlignRotatedShape) == 80 && AT(mluopsRoiAlignRotatedShape, dtype, 0) &&
              AT(mluopsRoiAlignRotatedShape, batch, 8) && AT(mluopsRoiAlignRotatedShape, h, 16) &&
              AT(mluopsRoiAlignRotatedShape, w, 24) && AT(mluopsRoiAlignRotatedShape, c, 32) &&
              AT(mluopsRoiAlignRotatedShape, rois, 40) && AT(mluopsRoiAlignRotatedShape, pooled_h, 48) &&
              AT(mluopsRoiAlignRotatedShape, pooled_w, 56) && AT(mluopsRoiAlignRotatedShape, spatial_scale, 64) &&
              AT(mluopsRoiAlignRotatedShape, sample_ratio, 68) && AT(mluopsRoiAlignRotatedShape, aligned, 72) &&
              AT(mluopsRoiAlignRotatedShape, clockwise, 76));
static_assert(sizeof(mluopsRoiAlignRotatedForwardProblem) == 120 && AT(mluopsRoiAlignRotatedForwardProblem, shape, 0) &&
              AT(mluopsRoiAlignRotatedForwardProblem, input, 80) && AT(mluopsRoiAlignRotatedForwardProblem, rois, 88) &&
              AT(mluopsRoiAlignRotatedForwardProblem, output, 96) &&
              AT(mluopsRoiAlignRotatedForwardProblem, layout, 104) &&
              AT(mluopsRoiAlignRotatedForwardProblem, exact_spatial_scale, 112));
static_assert(sizeof(mluopsRoiAlignRotatedBackwardProblem) == 120 &&
              AT(mluopsRoiAlignRotatedBackwardProblem, shape, 0) &&
              AT(mluopsRoiAlignRotatedBackwardProblem, grad_output, 80) &&
              AT(mluopsRoiAlignRotatedBackwardProblem, rois, 88) &&
              AT(mluopsRoiAlignRotatedBackwardProblem, grad_input, 96) &&
              AT(mluopsRoiAlignRotatedBackwardProblem, layout, 104) &&
              AT(mluopsRoiAlignRotatedBackwardProblem, exact_spatial_scale, 112));
static_assert(sizeof(mluopsRoiCropShape) == 64 && AT(mluopsRoiCropShape, dtype, 0) &&
              AT(mluopsRoiCropShape, batch, 8) && AT(mluopsRoiCropShape, h, 16) && AT(mluopsRoiCropShape, w, 24) &&
              AT(mluopsRoiCropShape, c, 32) && AT(mluopsRoiCropShape, grids, 40) && AT(mluopsRoiCropShape, out_h, 48) &&
              AT(mluopsRoiCropShape, out_w, 56));
static_assert(sizeof(mluopsRoiCropForwardProblem) == 96 && AT(mluopsRoiCropForwardProblem, shape, 0) &&
              AT(mluopsRoiCropForwardProblem, input, 64) && AT(mluopsRoiCropForwardProblem, grid, 72) &&
              AT(mluopsRoiCropForwardProblem, output, 80) && AT(mluopsRoiCropForwardProblem, layout, 88));
static_assert(sizeof(mluopsRoiCropBackwardProblem) == 96 && AT(mluopsRoiCropBackwardProblem, shape, 0) &&
              AT(mluopsRoiCropBackwardProblem, grad_output, 64) && AT(mluopsRoiCropBackwardProblem, grid, 72) &&
              AT(mluopsRoiCropBackwardProblem, grad_input, 80) && AT(mluopsRoiCropBackwardProblem, layout, 88));
static_assert(sizeof(mluopsRoiPoolShape) == 72 && AT(mluopsRoiPoolShape, dtype, 0) &&
              AT(mluopsRoiPoolShape, batch, 8) && AT(mluopsRoiPoolShape, h, 16) && AT(mluopsRoiPoolShape, w, 24) &&
              AT(mluopsRoiPoolShape, c, 32) && AT(mluopsRoiPoolShape, rois, 40) &&
              AT(mluopsRoiPoolShape, pooled_h, 48) && AT(mluopsRoiPoolShape, pooled_w, 56) &&
              AT(mluopsRoiPoolShape, spatial_scale, 64));
static_assert(sizeof(mluopsRoiPoolForwardProblem) == 120 && AT(mluopsRoiPoolForwardProblem, shape, 0) &&
              AT(mluopsRoiPoolForwardProblem, input, 72) && AT(mluopsRoiPoolForwardProblem, rois, 80) &&
              AT(mluopsRoiPoolForwardProblem, output, 88) && AT(mluopsRoiPoolForwardProblem, argmax, 96) &&
              AT(mluopsRoiPoolForwardProblem, layout, 104) &&
              AT(mluopsRoiPoolForwardProblem, exact_spatial_scale, 112));
static_assert(sizeof(mluopsRoiPoolBackwardProblem) == 120 && AT(mluopsRoiPoolBackwardProblem, shape, 0) &&
              AT(mluopsRoiPoolBackwardProblem, grad_output, 72) && AT(mluopsRoiPoolBackwardProblem, rois, 80) &&
              AT(mluopsRoiPoolBackwardProblem, argmax, 88) && AT(mluopsRoiPoolBackwardProblem, grad_input, 96) &&
              AT(mluopsRoiPoolBackwardProblem, layout, 104) &&
              AT(mluopsRoiPoolBackwardProblem, exact_spatial_scale, 112));
static_assert(sizeof(mluopsRoiAwarePool3dShape) == 72 && AT(mluopsRoiAwarePool3dShape, dtype, 0) &&
              AT(mluopsRoiAwarePool3dShape, n, 8) && AT(mluopsRoiAwarePool3dShape, points, 16) &&
              AT(mluopsRoiAwarePool3dShape, c, 24) && AT(mluopsRoiAwarePool3dShape, most, 32) &&
              AT(mluopsRoiAwarePool3dShape, x, 40) && AT(mluopsRoiAwarePool3dShape, y, 48) &&
              AT(mluopsRoiAwarePool3dShape, z, 56) && AT(mluopsRoiAwarePool3dShape, mean, 64));
static_assert(sizeof(mluopsRoiAwarePool3dForwardProblem) == 120 && AT(mluopsRoiAwarePool3dForwardProblem, shape, 0) &&
              AT(mluopsRoiAwarePool3dForwardProblem, rois, 72) && AT(mluopsRoiAwarePool3dForwardProblem, pts, 80) &&
              AT(mluopsRoiAwarePool3dForwardProblem, pts_feature, 88) &&
              AT(mluopsRoiAwarePool3dForwardProblem, argmax, 96) &&
              AT(mluopsRoiAwarePool3dForwardProblem, pts_idx_of_voxels, 104) &&
              AT(mluopsRoiAwarePool3dForwardProblem, pooled_features, 112));
static_assert(sizeof(mluopsRoiAwarePool3dBackwardProblem) == 104 && AT(mluopsRoiAwarePool3dBackwardProblem, shape, 0) &&
              AT(mluopsRoiAwarePool3dBackwardProblem, pts_idx_of_voxels, 72) &&
              AT(mluopsRoiAwarePool3dBackwardProblem, argmax, 80) &&
              AT(mluopsRoiAwarePool3dBackwardProblem, grad_output, 88) &&
              AT(mluopsRoiAwarePool3dBackwardProblem, grad_input, 96));
static_assert(sizeof(mluopsRoiPointPool3dShape) == 48 && AT(mluopsRoiPointPool3dShape, dtype, 0) &&
              AT(mluopsRoiPointPool3dShape, b, 8) && AT(mluopsRoiPointPool3dShape, n, 16) &&
              AT(mluopsRoiPointPool3dShape, m, 24) && AT(mluopsRoiPointPool3dShape, c, 32) &&
              AT(mluopsRoiPointPool3dShape, samples, 40));
static_assert(sizeof(mluopsRoiPointPool3dProblem) == 88 && AT(mluopsRoiPointPool3dProblem, shape, 0) &&
              AT(mluopsRoiPointPool3dProblem, points, 48) && AT(mluopsRoiPointPool3dProblem, point_features, 56) &&
              AT(mluopsRoiPointPool3dProblem, boxes3d, 64) && AT(mluopsRoiPointPool3dProblem, pooled_features, 72) &&
              AT(mluopsRoiPointPool3dProblem, pooled_empty_flag, 80));
static_assert(sizeof(mluopsRotatedFeatureAlignShape) == 48 && AT(mluopsRotatedFeatureAlignShape, dtype, 0) &&
              AT(mluopsRotatedFeatureAlignShape, batch, 8) && AT(mluopsRotatedFeatureAlignShape, h, 16) &&
              AT(mluopsRotatedFeatureAlignShape, w, 24) && AT(mluopsRotatedFeatureAlignShape, c, 32) &&
              AT(mluopsRotatedFeatureAlignShape, spatial_scale, 40) && AT(mluopsRotatedFeatureAlignShape, points, 44));
static_assert(sizeof(mluopsRotatedFeatureAlignForwardProblem) == 88 &&
              AT(mluopsRotatedFeatureAlignForwardProblem, shape, 0) &&
              AT(mluopsRotatedFeatureAlignForwardProblem, input, 48) &&
              AT(mluopsRotatedFeatureAlignForwardProblem, bboxes, 56) &&
              AT(mluopsRotatedFeatureAlignForwardProblem, output, 64) &&
              AT(mluopsRotatedFeatureAlignForwardProblem, layout, 72) &&
              AT(mluopsRotatedFeatureAlignForwardProblem, exact_spatial_scale, 80));
static_assert(sizeof(mluopsRotatedFeatureAlignBackwardProblem) == 88 &&
              AT(mluopsRotatedFeatureAlignBackwardProblem, shape, 0) &&
              AT(mluopsRotatedFeatureAlignBackwardProblem, grad_output, 48) &&
              AT(mluopsRotatedFeatureAlignBackwardProblem, bboxes, 56) &&
              AT(mluopsRotatedFeatureAlignBackwardProblem, grad_input, 64) &&
              AT(mluopsRotatedFeatureAlignBackwardProblem, layout, 72) &&
              AT(mluopsRotatedFeatureAlignBackwardProblem, exact_spatial_scale, 80));
static_assert(sizeof(mluopsRotatedIouShape) == 24 && AT(mluopsRotatedIouShape, dtype, 0) &&
              AT(mluopsRotatedIouShape, count, 8) && AT(mluopsRotatedIouShape, numbers, 16));
static_assert(sizeof(mluopsRotatedIouForwardProblem) == 48 && AT(mluopsRotatedIouForwardProblem, shape, 0) &&
              AT(mluopsRotatedIouForwardProblem, box1, 24) && AT(mluopsRotatedIouForwardProblem, box2, 32) &&
              AT(mluopsRotatedIouForwardProblem, ious, 40));
static_assert(sizeof(mluopsRotatedIouBackwardProblem) == 64 && AT(mluopsRotatedIouBackwardProblem, shape, 0) &&
              AT(mluopsRotatedIouBackwardProblem, grad_ious, 24) && AT(mluopsRotatedIouBackwardProblem, box1, 32) &&
              AT(mluopsRotatedIouBackwardProblem, box2, 40) && AT(mluopsRotatedIouBackwardProblem, grad_box1, 48) &&
              AT(mluopsRotatedIouBackwardProblem, grad_box2, 56));
static_assert(sizeof(mluopsThreeInterpolateShape) == 40 && AT(mluopsThreeInterpolateShape, dtype, 0) &&
              AT(mluopsThreeInterpolateShape, b, 8) && AT(mluopsThreeInterpolateShape, c, 16) &&
              AT(mluopsThreeInterpolateShape, m, 24) && AT(mluopsThreeInterpolateShape, n, 32));
static_assert(sizeof(mluopsThreeInterpolateForwardProblem) == 72 &&
              AT(mluopsThreeInterpolateForwardProblem, shape, 0) &&
              AT(mluopsThreeInterpolateForwardProblem, features, 40) &&
              AT(mluopsThreeInterpolateForwardProblem, indices, 48) &&
              AT(mluopsThreeInterpolateForwardProblem, weights, 56) &&
              AT(mluopsThreeInterpolateForwardProblem, output, 64));
static_assert(sizeof(mluopsThreeInterpolateBackwardProblem) == 72 &&
              AT(mluopsThreeInterpolateBackwardProblem, shape, 0) &&
              AT(mluopsThreeInterpolateBackwardProblem, grad_output, 40) &&
              AT(mluopsThreeInterpolateBackwardProblem, indices, 48) &&
              AT(mluopsThreeInterpolateBackwardProblem, weights, 56) &&
              AT(mluopsThreeInterpolateBackwardProblem, grad_features, 64));
static_assert(sizeof(mluopsThreeNNShape) == 32 && AT(mluopsThreeNNShape, dtype, 0) && AT(mluopsThreeNNShape, b, 8) &&
              AT(mluopsThreeNNShape, n, 16) && AT(mluopsThreeNNShape, m, 24));
static_assert(sizeof(mluopsThreeNNForwardProblem) == 64 && AT(mluopsThreeNNForwardProblem, shape, 0) &&
              AT(mluopsThreeNNForwardProblem, unknown, 32) && AT(mluopsThreeNNForwardProblem, known, 40) &&
              AT(mluopsThreeNNForwardProblem, dist2, 48) && AT(mluopsThreeNNForwardProblem, idx, 56));
static_assert(sizeof(mluopsVoxelPoolingShape) == 56 && AT(mluopsVoxelPoolingShape, dtype, 0) &&
              AT(mluopsVoxelPoolingShape, batch, 8) && AT(mluopsVoxelPoolingShape, points, 16) &&
              AT(mluopsVoxelPoolingShape, c, 24) && AT(mluopsVoxelPoolingShape, x, 32) &&
              AT(mluopsVoxelPoolingShape, y, 40) && AT(mluopsVoxelPoolingShape, z, 48));
static_assert(sizeof(mluopsVoxelPoolingForwardProblem) == 88 && AT(mluopsVoxelPoolingForwardProblem, shape, 0) &&
              AT(mluopsVoxelPoolingForwardProblem, geom_xyz, 56) && AT(mluopsVoxelPoolingForwardProblem, input, 64) &&
              AT(mluopsVoxelPoolingForwardProblem, output, 72) && AT(mluopsVoxelPoolingForwardProblem, pos_memo, 80));
static_assert(sizeof(mluopsVoxelizationShape) == 40 && AT(mluopsVoxelizationShape, dtype, 0) &&
              AT(mluopsVoxelizationShape, n, 8) && AT(mluopsVoxelizationShape, features, 16) &&
              AT(mluopsVoxelizationShape, max_points, 24) && AT(mluopsVoxelizationShape, max_voxels, 32));
static_assert(sizeof(mluopsVoxelizationProblem) == 96 && AT(mluopsVoxelizationProblem, shape, 0) &&
              AT(mluopsVoxelizationProblem, points, 40) && AT(mluopsVoxelizationProblem, voxel_size, 48) &&
              AT(mluopsVoxelizationProblem, coors_range, 56) && AT(mluopsVoxelizationProblem, voxels, 64) &&
              AT(mluopsVoxelizationProblem, coors, 72) && AT(mluopsVoxelizationProblem, num_points_per_voxel, 80) &&
              AT(mluopsVoxelizationProblem, voxel_num, 88));
static_assert(sizeof(mluopsDynamicVoxelizeProblem) == 72 && AT(mluopsDynamicVoxelizeProblem, shape, 0) &&
              AT(mluopsDynamicVoxelizeProblem, points, 40) && AT(mluopsDynamicVoxelizeProblem, voxel_size, 48) &&
              AT(mluopsDynamicVoxelizeProblem, coors_range, 56) && AT(mluopsDynamicVoxelizeProblem, coors, 64));
static_assert(sizeof(mluopsYoloBoxShape) == 48 && AT(mluopsYoloBoxShape, dtype, 0) && AT(mluopsYoloBoxShape, n, 8) &&
              AT(mluopsYoloBoxShape, anchors, 16) && AT(mluopsYoloBoxShape, classes, 24) &&
              AT(mluopsYoloBoxShape, h, 32) && AT(mluopsYoloBoxShape, w, 40));
static_assert(sizeof(mluopsYoloBoxProblem) == 128 && AT(mluopsYoloBoxProblem, shape, 0) &&
              AT(mluopsYoloBoxProblem, x, 48) && AT(mluopsYoloBoxProblem, img_size, 56) &&
              AT(mluopsYoloBoxProblem, anchors, 64) && AT(mluopsYoloBoxProblem, boxes, 72) &&
              AT(mluopsYoloBoxProblem, scores, 80) && AT(mluopsYoloBoxProblem, conf_thresh, 88) &&
              AT(mluopsYoloBoxProblem, scale, 96) && AT(mluopsYoloBoxProblem, iou_aware_factor, 104) &&
              AT(mluopsYoloBoxProblem, downsample_ratio, 112) && AT(mluopsYoloBoxProblem, clip_bbox, 116) &&
              AT(mluopsYoloBoxProblem, iou_aware, 120));
static_assert(sizeof(mluopsThreeInterpolateBackwardWeightProblem) == 72 &&
              AT(mluopsThreeInterpolateBackwardWeightProblem, shape, 0) &&
              AT(mluopsThreeInterpolateBackwardWeightProblem, grad_output, 40) &&
              AT(mluopsThreeInterpolateBackwardWeightProblem, features, 48) &&
              AT(mluopsThreeInterpolateBackwardWeightProblem, indices, 56) &&
              AT(mluopsThreeInterpolateBackwardWeightProblem, grad_weights, 64));

}  // namespace
