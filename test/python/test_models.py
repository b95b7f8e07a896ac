"""Whole models of mmdet, mmdet3d and mmsegmentation through mluops.mmcv.install(): random weights, some training steps, one
prediction, small inputs. Long, so only with MLUOPS_TEST_MODELS=1:

    pip install 'mmcv-lite==2.1.0' mmengine mmdet==3.3.0 mmdet3d==1.4.0 mmsegmentation==1.2.2
    MLUOPS_TEST_MODELS=1 pytest -s test/python/test_models.py

Each model runs in a process of its own, which prints the seconds of a training step and the most memory it used.
"""

import json
import os
import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")

if os.environ.get("MLUOPS_TEST_MODELS") != "1":
    pytest.skip("long: set MLUOPS_TEST_MODELS=1", allow_module_level=True)

DETECTOR = """
    from mmdet.testing import demo_mm_inputs
    from mmdet.utils import register_all_modules
    register_all_modules()
    inputs = lambda: demo_mm_inputs(2, [[3, 128, 160], [3, 160, 128]], num_items=[3, 2], with_mask=WITH_MASK)
    CONFIGS = os.path.join(os.path.dirname(__import__("mmdet").__file__), ".mim", "configs")
    from mmdet.registry import MODELS
"""

POINTS = """
    import numpy as np
    from mmdet3d.testing import create_detector_inputs
    import mmdet3d.models
    from mmengine.registry import init_default_scope
    init_default_scope("mmdet3d")  # register_all_modules() would import data sets, which want packages of their own
    CONFIGS = os.path.join(os.path.dirname(__import__("mmdet3d").__file__), ".mim", "configs")
    from mmdet3d.registry import MODELS
"""

SEGMENTOR = """
    from mmseg.structures import SegDataSample
    from mmengine.structures import PixelData
    from mmseg.utils import register_all_modules
    register_all_modules()
    CONFIGS = os.path.join(os.path.dirname(__import__("mmseg").__file__), ".mim", "configs")
    from mmseg.registry import MODELS

    def inputs():
        samples = []
        for _ in range(2):
            sample = SegDataSample(metainfo=dict(img_shape=(96, 96), ori_shape=(96, 96), pad_shape=(96, 96)))
            sample.gt_sem_seg = PixelData(data=torch.randint(0, 19, (1, 96, 96)))
            samples.append(sample)
        return dict(inputs=[torch.randint(0, 255, (3, 96, 96), dtype=torch.uint8) for _ in range(2)],
                    data_samples=samples)
"""

RUN = """
    cfg = Config.fromfile(os.path.join(CONFIGS, CONFIG)).model

    def without_checkpoints(node):
        if isinstance(node, dict):
            for key in ("init_cfg", "pretrained"):
                if isinstance(node.get(key), (dict, str)):
                    node[key] = None
            if node.get("type") == "SyncBN":
                node["type"] = "BN"
            for value in node.values():
                without_checkpoints(value)
        elif isinstance(node, (list, tuple)):
            for value in node:
                without_checkpoints(value)

    without_checkpoints(cfg)
    model = MODELS.build(cfg)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)

    def losses():
        data = model.data_preprocessor(inputs(), True)
        found = model(**data, mode="loss")
        return sum(torch.stack(list(v)).sum() if isinstance(v, (list, tuple)) else v.sum()
                   for k, v in found.items() if "loss" in k)

    def step():
        loss = losses()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    model.train()
    step()
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        loss = step()
        seconds.append(time.perf_counter() - begin)
    assert loss == loss and abs(loss) < float("inf"), loss
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    assert grads and all(torch.isfinite(g).all() for g in grads) and any(g.abs().sum() > 0 for g in grads)
    model.eval()
    try:
        with torch.no_grad():
            predictions = model(**model.data_preprocessor(inputs(), False), mode="predict")
        assert len(predictions) == 2 and not MISSING
    except NotImplementedError as error:
        assert MISSING and MISSING in str(error), error
    print(json.dumps(dict(loss=loss, seconds=sorted(seconds)[1], operators=sorted(used),
                          mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)))
"""

