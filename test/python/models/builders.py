"""The models: a configuration of mmdet, mmdet3d, mmrotate or mmsegmentation, what is made smaller in it, and inputs."""

import os
from importlib import import_module
from typing import Callable, NamedTuple, Tuple

import numpy as np
import torch

IMAGES = ([3, 96, 128], [3, 128, 96])


class Model(NamedTuple):
    name: str  # on the command line
    title: str
    package: str
    config: str
    operators: Tuple[str, ...]  # of mmcv's table, that must have been called
    inputs: Callable  # training -> what the model's data_preprocessor takes
    smaller: Callable = lambda config: None  # changes the configuration
    wide_boxes: bool = False  # in double its targets are too; elsewhere they have the dtype of the anchors, float

    def build(self):
        from mmengine.config import Config
        if self.package == "mmrotate":
            as_of_2023()
        package = import_module(self.package)
        if self.package == "mmdet3d":
            # register_all_modules() would import data sets, which want packages of their own.
            from mmengine.registry import init_default_scope
            import_module("mmdet3d.models")
            init_default_scope("mmdet3d")
        else:
            import_module(f"{self.package}.utils").register_all_modules()
        root = os.path.join(os.path.dirname(package.__file__), ".mim", "configs")
        config = Config.fromfile(os.path.join(root, self.config)).model
        without_checkpoints(config)
        self.smaller(config)
        network = import_module(f"{self.package}.registry").MODELS.build(config)
        if self.package in ("mmdet", "mmrotate"):  # else some parameters are whatever lay in memory; mmdet3d would predict nothing
            network.init_weights()
        beside_pixels(network)
        return network


def as_of_2023():
    """mmrotate's newest asks at its import for mmdet 3.1 or older, where its models do with 3.3, and for a name that
    Python 3.10 took away."""
    import collections
    import mmdet
    mmdet.__version__ = "3.1.0"
    collections.Sequence = collections.abc.Sequence


def beside_pixels(network):
    """Deformable attention and convolution begin with samples that lie exactly on pixels, where their gradient is that of
    either side."""
    for name, parameter in network.named_parameters():
        if name.endswith(("sampling_offsets.bias", "conv_offset.bias")):
            with torch.no_grad():
                parameter += 0.01 * torch.randn_like(parameter)


def without_checkpoints(node):
    """Random weights, and the batch normalisation of one process."""
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


def images(with_mask=False):
    def inputs(training):
        from mmdet.testing import demo_mm_inputs
        return demo_mm_inputs(2, list(IMAGES), num_items=[3, 2], with_mask=with_mask)

    return inputs


def turned_images(training):
    import_module("mmrotate.structures")  # names the kinds of boxes
    from mmrotate.testing import demo_mm_inputs
    return demo_mm_inputs(2, list(IMAGES), num_items=[3, 2], use_box_type=True)


def segmented_images(training):
    from mmengine.structures import PixelData
    from mmseg.structures import SegDataSample
    size = (64, 64)
    samples = [SegDataSample(metainfo=dict(img_shape=size, ori_shape=size, pad_shape=size)) for _ in range(2)]
    for sample in samples:
        sample.gt_sem_seg = PixelData(data=torch.randint(0, 19, (1, *size)))
    return dict(inputs=[torch.randint(0, 255, (3, *size), dtype=torch.uint8) for _ in samples], data_samples=samples)


def points_of(boxes, each, scene, count, features):
    """`each` points in every box [x, y, z of the bottom, sizes, angle], the others anywhere in the scene [low, high]; all
    in a random order, with which box each is in (-1: none)."""
    low, high = torch.tensor(scene)
    low, high = low.float(), high.float()
    points = [low + torch.rand(count - each * len(boxes), 3) * (high - low)]
    for box in boxes:
        local = (torch.rand(each, 3) - torch.tensor([0.5, 0.5, 0.0])) * 0.9 * box[3:6]
        angle = box[6]
        x, y = local[:, 0] * angle.cos() - local[:, 1] * angle.sin(), local[:, 0] * angle.sin() + local[:, 1] * angle.cos()
        points.append(torch.stack([x, y, local[:, 2]], 1) + box[:3])
    owners = torch.cat([torch.full((len(part),), i - 1) for i, part in enumerate(points)])
    order = torch.randperm(count)
    return torch.cat([torch.cat(points), torch.rand(count, features - 3)], 1)[order], owners[order]


