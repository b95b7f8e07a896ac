"""mmcv's table of operators, and who serves each on this machine's CPU. What an operator consists of is read from the
sources of the mmcv that is installed, what mluops has of it from what install() registers."""

import ast
import functools
import importlib.util
from pathlib import Path
from typing import Dict, List, NamedTuple, Tuple

from ._entry_points import COMPOSED, ENTRY_POINTS, KEEPS_OWN

# How an operator runs on the CPU without mluops.
COMPILED = "compiled"  # a compiled mmcv has CPU code for it
FALLBACK = "fallback"  # mmcv's Python code needs no extension for CPU tensors
NOT = ""


class Row(NamedTuple):
    name: str  # in mmcv's documentation
    module: str  # of mmcv.ops, that asks the extension mmcv._ext for its functions
    cpu: str
    only: Tuple[str, ...]  # these functions, where several operators share a module

    @property
    def functions(self) -> Tuple[str, ...]:
        """The functions of the extension."""
        demanded = demands().get(self.module, ())
        return tuple(name for name in demanded if name in self.only) if self.only else demanded


def _row(name: str, module: str, cpu: str = NOT, only: str = "") -> Row:
    return Row(name, module, cpu, tuple(only.split()))


TABLE = (
    _row("ActiveRotatedFilter", "active_rotated_filter", COMPILED),
    _row("AssignScoreWithK", "assign_score_withk"),
    _row("BallQuery", "ball_query"),
    _row("BBoxOverlaps", "bbox", COMPILED),
    _row("BezierAlign", "bezier_align", COMPILED),
    _row("BiasAct", "bias_act", FALLBACK),
    _row("BorderAlign", "border_align"),
    _row("BoxIouRotated", "box_iou_rotated", COMPILED),
    _row("BoxIouQuadri", "box_iou_quadri", COMPILED),
    _row("CARAFE", "carafe"),
    _row("ChamferDistance", "chamfer_distance"),
    _row("Conv2dGradFix", "", FALLBACK),
    _row("CrissCrossAttention", "", FALLBACK),
    _row("ContourExpand", "contour_expand", COMPILED),
    _row("ConvexIoU", "convex_iou"),
    _row("CornerPool", "", FALLBACK),
    _row("Correlation", "correlation"),
    _row("Deformable Convolution v1/v2", "deform_conv", COMPILED),
    _row("Deformable RoIPool", "deform_roi_pool"),
    _row("DiffIoURotated", "diff_iou_rotated"),
    _row("DynamicScatter", "scatter_points"),
    _row("FilteredLReLU", "filtered_lrelu", FALLBACK),
    _row("FurthestPointSample", "furthest_point_sample", only="furthest_point_sampling_forward"),
    _row("FurthestPointSampleWithDist", "furthest_point_sample", only="furthest_point_sampling_with_dist_forward"),
    _row("FusedBiasLeakyrelu", "fused_bias_leakyrelu", FALLBACK),
    _row("GatherPoints", "gather_points"),
    _row("GroupPoints", "group_points"),
    _row("Iou3d", "iou3d"),
    _row("KNN", "knn"),
    _row("MaskedConv", "masked_conv"),
    _row("MergeCells", "", FALLBACK),
    _row("MinAreaPolygon", "min_area_polygons"),
    _row("ModulatedDeformConv2d", "modulated_deform_conv", COMPILED),
    _row("MultiScaleDeformableAttn", "multi_scale_deform_attn", FALLBACK),
    _row("NMS", "nms", COMPILED, only="nms"),
    _row("NMSMatch", "nms", COMPILED, only="nms_match"),
    _row("NMSRotated", "nms", COMPILED, only="nms_rotated"),
    _row("NMSQuadri", "nms", COMPILED, only="nms_quadri"),
    _row("PixelGroup", "pixel_group", COMPILED),
    _row("PointsInBoxes", "points_in_boxes", COMPILED),
    _row("PointsInPolygons", "points_in_polygons"),
    _row("PrRoIPool", "prroi_pool"),
    _row("PSAMask", "psa_mask", COMPILED),
    _row("RotatedFeatureAlign", "rotated_feature_align", COMPILED),
    _row("RoIPointPool3d", "roipoint_pool3d"),
    _row("RoIPool", "roi_pool"),
    _row("RoIAlignRotated", "roi_align_rotated", COMPILED),
    _row("RiRoIAlignRotated", "riroi_align_rotated"),
    _row("RoIAlign", "roi_align", COMPILED),
    _row("RoIAwarePool3d", "roiaware_pool3d"),
    _row("SAConv2d", "deform_conv"),
    _row("SigmoidFocalLoss", "focal_loss", only="sigmoid_focal_loss_forward sigmoid_focal_loss_backward"),
    _row("SoftmaxFocalLoss", "focal_loss", only="softmax_focal_loss_forward softmax_focal_loss_backward"),
    _row("SoftNMS", "nms", COMPILED, only="softnms"),
    _row("Sparse Convolution", "sparse_ops"),
    _row("Synchronized BatchNorm", "sync_bn"),
    _row("ThreeInterpolate", "three_interpolate"),
    _row("ThreeNN", "three_nn"),
    _row("TINShift", "tin_shift"),
    _row("UpFirDn2d", "upfirdn2d", FALLBACK),
    _row("Voxelization", "voxelize", COMPILED),
)


