"""mluops.dropin: extensions whose names differ from those known by their endings, and those that programs compile."""

import importlib
import sys

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import opened, package  # noqa: E402
from mluops import dropin  # noqa: E402
from test_dropin_images import deformed  # noqa: E402
import mluops.torch as mt  # noqa: E402


@pytest.fixture(autouse=True)
def doors(monkeypatch):
    for name in ("fork", "maskrcnn_benchmark"):
        monkeypatch.setitem(sys.modules, name, package(name))
    with opened():
        yield


# ---- names


@pytest.mark.parametrize("name, function", [
    ("iou3d_op", "nms_gpu"), ("voxel_op", "hard_voxelize"), ("nms_rotated_ext", "nms_poly"), ("bev_pool_cuda", "bev_pool_forward"),
    ("roipool3d_kernel", "roipool3d_cpu"), ("Gridding_ext", "rev_forward"), ("chamfer_2D_op", "forward")])
def test_another_ending_is_the_same_extension(name, function):
    assert callable(getattr(importlib.import_module(f"fork.{name}"), function))


@pytest.mark.parametrize("name", ["emd_op", "unheard_of_cuda", "iou3d", "_ext_ops", "spconv_pool"])
def test_what_is_not_clear_is_not_served(name):
    """Several extensions of a name, none, no extension's ending."""
    with pytest.raises(ImportError):
        importlib.import_module(f"fork.{name}")


def test_a_fallback_goes_before_another_ending(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "falls_back.py").write_text("try:\n    from fork import iou3d_op\nexcept ImportError:\n    iou3d_op = None\n")
    assert importlib.import_module("falls_back").iou3d_op is None
    sys.modules.pop("falls_back")


@pytest.fixture
def load(monkeypatch):
    from torch.utils import cpp_extension
    monkeypatch.setattr(torch.version, "cuda", None)
    return cpp_extension.load


@pytest.mark.parametrize("name, sources, function", [
    ("_ext", ["lib/pointnet2_ops/_ext-src/src/ball_query.cpp", "lib/pointnet2_ops/_ext-src/src/sampling.cu"], "three_nn"),
    ("_ext", ["models/DCNv2/src/vision.cpp", "models/DCNv2/src/dcn_v2.cu"], "dcn_v2_forward"),
    ("emd", ["emd.cpp", "emd_cuda.cu"], "backward"), ("emd_cuda", ["emd.cu"], "matchcost_forward"),
    ("pointops_cuda", ["pointops_api.cpp", "knnquery_cuda_kernel.cu"], "knnquery_cuda"),
    ("roipool3d", ["roipool3d.cu"], "roipool3d_cpu"), ("chamfer_5D", ["chamfer5D.cu"], "forward")])
def test_whatever_is_imported_may_be_compiled_too(load, name, sources, function):
    assert callable(getattr(load(name, sources), function))


def test_sources_of_another_extension_do_not_decide(load):
    with pytest.raises(NotImplementedError, match="no module for the extension all_of_mine"):
        load("all_of_mine", ["ball_query.cu", "group_points.cu"])


def test_is_cuda_where_the_extension_is_a_variable_of_the_function(load):
    scope = {"load": load}
    exec("def asks(x):\n    module = load('chamfer_3D', ['chamfer3D.cu'])\n    return x.is_cuda\n"
         "def does_not(x):\n    return x.is_cuda\n"
         "module = None\n"
         "def later(x):\n    global module\n    was = x.is_cuda\n    module = load('chamfer_3D', ['a.cu'])\n    return was, x.is_cuda",
         scope)
    x = torch.zeros(1)
    assert scope["asks"](x) and not scope["does_not"](x) and scope["later"](x) == (False, True)


# ---- extensions behind the names