def sweep(classes):
    """A LiDAR sweep with cars, pedestrians and cyclists, or cars alone."""
    sizes = torch.tensor([[0.8, 0.6, 1.73], [1.76, 0.6, 1.73], [3.9, 1.6, 1.56]] if classes == 3 else [[3.9, 1.6, 1.56]])

    def inputs(training):
        from mmdet3d.structures import Det3DDataSample, LiDARInstance3DBoxes, PointData
        from mmengine.structures import InstanceData
        clouds, samples = [], []
        for _ in range(2):
            labels = torch.arange(6) % classes
            at = torch.stack([torch.arange(6) * 8 + 6 + torch.rand(6), torch.rand(6) * 40 - 20, torch.full((6,), -1.7)], 1)
            boxes = torch.cat([at, sizes[labels], torch.rand(6, 1) * 6 - 3], 1)
            points, _ = points_of(boxes, 60, ((0, -39, -2.5), (69, 39, 0.5)), 4096, 4)
            sample = Det3DDataSample(metainfo=dict(box_type_3d=LiDARInstance3DBoxes))
            sample.gt_instances_3d = InstanceData(bboxes_3d=LiDARInstance3DBoxes(boxes), labels_3d=labels)
            sample.gt_pts_seg = PointData()
            clouds.append(points)
            samples.append(sample)
        return dict(inputs=dict(points=clouds), data_samples=samples)

    return inputs


def room(training):
    """A room of ScanNet's classes with furniture."""
    from mmdet3d.structures import DepthInstance3DBoxes, Det3DDataSample, PointData
    from mmengine.structures import InstanceData
    clouds, samples, count = [], [], 4096
    for _ in range(2):
        labels = torch.randint(0, 18, (6,))
        boxes = torch.cat([torch.rand(6, 2) * 5, torch.zeros(6, 1), torch.rand(6, 3) + 0.5, torch.zeros(6, 1)], 1)
        points, owners = points_of(boxes, 200, ((-1, -1, 0), (6, 6, 3)), count, 4)
        sample = Det3DDataSample(metainfo=dict(box_type_3d=DepthInstance3DBoxes, box_mode_3d=None))
        sample.gt_instances_3d = InstanceData(
            bboxes_3d=DepthInstance3DBoxes(boxes, box_dim=7, with_yaw=False), labels_3d=labels)
        sample.gt_pts_seg = PointData(
            pts_instance_mask=torch.where(owners < 0, len(boxes), owners),
            pts_semantic_mask=torch.where(owners < 0, 18, labels[owners.clamp(min=0)]))
        clouds.append(points)
        samples.append(sample)
    return dict(inputs=dict(points=clouds), data_samples=samples)


def coloured_points(training):
    from mmdet3d.structures import Det3DDataSample, PointData
    count, samples = 2048, []
    for _ in range(2):
        sample = Det3DDataSample(metainfo=dict(box_type_3d=None))
        sample.gt_pts_seg = PointData(pts_semantic_mask=torch.randint(0, 13, (count,)))
        samples.append(sample)
    width = 9 if training else 6  # prediction appends the normalised coordinates by itself
    return dict(inputs=dict(points=[torch.rand(count, width) for _ in samples]), data_samples=samples)


def fewer_proposals(config):
    """Of random weights all proposals are alike: as many as an image of a few hundred pixels is worth."""
    for stage in (config.train_cfg.rpn_proposal, config.test_cfg.rpn):
        stage.nms_pre, stage.max_per_img = 500, 200
    config.train_cfg.rcnn.sampler.num = 64
    config.test_cfg.rcnn.score_thr, config.test_cfg.rcnn.max_per_img = 0.0, 20  # of so many classes none is likely