def _demanded(path: Path) -> Tuple[str, ...]:
    """The functions that a file's calls of load_ext(name, [function, ...]) ask for."""
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    return tuple(ast.literal_eval(element) for call in calls if ast.unparse(call.func).endswith("load_ext")
                 for element in call.args[1].elts)


@functools.lru_cache(maxsize=None)
def demands() -> Dict[str, Tuple[str, ...]]:
    """{module of mmcv.ops: the functions of the extension it asks for}, of the mmcv that is installed."""
    found = importlib.util.find_spec("mmcv")
    if found is None or found.origin is None:
        return {}
    return {path.stem: _demanded(path) for path in sorted((Path(found.origin).parent / "ops").glob("*.py"))}


def mmcv_here() -> str:
    """ "compiled", "lite" (or compiled for another torch), or "" where there is no mmcv."""
    if importlib.util.find_spec("mmcv") is None:
        return ""
    try:
        found = importlib.import_module("mmcv._ext")
    except ImportError:
        return "lite"
    return "compiled" if getattr(found, "__file__", None) else "lite"


def lacks(row: Row) -> List[str]:
    """The functions of an operator that mluops has not."""
    return [name for name in row.functions if name not in ENTRY_POINTS]


def server(row: Row, mmcv: str) -> str:
    """Who serves an operator on the CPU once install() has been called: "mluops", "mluops of torch operators" (a
    composition, no kernel of the library), "mluops in part", "mmcv" (its compiled code), "Python fallback" or
    "nobody"."""
    have = [name for name in row.functions if name in ENTRY_POINTS]
    keeps = mmcv == "compiled" and all(name in KEEPS_OWN for name in have)
    if mmcv and have and not keeps:
        whole = "mluops of torch operators" if COMPOSED.issuperset(have) else "mluops"
        return "mluops in part" if lacks(row) else whole
    if mmcv == "compiled" and row.cpu == COMPILED:
        return "mmcv"
    return "Python fallback" if mmcv and row.cpu == FALLBACK else "nobody"


def served() -> List[Tuple[str, str]]:
    mmcv = mmcv_here()
    return [(row.name, server(row, mmcv)) for row in TABLE]


def operator_of(function: str) -> str:
    """The operator a function of the extension belongs to; the function's own name if none."""
    return next((row.name for row in TABLE if function in row.functions), function)


def ours() -> List[str]:
    """The operators mluops has, by mmcv's names."""
    return [row.name for row in TABLE if server(row, "lite") in ("mluops", "mluops of torch operators")]