def test_precise_roi_pooling(load):
    module = load("_prroi_pooling", ["src/prroi_pooling_gpu.c", "src/prroi_pooling_gpu_impl.cu"])
    torch.manual_seed(0)
    x = torch.randn(2, 3, 9, 8)
    rois = torch.tensor([[0, 1.2, 2.1, 9.7, 11.0], [1, 0.0, 3.3, 14.0, 9.1]])
    wanted_x, wanted_rois = x.double().requires_grad_(), rois.double().requires_grad_()
    wanted = mt.prroi_pool(wanted_x, wanted_rois, (3, 2), 0.5)
    grad = torch.randn(2, 3, 3, 2)
    of_x, of_rois = torch.autograd.grad(wanted, (wanted_x, wanted_rois), grad.double())
    out = module.prroi_pooling_forward_cuda(x, rois, 3, 2, 0.5)
    torch.testing.assert_close(out.double(), wanted.detach(), rtol=1e-5, atol=1e-5)
    for function, exact in (("prroi_pooling_backward_cuda", of_x), ("prroi_pooling_coor_backward_cuda", of_rois)):
        found = getattr(module, function)(x, rois, out, grad, 3, 2, 0.5)
        torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-5)


def test_quadrilaterals_and_rotated_boxes():
    module = importlib.import_module("fork.nms_rotated_ext")
    low = torch.tensor([[0.0, 0], [1, 0], [10, 10], [0.5, 0.5], [30, 0]])
    high = low + torch.tensor([[4.0, 4], [4, 4], [3, 3], [4, 4], [1, 9]])
    scores = torch.tensor([0.3, 0.9, 0.5, 0.4, 0.1])
    corners = torch.stack([low[:, 0], low[:, 1], high[:, 0], low[:, 1], high[:, 0], high[:, 1], low[:, 0], high[:, 1]], 1)
    shared = (torch.minimum(high[:, None], high) - torch.maximum(low[:, None], low)).clamp(min=0).prod(2)
    area = (high - low).prod(1)
    iou = shared / (area[:, None] + area - shared)
    wanted = []
    for i in scores.argsort(descending=True).tolist():
        if all(iou[i, k] <= 0.4 for k in wanted):
            wanted.append(i)
    assert wanted == [1, 2, 4]
    assert module.nms_poly(torch.cat([corners, scores[:, None]], 1), 0.4).tolist() == sorted(wanted)
    boxes = torch.cat([(low + high) / 2, high - low, torch.zeros(5, 1)], 1)
    assert module.nms_rotated(boxes, scores, 0.4).tolist() == wanted


# ---- dcn_v2


@pytest.mark.parametrize("groups", [1, 2])
def test_dcn(groups):
    module = importlib.import_module("dcn_v2")
    torch.manual_seed(1)
    dcn = module.DCN(4, 6, kernel_size=(3, 3), stride=1, padding=1, deformable_groups=groups).double()
    assert sorted(dcn.state_dict()) == ["bias", "conv_offset_mask.bias", "conv_offset_mask.weight", "weight"]
    torch.nn.init.normal_(dcn.conv_offset_mask.weight, std=0.2)
    x = torch.randn(2, 4, 6, 5, dtype=torch.float64, requires_grad=True)
    moves = dcn.conv_offset_mask(x)
    taps = 9 * groups
    wanted = deformed(x, moves[:, :2 * taps], moves[:, 2 * taps:].sigmoid(), dcn.weight, dcn.bias, 1, 1, 1, 1, groups)
    found, grad = dcn(x), torch.randn_like(wanted)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)
    each = (x, *dcn.parameters())
    for ours, exact in zip(torch.autograd.grad(found, each, grad), torch.autograd.grad(wanted, each, grad)):
        torch.testing.assert_close(ours, exact, rtol=1e-8, atol=1e-8)


def test_dcn_without_moves_is_a_convolution():
    module = importlib.import_module("dcn_v2")
    dcn, x = module.DCN(3, 5, 3, 2, 1), torch.randn(1, 3, 9, 8)
    wanted = torch.nn.functional.conv2d(x.double(), dcn.weight.double() / 2, None, 2, 1)  # sigmoid(0) is a half
    torch.testing.assert_close(dcn(x).double(), wanted, rtol=1e-5, atol=1e-5)
    assert dcn.weight.abs().max() <= 1 / 27 ** 0.5 and not dcn.bias.any()