def fewer_turned(config):
    """Of Oriented R-CNN: its settings of suppression are beside each other in both stages."""
    fewer_proposals(config)
    config.test_cfg.rcnn.nms_pre = 500


def fewer_points(config):
    """Of Mask2Former: the points of the masks that its loss samples; training fills images up to 1024 x 1024."""
    config.data_preprocessor.batch_augments = None
    config.panoptic_head.num_queries = 40
    config.train_cfg.num_points = 512


def nearer_keypoints(config):
    """Of PV-RCNN: a quarter of the ground, fewer keypoints and boxes, whose grids and suppression cost most in double."""
    nearer_voxels(config)
    config.points_encoder.num_keypoints = 256
    config.points_encoder.point_cloud_range = config.data_preprocessor.voxel_layer.point_cloud_range
    config.train_cfg.rpn_proposal.update(nms_pre=512, nms_post=64, max_num=64)
    config.test_cfg.rpn.update(nms_pre=512, nms_post=32, max_num=32)
    config.test_cfg.rcnn.score_thr = 0.0


def all_scores(config):
    config.test_cfg.score_thr = 0.0  # initial weights give every class about 0.01


def smaller_mask(config):
    """Of PSANet: 97 x 97 is for maps of 97 x 97, so for images of 769 x 769, and training fills images up to 512 x 1024."""
    config.decode_head.mask_size = (17, 17)
    config.data_preprocessor.size = (64, 64)


def fewer_queries(config):
    config.num_queries = 100


def nearer(config):
    """Of PointPillars: a quarter of the ground, since its cost is that of the convolutions over all of it."""
    near = [0, -19.84, -3, 34.56, 19.84, 1]
    config.data_preprocessor.voxel_layer.point_cloud_range = config.voxel_encoder.point_cloud_range = near
    config.middle_encoder.output_shape = [248, 216]
    for place in config.bbox_head.anchor_generator.ranges:
        place[:2], place[3:5] = near[:2], near[3:5]


def nearer_voxels(config):
    """Of SECOND: a quarter of the ground, for its convolutions behind the sparse ones."""
    near = [0, -20, -3, 35.2, 20, 1]
    config.data_preprocessor.voxel_layer.point_cloud_range = near
    config.middle_encoder.sparse_shape = [41, 800, 704]
    head = config.rpn_head if "rpn_head" in config else config.bbox_head
    for place in head.anchor_generator.ranges:
        place[:2], place[3:5] = near[:2], near[3:5]


def fewer_boxes(config):
    """Of PointRCNN: its suppression in double, of rotated boxes, would take minutes."""
    for stage in (config.train_cfg.rpn.rpn_proposal, config.test_cfg.rpn.nms_cfg):
        stage.nms_pre, stage.nms_post = 512, 100


