"""What programs import of their extensions and how they call it: module, names, and after a slash the number of arguments.
A dash marks a name that mluops has no operator for: it imports, and raises when it is called."""

MMDET3D_OPS = {
    "mmdet3d.ops.ball_query.ball_query_ext": "ball_query_wrapper/9",
    "mmdet3d.ops.bev_pool.bev_pool_ext": "bev_pool_backward/8 bev_pool_forward/8",
    "mmdet3d.ops.furthest_point_sample.furthest_point_sample_ext": """
        furthest_point_sampling_with_dist_wrapper/6 furthest_point_sampling_wrapper/6
    """,
    "mmdet3d.ops.gather_points.gather_points_ext": "gather_points_grad_wrapper/7 gather_points_wrapper/7",
    "mmdet3d.ops.group_points.group_points_ext": "backward/8 forward/8",
    "mmdet3d.ops.interpolate.interpolate_ext": """
        three_interpolate_grad_wrapper/8 three_interpolate_wrapper/8 three_nn_wrapper/7
    """,
    "mmdet3d.ops.iou3d.iou3d_cuda": "boxes_iou_bev_gpu/3 boxes_overlap_bev_gpu/3 nms_gpu/4 nms_normal_gpu/4",
    "mmdet3d.ops.knn.knn_ext": "knn_wrapper/8",
    "mmdet3d.ops.paconv.assign_score_withk_ext": """
        assign_score_withk_backward_wrapper/15 assign_score_withk_forward_wrapper/12
    """,
    "mmdet3d.ops.roiaware_pool3d.roiaware_pool3d_ext": """
        backward/5 forward/7 points_in_boxes_batch/3 points_in_boxes_cpu/3 points_in_boxes_gpu/3
    """,
    "mmdet3d.ops.spconv.sparse_conv_ext": """
        fused_indice_conv_fp32 fused_indice_conv_half get_indice_pairs_2d get_indice_pairs_3d
        get_indice_pairs_4d get_indice_pairs_grid_2d get_indice_pairs_grid_3d indice_conv_backward_fp32/7
        indice_conv_backward_half/7 indice_conv_fp32/7 indice_conv_half/7 indice_maxpool_backward_fp32/5
        indice_maxpool_backward_half/5 indice_maxpool_fp32/4 indice_maxpool_half/4
    """,
    "mmdet3d.ops.voxel.voxel_layer": """
        dynamic_point_to_voxel_backward/7 dynamic_point_to_voxel_forward/3 dynamic_voxelize/5
        hard_voxelize/10
    """,
}