@pytest.mark.parametrize("no_trans", [False, True])
def test_deformable_roi_pooling(no_trans):
    """As maskrcnn_benchmark's function, which has a reference of its own, and its gradients by differences."""
    module, ext = importlib.import_module("dcn_v2"), importlib.import_module("maskrcnn_benchmark._C")
    torch.manual_seed(2)
    x = torch.randn(2, 8, 7, 6, dtype=torch.float64, requires_grad=True)
    rois = torch.tensor([[0, 0.0, 1, 4, 5], [1, 2, 0, 5, 6]], dtype=torch.float64)
    offset = (torch.randn(2, 2, 2, 2, dtype=torch.float64) * 0.3).requires_grad_()
    pool = module.DCNv2Pooling(1.0, 2, 2, no_trans, group_size=2, part_size=2, sample_per_part=3, trans_std=0.1)
    found = pool(x, rois, offset)
    out, count = torch.zeros_like(found), torch.zeros_like(found)
    ext.deform_psroi_pooling_forward(x.detach(), rois, offset.detach(), out, count, int(no_trans), 1.0, 2, 2, 2, 2, 3, 0.1)
    assert torch.equal(found.detach(), out) and out.abs().max() > 0.1
    inputs = (x,) if no_trans else (x, offset)
    assert torch.autograd.gradcheck(lambda a, b=offset: pool(a, rois, b), inputs, eps=1e-6, atol=1e-6)


# ---- the extension's folder next to the program


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Sources of emd as its programs have them: a folder without __init__.py, with a Python file."""
    (tmp_path / "emd").mkdir()
    (tmp_path / "emd" / "emd_cuda.cu").write_text("")
    (tmp_path / "emd" / "emd_module.py").write_text("import emd\nforward = emd.forward\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("emd", "emd.emd_module", "emd_module"):
        sys.modules.pop(name, None)


def test_a_folder_of_sources_does_not_hide_the_extension(folder, monkeypatch):
    assert callable(importlib.import_module("emd").backward)
    monkeypatch.syspath_prepend(str(folder / "emd"))
    assert importlib.import_module("emd_module").forward is importlib.import_module("emd").forward


@pytest.mark.parametrize("statement", ["from emd import emd_module", "import emd.emd_module as emd_module",
                                       "from emd.emd_module import forward"])
def test_the_folder_s_files_are_modules(folder, statement):
    scope = {}
    exec(statement, scope)
    assert callable(scope.get("forward") or scope["emd_module"].forward)
    with pytest.raises(ImportError):
        importlib.import_module("emd.no_such_file")


def test_an_installed_module_goes_before_a_folder(folder, tmp_path, monkeypatch):
    site = tmp_path / "site"
    site.mkdir()
    (site / "emd.py").write_text("installed = True\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    importlib.invalidate_caches()
    assert importlib.import_module("emd").installed


def test_without_install_the_folder_is_a_package(folder):
    dropin.uninstall()
    assert not hasattr(importlib.import_module("emd"), "forward")


# ---- the order of a voxel's place


@pytest.mark.parametrize("source, x_first", [("coors_offset[0] = c_x;", True), ("coors_offset[0] = c_z;", False), (None, False)])
def test_a_voxel_s_place_is_as_the_program_s_sources_have_it(tmp_path, monkeypatch, source, x_first):
    folder = tmp_path / "lidar" / "voxel"
    (folder / "src").mkdir(parents=True)
    if source:
        (folder / "src" / "voxelization_cuda.cu").write_text(f"    coors_offset[0] = -1;\n    {source}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    layer = importlib.import_module("lidar.voxel.voxel_layer")
    points, size, reach = torch.rand(60, 4) * 4, [1.0, 2.0, 4.0], [0.0, 0, 0, 3.5, 4, 4]
    voxels, places, counts = torch.zeros(12, 5, 4), torch.zeros(12, 3, dtype=torch.int32), torch.zeros(12, dtype=torch.int32)
    count = layer.hard_voxelize(points, voxels, places, counts, size, reach, 5, 12, 3, True)
    wanted = mt.voxelization(points, size, reach, 5, 12)
    assert torch.equal(places[:count], wanted[1].flip(1) if x_first else wanted[1]) and not places[count:].any()
    assert torch.equal(voxels[:count], wanted[0]) and torch.equal(counts[:count], wanted[2])
    cells = torch.zeros(60, 3, dtype=torch.int32)
    layer.dynamic_voxelize(points, cells, size, reach, 3)
    wanted = mt.voxelization(points, size, reach, -1)
    assert torch.equal(cells, wanted.flip(1) if x_first else wanted)
    for name in ("lidar", "lidar.voxel", "lidar.voxel.voxel_layer"):
        sys.modules.pop(name, None)
