"""mmcv's table of operators, and who serves each on this machine's CPU."""

import importlib.util
from typing import Dict, List, NamedTuple, Tuple

from ._entry_points import ENTRY_POINTS, KEEPS_OWN

# How an operator runs on the CPU without mluops.
COMPILED = "compiled"  # a compiled mmcv has CPU code for it
FALLBACK = "fallback"  # mmcv's Python code needs no extension for CPU tensors
NOT = ""


class Row(NamedTuple):
    name: str  # in mmcv's documentation
    functions: Tuple[str, ...]  # of the extension mmcv._ext
    cpu: str


def _row(name: str, functions: str, cpu: str = NOT) -> Row:
    return Row(name, tuple(functions.split()), cpu)


TABLE = (
    _row("ActiveRotatedFilter", "active_rotated_filter_forward active_rotated_filter_backward", COMPILED),
    _row("AssignScoreWithK", "assign_score_withk_forward assign_score_withk_backward"),
    _row("BallQuery", "ball_query_forward"),
    _row("BBoxOverlaps", "bbox_overlaps", COMPILED),
    _row("BezierAlign", "bezier_align_forward bezier_align_backward", COMPILED),
    _row("BiasAct", "bias_act", FALLBACK),
    _row("BorderAlign", "border_align_forward border_align_backward"),
    _row("BoxIouRotated", "box_iou_rotated", COMPILED),
    _row("BoxIouQuadri", "box_iou_quadri", COMPILED),
    _row("CARAFE", "carafe_forward carafe_backward carafe_naive_forward carafe_naive_backward"),
    _row("ChamferDistance", "chamfer_distance_forward chamfer_distance_backward"),
    _row("Conv2dGradFix", "", FALLBACK),
    _row("CrissCrossAttention", "", FALLBACK),
    _row("ContourExpand", "contour_expand", COMPILED),
    _row("ConvexIoU", "convex_iou convex_giou"),
    _row("CornerPool", "", FALLBACK),
    _row("Correlation", "correlation_forward correlation_backward"),
    _row("Deformable Convolution v1/v2",
         "deform_conv_forward deform_conv_backward_input deform_conv_backward_parameters", COMPILED),
    _row("Deformable RoIPool", "deform_roi_pool_forward deform_roi_pool_backward"),
    _row("DiffIoURotated", "diff_iou_rotated_sort_vertices_forward"),
    _row("DynamicScatter", "dynamic_point_to_voxel_forward dynamic_point_to_voxel_backward"),
    _row("FilteredLReLU", "filtered_lrelu filtered_lrelu_act_", FALLBACK),
    _row("FurthestPointSample", "furthest_point_sampling_forward"),
    _row("FurthestPointSampleWithDist", "furthest_point_sampling_with_dist_forward"),
    _row("FusedBiasLeakyrelu", "fused_bias_leakyrelu", FALLBACK),
    _row("GatherPoints", "gather_points_forward gather_points_backward"),
    _row("GroupPoints", "group_points_forward group_points_backward"),
    _row("Iou3d", "iou3d_boxes_overlap_bev_forward iou3d_nms3d_forward iou3d_nms3d_normal_forward"),
    _row("KNN", "knn_forward"),
    _row("MaskedConv", "masked_im2col_forward masked_col2im_forward"),
    _row("MergeCells", "", FALLBACK),
    _row("MinAreaPolygon", "min_area_polygons"),
    _row("ModulatedDeformConv2d", "modulated_deform_conv_forward modulated_deform_conv_backward", COMPILED),
    _row("MultiScaleDeformableAttn", "ms_deform_attn_forward ms_deform_attn_backward", FALLBACK),
    _row("NMS", "nms", COMPILED),
    _row("NMSMatch", "nms_match", COMPILED),
    _row("NMSRotated", "nms_rotated", COMPILED),
    _row("NMSQuadri", "nms_quadri", COMPILED),
    _row("PixelGroup", "pixel_group", COMPILED),
    _row("PointsInBoxes", "points_in_boxes_part_forward points_in_boxes_cpu_forward points_in_boxes_all_forward",
         COMPILED),
    _row("PointsInPolygons", "points_in_polygons_forward"),
    _row("PrRoIPool", "prroi_pool_forward prroi_pool_backward prroi_pool_coor_backward"),
    _row("PSAMask", "psamask_forward psamask_backward", COMPILED),
    _row("RotatedFeatureAlign", "rotated_feature_align_forward rotated_feature_align_backward", COMPILED),
    _row("RoIPointPool3d", "roipoint_pool3d_forward"),
    _row("RoIPool", "roi_pool_forward roi_pool_backward"),
    _row("RoIAlignRotated", "roi_align_rotated_forward roi_align_rotated_backward", COMPILED),
    _row("RiRoIAlignRotated", "riroi_align_rotated_forward riroi_align_rotated_backward"),
    _row("RoIAlign", "roi_align_forward roi_align_backward", COMPILED),
    _row("RoIAwarePool3d", "roiaware_pool3d_forward roiaware_pool3d_backward"),
    _row("SAConv2d", "deform_conv_forward deform_conv_backward_input deform_conv_backward_parameters"),
    _row("SigmoidFocalLoss", "sigmoid_focal_loss_forward sigmoid_focal_loss_backward"),
    _row("SoftmaxFocalLoss", "softmax_focal_loss_forward softmax_focal_loss_backward"),
    _row("SoftNMS", "softnms", COMPILED),
    _row("Sparse Convolution", "get_indice_pairs_2d_forward get_indice_pairs_3d_forward get_indice_pairs_4d_forward "
         "get_indice_pairs_2d_backward get_indice_pairs_3d_backward "
         "indice_conv_forward indice_conv_backward fused_indice_conv_forward indice_maxpool_forward "
         "indice_maxpool_backward"),
    _row("Synchronized BatchNorm", "sync_bn_forward_mean sync_bn_forward_var sync_bn_forward_output "
         "sync_bn_backward_param sync_bn_backward_data"),
    _row("ThreeInterpolate", "three_interpolate_forward three_interpolate_backward"),
    _row("ThreeNN", "three_nn_forward"),
    _row("TINShift", "tin_shift_forward tin_shift_backward"),
    _row("UpFirDn2d", "upfirdn2d", FALLBACK),
    _row("Voxelization", "dynamic_voxelize_forward hard_voxelize_forward", COMPILED),
)