ROWS = {
    "Deformable-DETR": {"MultiScaleDeformableAttention": "ms_deform_attn_backward/7 ms_deform_attn_forward/6"},
    "GroundingDINO": {"groundingdino._C": "ms_deform_attn_backward/7 ms_deform_attn_forward/6"},
    "ChamferDistancePytorch": {"chamfer_2D": "backward/8 forward/6", "chamfer_3D": "backward/8 forward/6"},
    "DCNv2": {
        "_ext": "dcn_v2_backward/15 dcn_v2_forward/14 dcn_v2_psroi_pooling_backward dcn_v2_psroi_pooling_forward",
    },
    "BEVDepth": {"ops.voxel_pooling.voxel_pooling_ext": "voxel_pooling_forward_wrapper/10"},
    "Pointnet2_PyTorch": {
        "pointnet2_ops._ext": """
            ball_query/4 furthest_point_sampling/2 gather_points/2 gather_points_grad/3 group_points/2
            group_points_grad/3 three_interpolate/3 three_interpolate_grad/4 three_nn/2
        """,
    },
    "Point Transformer": {
        "pointops_cuda": """
            aggregation_backward_cuda/12 aggregation_forward_cuda/9 furthestsampling_cuda/7 grouping_backward_cuda/6
            grouping_forward_cuda/6 interpolation_backward_cuda/7 interpolation_forward_cuda/7 knnquery_cuda/8
            subtraction_backward_cuda/7 subtraction_forward_cuda/7
        """,
    },
    "Cylinder3D": {
        "spconv": "SparseConv3d SparseConvTensor SparseInverseConv3d SparseModule SparseSequential SubMConv3d",
    },
    "MinkUNet": {
        "MinkowskiEngine": """
            MinkowskiBatchNorm MinkowskiConvolution MinkowskiConvolutionTranspose MinkowskiReLU SparseTensor cat
        """,
    },
    "programs with torch_scatter": {
        "torch_cluster": "fps knn knn_graph nearest radius radius_graph",
        "torch_scatter": "gather_csr scatter scatter_add scatter_max scatter_mean scatter_min scatter_sum segment_csr",
    },
    "3DETR": {
        "pointnet2._ext": """
            ball_query/4 furthest_point_sampling/2 gather_points/2 gather_points_grad/3 group_points/2
            group_points_grad/3 three_interpolate/3 three_interpolate_grad/4 three_nn/2
        """,
    },
    "AdelaiDet": {
        "adet._C": "bezier_align_backward/11 bezier_align_forward/7 def_roi_align_backward/15 def_roi_align_forward/9",
    },
    "BasicSR": {
        "basicsr.ops.dcn.deform_conv_ext": """
            deform_conv_backward_input/18 deform_conv_backward_parameters/18 deform_conv_forward/17
            modulated_deform_conv_backward/24 modulated_deform_conv_forward/19
        """,
        "basicsr.ops.fused_act.fused_act_ext": "fused_bias_act/7",
        "basicsr.ops.upfirdn2d.upfirdn2d_ext": "upfirdn2d/10",
    },
    "BEVDet": {
        **MMDET3D_OPS,
    },
    "BEVFusion": {
        **MMDET3D_OPS,
        "mmdet3d.ops.feature_decorator.feature_decorator_ext": "-feature_decorator_forward/3",
    },
    "CBNet (mmdet 2.0)": {
        "mmdet.ops.affine_grid.affine_grid_cuda": "-affine_grid_generator_backward -affine_grid_generator_forward",
        "mmdet.ops.carafe.carafe_cuda": "backward/12 forward/9",
        "mmdet.ops.carafe.carafe_naive_cuda": "backward/8 forward/6",
        "mmdet.ops.dcn.deform_conv_cuda": """
            deform_conv_backward_input_cuda/18 deform_conv_backward_parameters_cuda/18
            deform_conv_forward_cuda/17 modulated_deform_conv_cuda_backward/24
            modulated_deform_conv_cuda_forward/19
        """,
        "mmdet.ops.dcn.deform_pool_cuda": "deform_psroi_pooling_cuda_backward/15 deform_psroi_pooling_cuda_forward/13",
        "mmdet.ops.grid_sampler.grid_sampler_cuda": """
            -grid_sampler_2d_backward_cpu -grid_sampler_2d_backward_cuda -grid_sampler_2d_forward_cpu
            -grid_sampler_2d_forward_cuda -grid_sampler_3d_backward_cpu -grid_sampler_3d_backward_cuda
            -grid_sampler_3d_forward_cpu -grid_sampler_3d_forward_cuda
        """,
        "mmdet.ops.masked_conv.masked_conv2d_cuda": "masked_col2im_forward/7 masked_im2col_forward/8",
        "mmdet.ops.nms.nms_cpu": "nms/2 soft_nms/5",
        "mmdet.ops.nms.nms_cuda": "nms/2",
        "mmdet.ops.roi_align.roi_align_cuda": "backward_v1/7 backward_v2/11 forward_v1/7 forward_v2/7",
        "mmdet.ops.roi_pool.roi_pool_cuda": "backward/5 forward/7",
        "mmdet.ops.sigmoid_focal_loss.sigmoid_focal_loss_cuda": "backward/6 forward/5",
    },
    "CenterPoint": {
        "det3d.ops.dcn.deform_conv_cuda": """
            deform_conv_backward_input_cuda/18 deform_conv_backward_parameters_cuda/18
            deform_conv_forward_cuda/17 modulated_deform_conv_cuda_backward/24
            modulated_deform_conv_cuda_forward/19
        """,
        "det3d.ops.iou3d_nms.iou3d_nms_cuda": "boxes_iou_bev_gpu/3 boxes_overlap_bev_gpu/3 nms_gpu/3 nms_normal_gpu/3",
    },
    "CornerNet": {
        "bottom_pool": "backward/2 forward/1",
        "left_pool": "backward/2 forward/1",
        "right_pool": "backward/2 forward/1",
        "top_pool": "backward/2 forward/1",
    },
    "DCNv4": {
        "DCNv3": "dcnv3_backward/16 dcnv3_forward/15",
        "DCNv4.ext": "dcnv4_backward dcnv4_forward flash_deform_attn_backward/9 flash_deform_attn_forward/8",
        "apex.amp": "initialize",
    },
    "DeepSolo": {
        "adet._C": "ms_deform_attn_backward/7 ms_deform_attn_forward/6",
        "detectron2._C": """
            -COCOevalAccumulate/2 -COCOevalEvaluateImages/6 -InstanceAnnotation/5 deform_conv_backward_filter/18
            deform_conv_backward_input/18 deform_conv_forward/17 get_compiler_version/0 get_cuda_version/0
            modulated_deform_conv_backward/24 modulated_deform_conv_forward/19
        """,
    },
    "Det3D": {
        "correlation_cuda": "backward/13",
        "det3d.ops.sigmoid_focal_loss.sigmoid_focal_loss_cuda": "backward/6 forward/5",
        "detectron2._C": "box_iou_rotated/2",
        "iou3d_cuda": "boxes_iou_bev_gpu/3 nms_gpu/3 nms_normal_gpu/3",
        "pointnet2._ext": """
            ball_query/4 furthest_point_sampling/2 gather_points/2 gather_points_grad/3 group_points/2
            group_points_grad/3 three_interpolate/3 three_interpolate_grad/4 three_nn/2
        """,
        "roipool3d_cuda": "forward/5 pts_in_boxes3d_cpu/3 roipool3d_cpu/6",
    },
    "detectron2": {
        "tensormask._C": "-swap_align2nat_backward/6 -swap_align2nat_forward/3",
        "detectron2._C": """
            -COCOevalAccumulate/2 -COCOevalEvaluateImages/6 -InstanceAnnotation/5 deform_conv_backward_filter/18
            deform_conv_backward_input/18 deform_conv_forward/17 get_compiler_version/0 get_cuda_version/0
            modulated_deform_conv_backward/24 modulated_deform_conv_forward/19
        """,
    },
    "FlowNet2": {
        "channelnorm_cuda": "backward/5 forward/3",
        "correlation_cuda": "backward/13 forward/11",
        "resample2d_cuda": "backward/7 forward/5",
    },
    "GLIP": {
        "maskrcnn_benchmark._C": """
            deform_conv_backward_input/18 deform_conv_backward_parameters/18 deform_conv_forward/17 ml_nms
            modulated_deform_conv_backward/24 modulated_deform_conv_forward/19 nms roi_align_backward/10
            roi_align_forward/6 roi_pool_backward/11 roi_pool_forward/5 sigmoid_focalloss_backward/6
            sigmoid_focalloss_forward/5 soft_nms
        """,
    },
    "InternImage": {
        "DCNv3": "dcnv3_backward/16 dcnv3_forward/15",
        "apex.amp": "initialize",
    },
    "MapTR": {
        **MMDET3D_OPS,
        "GeometricKernelAttention": "geometric_kernel_attn_cuda_backward/7 geometric_kernel_attn_cuda_forward/6",
        "mmdet3d.ops.bev_pool_v2.bev_pool_v2_ext": "bev_pool_v2_backward/10 bev_pool_v2_forward/8",
    },
    "maskrcnn-benchmark": {
        "apex.amp": "float_function/1 init initialize scale_loss/2",
        "maskrcnn_benchmark._C": """
            deform_conv_backward_input/18 deform_conv_backward_parameters/18 deform_conv_forward/17
            deform_psroi_pooling_backward/15 deform_psroi_pooling_forward/13 modulated_deform_conv_backward/24
            modulated_deform_conv_forward/19 nms roi_align_backward/10 roi_align_forward/6 roi_pool_backward/11
            roi_pool_forward/5 sigmoid_focalloss_backward/6 sigmoid_focalloss_forward/5
        """,
    },
    "mmdet3d's projects": {
        "projects.BEVFusion.bevfusion.ops.bev_pool.bev_pool_ext": "bev_pool_backward/8 bev_pool_forward/8",
        "projects.BEVFusion.bevfusion.ops.voxel.voxel_layer": """
            dynamic_point_to_voxel_backward/7 dynamic_point_to_voxel_forward/3 dynamic_voxelize/5
            hard_voxelize/10
        """,
    },
    "OpenPCDet": {
        "pcdet.ops.bev_pool.bev_pool_ext": "bev_pool_backward/8 bev_pool_forward/8",
        "pcdet.ops.iou3d_nms.iou3d_nms_cuda": """
            boxes_aligned_overlap_bev_gpu/3 boxes_iou_bev_cpu/3 boxes_iou_bev_gpu/3 boxes_overlap_bev_gpu/3
            nms_gpu/3 nms_normal_gpu/3 paired_boxes_overlap_bev_gpu/3
        """,
        "pcdet.ops.pointnet2.pointnet2_batch.pointnet2_batch_cuda": """
            ball_query_wrapper/8 farthest_point_sampling_wrapper/6 gather_points_grad_wrapper/7
            gather_points_wrapper/7 group_points_grad_wrapper/8 group_points_wrapper/8
            three_interpolate_grad_wrapper/8 three_interpolate_wrapper/8 three_nn_wrapper/7
        """,
        "pcdet.ops.pointnet2.pointnet2_stack.pointnet2_stack_cuda": """
            ball_query_wrapper/9 farthest_point_sampling_wrapper/6 group_points_grad_wrapper/10
            group_points_wrapper/9 query_stacked_local_neighbor_idxs_wrapper_stack/11
            query_three_nn_by_stacked_local_idxs_wrapper_stack/9 stack_farthest_point_sampling_wrapper/5
            three_interpolate_grad_wrapper/4 three_interpolate_wrapper/4 three_nn_wrapper/6
            vector_pool_grad_wrapper/4 vector_pool_wrapper/18 voxel_query_wrapper/14
        """,
        "pcdet.ops.roiaware_pool3d.roiaware_pool3d_cuda": """
            backward/5 forward/7 points_in_boxes_cpu/3 points_in_boxes_gpu/3
        """,
        "pcdet.ops.roipoint_pool3d.roipoint_pool3d_cuda": "forward/5",
    },
    "PointGroup": {
        "PG_OP": """
            ballquery_batch_p/8 bfs_cluster/7 get_iou/7 point_recover_bp/6 point_recover_fp/6 roipool_bp/6
            roipool_fp/6 sec_max/5 sec_mean/5 sec_min/5 voxelize_bp/7 voxelize_fp/7 voxelize_idx/6
        """,
    },
    "PoinTr": {
        "chamfer": "backward/6 forward/2",
        "cubic_feature_sampling": "backward/4 forward/4",
        "emd": "backward/5 forward/16",
        "gridding": "backward/3 forward/7 rev_backward/3 rev_forward/2",
        "gridding_distance": "backward/3 forward/7",
    },
    "PointRCNN": {
        "iou3d_cuda": "boxes_iou_bev_gpu/3 boxes_overlap_bev_gpu/3 nms_gpu/3 nms_normal_gpu/3",
        "roipool3d_cuda": "forward/5 pts_in_boxes3d_cpu/3 roipool3d_cpu/6",
    },
    "AerialDetection": {
        "mmdet.ops.poly_nms.poly_nms_cuda": "poly_nms/2",
        "mmdet.ops.psroi_align_rotated.psroi_align_rotated_cuda": "-forward -backward",
        "mmdet.ops.riroi_align.riroi_align_cuda": "backward/8 forward/8",
        "mmdet.ops.roi_align_rotated.roi_align_rotated_cuda": "backward/7 forward/7",
    },
    "R3Det": {
        "mmdet.ops.fr.feature_refine_cuda": "backward/5 forward/5",
        "mmdet.ops.nms.rnms_ext": "rnms/2",
        "mmdet.ops.polygon_geo.polygon_geo_cpu": "polygon_iou/2",
        "mmdet.ops.rbbox_geo.rbbox_geo_cuda": "mat_iou_iof/3 vec_iou_iof/3",
    },
    "RAFT-Stereo": {"corr_sampler": "backward/4 forward/3"},
    "softmax-splatting": {"cupy": "RawKernel RawModule cuda float32 int32 memoize util"},
    "S2ANet": {
        "mmdet.ops.box_iou_rotated.box_iou_rotated_cuda": "box_iou_rotated",
        "mmdet.ops.box_iou_rotated_diff.sort_vertices_cuda": "sort_vertices_forward/3",
        "mmdet.ops.dcn.deform_conv_cuda": """
            deform_conv_backward_input_cuda/18 deform_conv_backward_parameters_cuda/18
            deform_conv_forward_cuda/17 modulated_deform_conv_cuda_backward/24
            modulated_deform_conv_cuda_forward/19
        """,
        "mmdet.ops.dcn.deform_pool_cuda": "deform_psroi_pooling_cuda_backward/15 deform_psroi_pooling_cuda_forward/13",
        "mmdet.ops.masked_conv.masked_conv2d_cuda": "masked_col2im_forward/7 masked_im2col_forward/8",
        "mmdet.ops.ml_nms_rotated.ml_nms_rotated_cuda": "ml_nms_rotated",
        "mmdet.ops.nms.nms_cpu": "nms/2",
        "mmdet.ops.nms.nms_cuda": "nms/2",
        "mmdet.ops.nms_rotated.nms_rotated_cuda": "nms_rotated/3",
        "mmdet.ops.orn.orn_cuda": "arf_backward/2 arf_forward/2 rie_backward/3 rie_forward/2",
        "mmdet.ops.roi_align.roi_align_cuda": "backward/7 forward/7",
        "mmdet.ops.roi_align_rotated.roi_align_rotated_cuda": """
            roi_align_rotated_backward/10 roi_align_rotated_forward/6
        """,
        "mmdet.ops.roi_pool.roi_pool_cuda": "backward/5 forward/7",
        "mmdet.ops.sigmoid_focal_loss.sigmoid_focal_loss_cuda": "backward/6 forward/5",
    },
    "scene graphs": {
        "apex.amp": "float_function/1 init initialize scale_loss/2",
        "maskrcnn_benchmark._C": """
            deform_conv_backward_input/18 deform_conv_backward_parameters/18 deform_conv_forward/17
            deform_psroi_pooling_backward/15 deform_psroi_pooling_forward/13 modulated_deform_conv_backward/24
            modulated_deform_conv_forward/19 nms roi_align_backward/10 roi_align_forward/6 roi_pool_backward/11
            roi_pool_forward/5 sigmoid_focalloss_backward/6 sigmoid_focalloss_forward/5
        """,
    },
    "Sparse4D": {
        "projects.mmdet3d_plugin.ops.deformable_aggregation_ext": """
            deformable_aggregation_backward/9 deformable_aggregation_forward/5
        """,
    },
    "Stratified Transformer": {
        "pointops2_cuda": """
            aggregation_backward_cuda/12 aggregation_forward_cuda/9 attention_step1_backward_cuda/11
            attention_step1_backward_cuda_v2/12 attention_step1_forward_cuda/9
            attention_step1_forward_cuda_v2/10 attention_step2_backward_cuda/11 attention_step2_forward_cuda/9
            attention_step2_with_rel_pos_value_backward_cuda/14
            attention_step2_with_rel_pos_value_backward_cuda_v2/15
            attention_step2_with_rel_pos_value_forward_cuda/11
            attention_step2_with_rel_pos_value_forward_cuda_v2/12 dot_prod_with_idx_backward_cuda/11
            dot_prod_with_idx_backward_cuda_v2/20 dot_prod_with_idx_backward_cuda_v3/17
            dot_prod_with_idx_forward_cuda/9 dot_prod_with_idx_forward_cuda_v2/16
            dot_prod_with_idx_forward_cuda_v3/13 furthestsampling_cuda/7 grouping_backward_cuda/6
            grouping_forward_cuda/6 interpolation_backward_cuda/7 interpolation_forward_cuda/7 knnquery_cuda/8
            subtraction_backward_cuda/7 subtraction_forward_cuda/7
        """,
        "pointops_cuda": """
            ballquery_cuda/8 featuredistribute_cuda/6 featuregather_backward_cuda/7 featuregather_forward_cuda/7
            furthestsampling_cuda/6 gathering_backward_cuda/7 gathering_forward_cuda/7 grouping_backward_cuda/8
            grouping_forward_cuda/8 grouping_int_forward_cuda/8 interpolation_backward_cuda/8
            interpolation_forward_cuda/8 knnquery_cuda/8 knnquery_heap_cuda/8 labelstat_and_ballquery_cuda/11
            labelstat_ballrange_cuda/9 labelstat_idx_cuda/8 nearestneighbor_cuda/7
        """,
    },
    "VOTR": {
        "pcdet.ops.iou3d_nms.iou3d_nms_cuda": """
            boxes_iou_bev_cpu/3 boxes_iou_bev_gpu/3 boxes_overlap_bev_gpu/3 nms_gpu/3 nms_normal_gpu/3
        """,
        "pcdet.ops.pointnet2.pointnet2_batch.pointnet2_batch_cuda": """
            ball_query_wrapper/8 furthest_point_sampling_wrapper/6 gather_points_grad_wrapper/7
            gather_points_wrapper/7 group_points_grad_wrapper/8 group_points_wrapper/8
            three_interpolate_grad_wrapper/8 three_interpolate_wrapper/8 three_nn_wrapper/7
        """,
        "pcdet.ops.pointnet2.pointnet2_stack.pointnet2_stack_cuda": """
            -ball_query_bin_wrapper/11 -ball_query_deform_wrapper/9 ball_query_wrapper/9
            furthest_point_sampling_wrapper/6 group_points_grad_wrapper/10 group_points_wrapper/9
            three_interpolate_grad_wrapper/4 three_interpolate_wrapper/4 three_nn_wrapper/6
        """,
        "pcdet.ops.roiaware_pool3d.roiaware_pool3d_cuda": """
            backward/5 -bev_in_boxes_cpu/7 -bev_in_boxes_gpu/7 forward/7 -points_in_boxes_bev_gpu/3
            points_in_boxes_cpu/3 points_in_boxes_gpu/3
        """,
        "pcdet.ops.roipoint_pool3d.roipoint_pool3d_cuda": "forward/5",
        "pcdet.ops.votr_ops.votr_ops_cuda": """
            build_mapping_with_hash_wrapper/8 build_mapping_with_tensor_wrapper/7
            downsample_with_hash_wrapper/13 downsample_with_tensor_wrapper/12 group_features_grad_wrapper/10
            group_features_wrapper/9 sparse_local_attention_with_hash_wrapper/13
            sparse_local_attention_with_tensor_wrapper/12 sparse_strided_attention_with_hash_wrapper/14
            sparse_strided_attention_with_tensor_wrapper/13 subm_local_attention_with_hash_wrapper/10
            subm_local_attention_with_tensor_wrapper/9 subm_strided_attention_with_hash_wrapper/11
            subm_strided_attention_with_tensor_wrapper/10
        """,
    },
    "PVCNN": {
        "_pvcnn_backend": """
            avg_voxelize_backward avg_voxelize_forward ball_query furthest_point_sampling
            gather_features_backward gather_features_forward grouping_backward grouping_forward
            three_nearest_neighbors_interpolate_backward three_nearest_neighbors_interpolate_forward
            trilinear_devoxelize_backward trilinear_devoxelize_forward
        """,
    },
    "SoftGroup": {
        "softgroup.ops.ops": """
            ballquery_batch_p bfs_cluster build_and_export_octree get_mask_iou_on_cluster get_mask_iou_on_pred
            get_mask_label global_avg_pool_bp global_avg_pool_fp octree_ball_query sec_max sec_mean sec_min
            voxelize_bp voxelize_fp voxelize_idx
        """,
        "spconv.pytorch": "SparseConv3d SparseConvTensor SparseInverseConv3d SparseSequential SubMConv3d",
        "spconv.pytorch.modules": "SparseModule",
    },
    "Pointcept": {
        "pointgroup_ops": "ballquery_batch_p/5 bfs_cluster/4 -Clustering",
        "pointgroup_ops_cuda": "ballquery_batch_p/8 bfs_cluster/7",
        "pointops": """
            aggregation/4 attention_fusion_step/4 attention_relation_step/5 ball_query/5 ball_query_and_group/4
            batch2offset/1 farthest_point_sampling/3 grouping/3 grouping2/2 interpolation/5 interpolation2/5 knn_query/3
            knn_query_and_group/4 offset2batch/1 query_and_group/7 random_ball_query/5 subtraction/3
        """,
        "pointops._C": """
            aggregation_backward_cuda/12 aggregation_forward_cuda/9 attention_fusion_step_backward_cuda/10
            attention_fusion_step_forward_cuda/8 attention_relation_step_backward_cuda/12
            attention_relation_step_forward_cuda/9 ball_query_cuda/10 farthest_point_sampling_cuda/7
            grouping_backward_cuda/6 grouping_forward_cuda/6 interpolation_backward_cuda/7 interpolation_forward_cuda/7
            knn_query_cuda/8 random_ball_query_cuda/11 subtraction_backward_cuda/7 subtraction_forward_cuda/7
        """,
        "spconv.pytorch": """
            SparseConv3d SparseConvTensor SparseInverseConv3d SparseModule SparseSequential SubMConv3d modules
        """,
        "torch_scatter": "scatter/4 scatter_mean/3 segment_coo segment_csr/2",
    },
    "Point-MAE and Point-BERT": {
        "chamfer": "backward/6 forward/2",
        "emd_cuda": "approxmatch_forward/2 matchcost_backward/4 matchcost_forward/3",
        "knn_cuda": "KNN",
        "pointnet2_ops": "pointnet2_utils",
        "pointnet2_ops.pointnet2_utils": "furthest_point_sample/2 gather_operation/2",
    },
    "HAIS": {
        "HAIS_OP": """
            ballquery_batch_p/8 bfs_cluster/7 cal_iou_and_masklabel/10 get_iou/7 hierarchical_aggregation/19
            point_recover_bp/6 point_recover_fp/6 roipool_bp/6 roipool_fp/6 sec_max/5 sec_mean/5 sec_min/5 voxelize_bp/7
            voxelize_fp/7 voxelize_idx/6
        """,
        "spconv": "SparseConv3d SparseConvTensor SparseInverseConv3d SparseSequential SubMConv3d",
        "spconv.modules": "SparseModule",
    },
    "spconv 2, by its own package and examples": {
        "spconv": "AlgoHint ConvAlgo SPCONV_VERSION_NUMBERS constants __version__",
        "spconv.constants": "ALL_WEIGHT_IS_KRSC FILTER_HWIO SAVED_WEIGHT_LAYOUT SPCONV_ALLOW_TF32 -AllocKeys",
        "spconv.core": "AlgoHint ConvAlgo",
        "spconv.core_cc": "-csrc_of_it",
        "spconv.pytorch": """
            AddTable ConcatTable ConvAlgo Identity JoinTable RemoveGrid -SparseAvgPool1d SparseAvgPool2d SparseAvgPool3d
            SparseBatchNorm -SparseConv1d SparseConv2d SparseConv3d SparseConv4d SparseConvTensor -SparseConvTranspose1d
            SparseConvTranspose2d SparseConvTranspose3d SparseConvTranspose4d SparseGlobalAvgPool SparseGlobalMaxPool
            SparseIdentity -SparseInverseConv1d SparseInverseConv2d SparseInverseConv3d SparseInverseConv4d -SparseMaxPool1d
            SparseMaxPool2d SparseMaxPool3d SparseMaxPool4d SparseModule SparseReLU SparseSequential -SubMConv1d SubMConv2d
            SubMConv3d SubMConv4d ToDense assign_name_for_sparse_modules/1 functional ops
        """,
        "spconv.pytorch.conv": "SparseConvolution -DEFAULT_SPARSE_CONV_TYPES -expand_nd",
        "spconv.pytorch.core": "SparseConvTensor -ImplicitGemmIndiceData -IndiceData -ThrustSortAllocator",
        "spconv.pytorch.cppcore": "-get_current_stream -torch_tensor_to_tv",
        "spconv.pytorch.functional": "sparse_add -implicit_gemm -sparse_add_hash_based",
        "spconv.pytorch.hash": "-HashTable",
        "spconv.pytorch.identity": "Identity",
        "spconv.pytorch.modules": "SparseBatchNorm SparseModule SparseSyncBatchNorm is_sparse_conv/1 is_spconv_module/1",
        "spconv.pytorch.ops": "ConvAlgo get_indice_pairs/5 -get_indice_pairs_implicit_gemm",
        "spconv.pytorch.quantization": "-get_default_spconv_trt_ptq_qconfig",
        "spconv.pytorch.tables": "AddTable ConcatTable JoinTable",
        "spconv.pytorch.utils": "PointToVoxel gather_features_by_pc_voxel_id/2",
        "spconv.test_utils": "-TestCase -generate_sparse_data -params_grid",
        "spconv.tools": "-CUDAKernelTimer",
        "spconv.utils": "Point2VoxelCPU3d -Point2VoxelGPU3d nullcontext",
    },
    "ISBNet and SPFormer": {
        "isbnet.ops.ops": """
            -ballquery_cuda ballquery_batch_p bfs_cluster -furthestsampling_cuda get_mask_iou_on_cluster
            get_mask_iou_on_pred get_mask_label global_avg_pool_bp global_avg_pool_fp sec_max sec_mean sec_min voxelize_bp
            voxelize_fp voxelize_idx
        """,
        "pointgroup_ops": """
            ballquery_batch_p/5 bfs_cluster/4 get_iou/4 point_recover/3 roipool/2 sec_max/2 sec_mean/2 sec_min/2
            voxelization/2 voxelization_idx/3
        """,
        "pointnet2._ext": "ball_query/4 furthest_point_sampling/2 -furthest_point_sampling_weights/3 three_nn/2",
    },
    "RAFT and trackers": {
        "_prroi_pooling": """
            prroi_pooling_backward_cuda/7 prroi_pooling_coor_backward_cuda/7 prroi_pooling_forward_cuda/5
        """,
        "alt_cuda_corr": "backward/5 forward/4",
        "spatial_correlation_sampler": "SpatialCorrelationSampler spatial_correlation_sample/8",
        "spatial_correlation_sampler_backend": "backward/15 forward/14",
    },
    "FairMOT and YOLACT++": {
        "_ext": """
            dcn_v2_backward/15 dcn_v2_forward/14 dcn_v2_psroi_pooling_backward/13 dcn_v2_psroi_pooling_forward/11
        """,
        "dcn_v2": "DCN DCNv2 DCNv2Pooling dcn_v2_conv/9 dcn_v2_pooling/11 -DCNPooling",
    },
    "PointPillars, YOLOv5-OBB, faster-rcnn.pytorch, Rotated_IoU": {
        "model._C": """
            nms/3 roi_align_backward/10 roi_align_forward/6 roi_pool_backward/11 roi_pool_forward/5
        """,
        "pointpillars.ops.iou3d_op": "boxes_iou_bev_gpu/3 boxes_overlap_bev_gpu/3 nms_gpu/4 nms_normal_gpu/4",
        "pointpillars.ops.voxel_op": "hard_voxelize/10",
        "sort_vertices": "sort_vertices_forward/3",
        "utils.nms_rotated.nms_rotated_ext": "nms_poly/2 nms_rotated/3",
    },
    "PVD": {
        "_pvcnn_backend": "avg_voxelize_forward ball_query furthest_point_sampling",
        "chamfer_3D": "backward/8 forward/6",
        "chamfer_5D": "backward/8 forward/6",
        "emd_cuda": "approxmatch_forward/2 matchcost_backward/4 matchcost_forward/3",
    },
    "SPVNAS": {
        "torchsparse": "SparseTensor cat/1",
        "torchsparse.backend": "GPUHashTable",
        "torchsparse.nn": "BatchNorm Conv3d GlobalAvgPool GlobalMaxPool ReLU -ToBEVConvolution",
        "torchsparse.nn.functional": """
            calc_ti_weights/3 conv3d/11 spcount/2 spdevoxelize/3 sphash/2 sphashquery/2 spvoxelize/3 -set_kmap_mode
        """,
        "torchsparse.nn.functional.devoxelize": "calc_ti_weights/3",
        "torchsparse.nn.utils": "fapply/2 get_kernel_offsets/4",
        "torchsparse.utils": "make_ntuple/2 make_tensor/3",
        "torchsparse.utils.collate": "sparse_collate/1 sparse_collate_fn/1",
        "torchsparse.utils.quantize": "sparse_quantize/2",
        "torchsparse.utils.tensor_cache": "TensorCache",
    },
    "SphereFormer": {
        "sptr_cuda": """
            attention_step1_backward_cuda/14 attention_step1_forward_cuda/11 attention_step2_backward_cuda/14
            attention_step2_forward_cuda/10 attention_step2_with_rel_pos_value_backward_cuda/18
            attention_step2_with_rel_pos_value_forward_cuda/12 dot_prod_with_idx_all_forward_cuda/15
            dot_prod_with_idx_backward_cuda/19 dot_prod_with_idx_forward_cuda/15 precompute_all_cuda/10
        """,
    },
    "MSN and PointFlow": {
        "MDS": "gather_points/2 gather_points_grad/3 minimum_density_sampling/4",
        "expansion_penalty": "backward/4 forward/8",
        "metrics.StructuralLosses.StructuralLossesBackend": "ApproxMatch/2 MatchCost/3 MatchCostGrad/3 NNDistance/2 NNDistanceGrad/6",
    },
    "LitePT": {
        "libs.pointrope.pointrope_cuda": "pointrope/4",
        "pointrope": "pointrope/4",
        "pointseg.functions": "-segment_point -segment_mesh",
    },
    "SparseBEV": {
        "models.csrc._msmv_sampling_cuda": """
            _ms_deform_attn_cuda_c23456_backward/8 _ms_deform_attn_cuda_c23456_forward/7
            _ms_deform_attn_cuda_c2345_backward/7 _ms_deform_attn_cuda_c2345_forward/6
        """,
    },
}
