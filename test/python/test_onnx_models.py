"""Whole models of other packages that torch.onnx.export writes and plain onnxruntime runs, with random weights; of
`./run models`, which installs the packages."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import mluops.torch as mt  # noqa: E402
from onnx_sessions import close, named, plain_session, results  # noqa: E402

for _package in ("onnx", "onnxscript", "onnxruntime"):
    pytest.importorskip(_package)


def test_deformable_detr_of_transformers_exports_whole(monkeypatch):
    """Any picture of the exported size, and parts of it that a mask leaves out."""
    transformers = pytest.importorskip("transformers")
    from transformers.models.deformable_detr import modeling_deformable_detr as model

    def attend(self, value, shapes, shapes_list, starts, locations, weights, im2col_step):
        return mt.multi_scale_deformable_attn(value, shapes, starts, locations, weights)

    monkeypatch.setattr(model.MultiScaleDeformableAttention, "forward", attend)
    torch.manual_seed(0)
    body = transformers.ResNetConfig(embedding_size=16, hidden_sizes=[16, 24, 32, 48], depths=[1] * 4, layer_type="basic",
                                     out_features=["stage2", "stage3", "stage4"])
    net = transformers.DeformableDetrForObjectDetection(transformers.DeformableDetrConfig(
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=body, d_model=32,
        encoder_layers=1, decoder_layers=2, encoder_ffn_dim=64, decoder_ffn_dim=64, encoder_attention_heads=4,
        decoder_attention_heads=4, num_queries=30, num_labels=7)).eval()

    class Whole(torch.nn.Module):
        def forward(self, image, mask):
            found = net(image, mask)
            return found.logits, found.pred_boxes

    def data(width):
        mask = torch.ones(1, 96, 128, dtype=torch.int64)
        mask[:, :, width:] = 0
        return torch.rand(1, 3, 96, 128), mask

    whole, inputs = Whole().eval(), data(128)
    with torch.no_grad():
        session = plain_session(torch.onnx.export(whole, inputs, dynamo=True, verbose=False,
                                                  custom_translation_table=named().standard()))
        for given in (inputs, data(100)):
            wanted = whole(*given)
            assert wanted[1].std() > 0 and close(results(session, given), wanted)


def test_point_pillars_of_mmdet3d_exports_whole(monkeypatch):
    """From any number of points to the maps of scores, boxes and directions."""
    named()
    for package in ("mmcv", "mmdet", "mmengine"):
        pytest.importorskip(package)
    monkeypatch.syspath_prepend(Path(__file__).parent / "models")
    import absent
    import mluops.mmcv
    finders = list(sys.meta_path)
    absent.stand_in()
    try:
        mluops.mmcv.install()
        pytest.importorskip("mmdet3d")
        from builders import BY_NAME
        torch.manual_seed(0)
        model = BY_NAME["pointpillars"]
        net = model.build().eval()
        layer = net.data_preprocessor.voxel_layer
        voxels = mt.Voxelization(layer.voxel_size, layer.point_cloud_range, layer.max_num_points, layer.max_voxels).eval()

        class Whole(torch.nn.Module):
            def forward(self, points):
                found, coors, counts = voxels(points)
                torch._check(found.shape[0] > 0)
                coors = torch.nn.functional.pad(coors, (1, 0))  # of the only cloud
                canvas = net.middle_encoder(net.voxel_encoder(found, counts, coors), coors, 1)
                return tuple(maps for kind in net.bbox_head(net.neck(net.backbone(canvas))) for maps in kind)

        clouds = model.inputs(False)["inputs"]["points"]
        whole = Whole().eval()
        with torch.no_grad():
            session = plain_session(torch.onnx.export(
                whole, (clouds[0],), dynamo=True, verbose=False,
                dynamic_shapes=({0: torch.export.Dim("points", min=2)},)))
            for points in (*clouds, clouds[0][:1000]):
                wanted = whole(points)
                assert len(wanted) == 3 and close(results(session, (points,)), wanted)
    finally:
        mluops.mmcv.uninstall()
        sys.meta_path[:] = finders