HEAD = """
    import json, os, resource, time, warnings
    warnings.simplefilter("ignore")
    import torch
    torch.manual_seed(0)
    import mluops.mmcv
    mluops.mmcv.install()
    from mluops.mmcv._table import operator_of
    from mmengine.config import Config
    import mmcv._ext as extension
    used = set()

    def watched(name, function):
        def call(*arguments, **keywords):
            used.add(operator_of(name))
            return function(*arguments, **keywords)
        return call

    for name in mluops.mmcv.ENTRY_POINTS:
        setattr(extension, name, watched(name, getattr(extension, name)))
"""


def run(model, setup, config, operators, missing=""):
    """missing: the mmcv operator for want of which the prediction is refused."""
    code = "\n".join(textwrap.dedent(part) for part in (HEAD, setup, f"CONFIG = {config!r}\nMISSING = {missing!r}", RUN))
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-4000:]
    found = json.loads(result.stdout.strip().splitlines()[-1])
    print(f"\n{model}: {found}")
    assert set(operators) <= set(found["operators"]), found


@pytest.mark.parametrize("model, config, with_mask, operators", [
    ("Mask R-CNN with CARAFE", "carafe/mask-rcnn_r50_fpn-carafe_1x_coco.py", True, {"CARAFE", "NMS", "RoIAlign"}),
    ("Faster R-CNN with CARAFE", "carafe/faster-rcnn_r50_fpn-carafe_1x_coco.py", False,
     {"CARAFE", "NMS", "RoIAlign"}),
    ("Faster R-CNN with deformable pooling", "dcn/faster-rcnn_r50_fpn_dpool_1x_coco.py", False,
     {"Deformable RoIPool", "NMS"}),
    ("Mask R-CNN", "mask_rcnn/mask-rcnn_r50_fpn_1x_coco.py", True, {"NMS", "RoIAlign"}),
], ids=lambda value: value if isinstance(value, str) and "/" not in value else "")
def test_detectors(model, config, with_mask, operators):
    run(model, f"WITH_MASK = {with_mask}\n" + textwrap.dedent(DETECTOR), config, operators)


def test_psanet():
    run("PSANet", SEGMENTOR, "psanet/psanet_r50-d8_4xb2-40k_cityscapes-512x1024.py", {"PSAMask"})


# furthest_point_sample, whose Python code is replaced as a whole, calls no function of the extension.
POINT_OPERATORS = {"BallQuery", "GatherPoints", "GroupPoints", "ThreeNN", "ThreeInterpolate"}


@pytest.mark.parametrize("model, config", [
    ("PointNet++ SSG", "pointnet2/pointnet2_ssg_2xb16-cosine-50e_s3dis-seg.py"),
    ("PointNet++ MSG", "pointnet2/pointnet2_msg_2xb16-cosine-80e_s3dis-seg.py"),
], ids=["ssg", "msg"])
def test_pointnet2(model, config):
    setup = textwrap.dedent(POINTS) + textwrap.dedent("""
        from mmdet3d.structures import Det3DDataSample, PointData

        def inputs():
            samples = []
            for _ in range(2):
                sample = Det3DDataSample(metainfo=dict(box_type_3d=None))
                sample.gt_pts_seg = PointData(pts_semantic_mask=torch.randint(0, 13, (4096,)))
                samples.append(sample)
            width = 9 if model.training else 6  # prediction appends the normalised coordinates by itself
            return dict(inputs=dict(points=[torch.rand(4096, width) for _ in range(2)]), data_samples=samples)
    """)
    run(model, setup, config, POINT_OPERATORS)


def test_votenet():
    setup = textwrap.dedent(POINTS) + textwrap.dedent("""
        def inputs():
            each = [create_detector_inputs(points_feat_dim=4, gt_bboxes_dim=7, num_classes=18, num_points=4096,
                                           num_gt_instance=5, with_pts_semantic_mask=True,
                                           with_pts_instance_mask=True) for _ in range(2)]
            return dict(inputs=dict(points=[one["inputs"]["points"][0] for one in each]),
                        data_samples=[one["data_samples"][0] for one in each])
    """)
    run("VoteNet", setup, "votenet/votenet_8xb8_scannet-3d.py", POINT_OPERATORS, missing="PointsInBoxes")
