/* AssignScoreWithk: part of mlu_op.h, which includes it. */
#ifndef MLUOPS_OP_ASSIGN_SCORE_WITHK_H_
#define MLUOPS_OP_ASSIGN_SCORE_WITHK_H_

#include "mlu_op_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Weighted sums over the matrices of a weight bank, for each neighbour of each centre (PAConv).
 *
 *    output[b,o,n,k] = sum over m of scores[b,n,k,m] * (points[b,i,m,o] - centers[b,j,m,o]),
 *                      i = knn_idx[b,n,k], j = knn_idx[b,n,0];  0 where i or j is outside [0,N-1]
 *
 *  @param points   T [B, N, M, O], ARRAY: the features of each point by each of M matrices.
 *  @param centers  T [B, N, M, O], ARRAY.
 *  @param scores   T [B, P, K, M], ARRAY.
 *  @param knn_idx  INT32 [B, P, K], ARRAY: K neighbours of P centres, the first one the centre itself.
 *  @param output   T [B, O, P, K], ARRAY; overwritten.
 *  T: HALF or FLOAT; EXTENDED also DOUBLE and BFLOAT16. An empty tensor: BAD_PARAM. Strided tensors: NOT_SUPPORTED.
 * Cost: 3*B*P*K*M*O flops. Source: Xu et al., "PAConv", 2021; mmcv's assign_score_withk, whose aggregate has no effect.
 */
mluOpStatus_t MLUOP_WIN_API mluOpExtAssignScoreWithkForward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t points_desc, const void* points,
    const mluOpTensorDescriptor_t centers_desc, const void* centers, const mluOpTensorDescriptor_t scores_desc,
    const void* scores, const mluOpTensorDescriptor_t knn_idx_desc, const void* knn_idx,
    const mluOpTensorDescriptor_t output_desc, void* output);

/** Gradient of mluOpExtAssignScoreWithkForward.
 *
 *    sums over the (n,k) whose i and j are inside, with g = grad_output[b,o,n,k], s = scores[b,n,k,m]:
 *    grad_points[b,i,m,o] += s * g,  grad_centers[b,j,m,o] -= s * g
 *    grad_scores[b,n,k,m] = sum over o of (points[b,i,m,o] - centers[b,j,m,o]) * g, 0 where i or j is outside
 *
 *  @param grad_output                 T [B, O, P, K], ARRAY.
 *  @param points, centers             T [B, N, M, O], ARRAY.
 *  @param scores                      T [B, P, K, M], ARRAY.
 *  @param knn_idx                     INT32 [B, P, K], ARRAY.
 *  @param grad_points, grad_centers   T [B, N, M, O], ARRAY; overwritten.
 *  @param grad_scores                 T [B, P, K, M], ARRAY; overwritten.
 *  Dtypes and statuses: those of the forward function. Cost: 6*B*P*K*M*O flops, sums in the same order for every number
 * of threads. */
mluOpStatus_t MLUOP_WIN_API mluOpExtAssignScoreWithkBackward(
    mluOpHandle_t handle, const mluOpTensorDescriptor_t grad_output_desc, const void* grad_output,
    const mluOpTensorDescriptor_t points_desc, const void* points, const mluOpTensorDescriptor_t centers_desc,
    const void* centers, const mluOpTensorDescriptor_t scores_desc, const void* scores,
    const mluOpTensorDescriptor_t knn_idx_desc, const void* knn_idx, const mluOpTensorDescriptor_t grad_points_desc,
    void* grad_points, const mluOpTensorDescriptor_t grad_centers_desc, void* grad_centers,
    const mluOpTensorDescriptor_t grad_scores_desc, void* grad_scores);

#if defined(__cplusplus)
}
#endif

#endif /* MLUOPS_OP_ASSIGN_SCORE_WITHK_H_ */