def mmcv_here() -> str:
    """ "compiled", "lite" (or compiled for another torch), or "" where there is no mmcv."""
    if importlib.util.find_spec("mmcv") is None:
        return ""
    try:
        found = importlib.import_module("mmcv._ext")
    except ImportError:
        return "lite"
    return "compiled" if getattr(found, "__file__", None) else "lite"


def server(row: Row, mmcv: str) -> str:
    """Who serves an operator on the CPU once install() has been called: "mluops", "mmcv" (its compiled code), "Python
    fallback" or "nobody"."""
    have = row.functions and all(name in ENTRY_POINTS for name in row.functions)
    keeps = mmcv == "compiled" and all(name in KEEPS_OWN for name in row.functions)
    if mmcv and have and not keeps:
        return "mluops"
    if mmcv == "compiled" and row.cpu == COMPILED:
        return "mmcv"
    return "Python fallback" if mmcv and row.cpu == FALLBACK else "nobody"


def served() -> List[Tuple[str, str]]:
    mmcv = mmcv_here()
    return [(row.name, server(row, mmcv)) for row in TABLE]


def operator_of(function: str) -> str:
    """The operator a function of the extension belongs to; the function's own name if none."""
    return _OPERATORS.get(function, function)


def ours() -> List[str]:
    """The operators mluops has, by mmcv's names."""
    return [row.name for row in TABLE if server(row, "lite") == "mluops"]


_OPERATORS: Dict[str, str] = {function: row.name for row in reversed(TABLE) for function in row.functions}