MODELS = (
    Model("mask_rcnn", "Mask R-CNN, CARAFE FPN", "mmdet", "carafe/mask-rcnn_r50_fpn-carafe_1x_coco.py",
          ("CARAFE", "NMS", "RoIAlign"), images(True), fewer_proposals),
    Model("faster_rcnn", "Faster R-CNN, CARAFE FPN", "mmdet", "carafe/faster-rcnn_r50_fpn-carafe_1x_coco.py",
          ("CARAFE", "NMS", "RoIAlign"), images(), fewer_proposals),
    Model("faster_rcnn_dpool", "Faster R-CNN, deformable pooling", "mmdet", "dcn/faster-rcnn_r50_fpn_dpool_1x_coco.py",
          ("Deformable RoIPool", "NMS"), images(), fewer_proposals),
    Model("faster_rcnn_dcn", "Faster R-CNN, DCN", "mmdet", "dcn/faster-rcnn_r50-dconv-c3-c5_fpn_1x_coco.py",
          ("Deformable Convolution v1/v2", "NMS", "RoIAlign"), images(), fewer_proposals),
    Model("faster_rcnn_dcnv2", "Faster R-CNN, DCN v2", "mmdet", "dcnv2/faster-rcnn_r50-mdconv-c3-c5_fpn_1x_coco.py",
          ("ModulatedDeformConv2d", "NMS", "RoIAlign"), images(), fewer_proposals),
    Model("oriented_rcnn", "Oriented R-CNN", "mmrotate", "oriented_rcnn/oriented-rcnn-le90_r50_fpn_1x_dota.py",
          ("BoxIouRotated", "NMS", "NMSRotated", "RoIAlignRotated"), turned_images, fewer_turned),
    Model("mask2former", "Mask2Former", "mmdet", "mask2former/mask2former_r50_8xb2-lsj-50e_coco.py",
          ("MultiScaleDeformableAttn",), images(True), fewer_points),
    Model("retinanet", "RetinaNet", "mmdet", "retinanet/retinanet_r50_fpn_1x_coco.py", ("NMS",), images(),
          all_scores),
    Model("deformable_detr", "Deformable DETR", "mmdet", "deformable_detr/deformable-detr_r50_16xb2-50e_coco.py",
          ("MultiScaleDeformableAttn",), images(), fewer_queries, True),
    Model("psanet", "PSANet", "mmseg", "psanet/psanet_r50-d8_4xb2-40k_cityscapes-512x1024.py", ("PSAMask",),
          segmented_images, smaller_mask),
    Model("pointnet2_ssg", "PointNet++ SSG", "mmdet3d", "pointnet2/pointnet2_ssg_2xb16-cosine-50e_s3dis-seg.py",
          ("FurthestPointSample", "BallQuery", "GatherPoints", "GroupPoints", "ThreeNN", "ThreeInterpolate"),
          coloured_points),
    Model("pointnet2_msg", "PointNet++ MSG", "mmdet3d", "pointnet2/pointnet2_msg_2xb16-cosine-80e_s3dis-seg.py",
          ("FurthestPointSample", "BallQuery", "GatherPoints", "GroupPoints", "ThreeNN", "ThreeInterpolate"),
          coloured_points),
    Model("votenet", "VoteNet", "mmdet3d", "votenet/votenet_8xb8_scannet-3d.py",
          ("FurthestPointSample", "BallQuery", "GatherPoints", "GroupPoints", "ThreeNN", "ThreeInterpolate",
           "PointsInBoxes"), room),
    Model("3dssd", "3DSSD", "mmdet3d", "3dssd/3dssd_4xb4_kitti-3d-car.py",
          ("FurthestPointSample", "FurthestPointSampleWithDist", "BallQuery", "GatherPoints", "GroupPoints",
           "PointsInBoxes"), sweep(1)),
    Model("point_rcnn", "PointRCNN", "mmdet3d", "point_rcnn/point-rcnn_8xb2_kitti-3d-3class.py",
          ("FurthestPointSample", "BallQuery", "GroupPoints", "ThreeNN", "ThreeInterpolate", "PointsInBoxes",
           "RoIPointPool3d", "BoxIouRotated", "NMSRotated"), sweep(3), fewer_boxes),
    Model("pointpillars", "PointPillars", "mmdet3d", "pointpillars/pointpillars_hv_secfpn_8xb6-160e_kitti-3d-3class.py",
          ("Voxelization", "NMSRotated"), sweep(3), nearer),
    Model("second", "SECOND", "mmdet3d", "second/second_hv_secfpn_8xb6-80e_kitti-3d-3class.py",
          ("Voxelization", "Sparse Convolution", "NMSRotated"), sweep(3), nearer_voxels),
    Model("pv_rcnn", "PV-RCNN", "mmdet3d", "pv_rcnn/pv_rcnn_8xb2-80e_kitti-3d-3class.py",
          ("Voxelization", "Sparse Convolution", "FurthestPointSample", "BallQuery", "GroupPoints", "PointsInBoxes",
           "BoxIouRotated", "NMSRotated"), sweep(3), nearer_keypoints),
)
BY_NAME = {model.name: model for model in MODELS}
