"""mluops.mmcv with the real mmcv-lite and mmengine, and with a stand-in for a compiled mmcv."""

import importlib
import importlib.util
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("mmcv", reason="mmcv-lite is not installed")
pytest.importorskip("mmengine", reason="mmengine is not installed")

sys.path.append(str(Path(__file__).parent / "models"))

import compositions  # noqa: E402
import mluops.mmcv  # noqa: E402
import mluops.torch as mt  # noqa: E402
from cases import CASES, TOLERANCE, interior_rois  # noqa: E402

pytestmark = pytest.mark.usefixtures("installed")

COMPILED = importlib.util.find_spec("mmcv._ext") is not None  # before install() makes one

DTYPES = [torch.float32, torch.float16, torch.float64]
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def near(got, wanted, dtype, factor=4.0):
    assert got.dtype == dtype
    assert (got.double() - wanted).abs().max() <= TOLERANCE[dtype] * factor * max(1.0, wanted.abs().max().item())


def mmcv_call(case):
    """The mmcv function for a case: features first, then mmcv's own argument order."""
    ops = importlib.import_module("mmcv.ops")
    name = case.name.split()[0]
    if name == "psa_mask":
        kind, size = case.arguments
        return lambda x: ops.PSAMask(kind, size)(x)
    if name == "deform_roi_pool":
        return lambda x, r, o: ops.DeformRoIPool(*case.arguments)(x, r, o)
    if name == "roi_align":
        return lambda x, r: ops.RoIAlign(*case.arguments)(x, r)
    if name == "roi_align_rotated":
        return lambda x, r: ops.RoIAlignRotated(*case.arguments)(x, r)
    if name == "border_align":
        return lambda x, b: ops.BorderAlign(*case.arguments)(x, b)
    if name == "roi_pool":
        return lambda x, r: ops.RoIPool(*case.arguments)(x, r)
    if name == "prroi_pool":
        return lambda x, r: ops.PrRoIPool(*case.arguments)(x, r)
    if name == "multi_scale_deformable_attn":
        function = importlib.import_module("mmcv.ops.multi_scale_deform_attn").MultiScaleDeformableAttnFunction
        return lambda v, shapes, starts, at, weights: function.apply(v, shapes.long(), starts.long(), at, weights, 64)
    if name.endswith("focal_loss"):
        reduction = "none" if name.startswith("sigmoid") else "sum"
        return lambda x, t, w: getattr(ops, name)(x, t.long(), *case.arguments, w, reduction)
    if name.endswith("deform_conv2d"):
        return lambda *tensors: getattr(ops, name)(*tensors, *case.arguments)
    if name in ("three_interpolate", "gather_points"):
        return getattr(ops, name)
    if name == "group_points":
        return ops.grouping_operation
    return lambda x, m: ops.CARAFE(*case.arguments)(x, m)


@every_dtype
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_forward_and_backward(case, dtype):
    if case.name.startswith("prroi_pool") and dtype != torch.float32:
        pytest.skip("mmcv's function of prroi_pool takes float alone")
    if case.name.split()[0] == "softmax_focal_loss" and dtype == torch.float16:
        try:
            torch.zeros(1, dtype=dtype).exp_()
        except RuntimeError as error:
            pytest.skip(f"mmcv's wrapper takes an exponential of half: {error}")
    tensors = case.inputs(dtype, requires_grad=True)
    output = mmcv_call(case)(*tensors)
    wanted, wide = case.expected(tensors)
    near(output, wanted, dtype)
    grad = torch.rand(output.shape, generator=torch.Generator().manual_seed(2)).to(dtype)
    output.backward(grad)
    wanted.backward(grad.double())
    for i in case.leaves:
        if case.name == "three_interpolate" and i == 2:
            continue  # mmcv gives the weights no gradient
        near(tensors[i].grad, wide[i].grad, dtype)


@every_dtype
@pytest.mark.parametrize("case", CASES[:2], ids=repr)
def test_carafe_naive(case, dtype):
    from mmcv.ops import CARAFENaive
    tensors = case.inputs(dtype, requires_grad=True)
    output = CARAFENaive(*case.arguments)(*tensors)
    wanted, wide = case.expected(tensors)
    near(output, wanted, dtype)
    output.sum().backward()
    wanted.sum().backward()
    for tensor, reference in zip(tensors, wide):
        near(tensor.grad, reference.grad, dtype)


def composed_pack(pack, x):
    mask = pack.kernel_normalizer(pack.content_encoder(pack.channel_compressor(x)))
    return compositions.carafe(x, mask, pack.up_kernel, pack.up_group, pack.scale_factor)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_carafe_pack(dtype):
    from mmcv.ops import CARAFEPack
    torch.manual_seed(1)
    pack = CARAFEPack(8, 2, up_group=2, compressed_channels=4).to(dtype)
    torch.nn.init.normal_(pack.content_encoder.weight, std=0.5)
    x = torch.randn(2, 8, 5, 6, dtype=dtype)
    ours, composed = x.clone().requires_grad_(), x.clone().requires_grad_()
    a, b = pack(ours), composed_pack(pack, composed)
    near(a, b.double(), dtype)
    parameters = list(pack.parameters())
    got = torch.autograd.grad(a.square().sum(), [ours, *parameters])
    wanted = torch.autograd.grad(b.square().sum(), [composed, *parameters])
    for g, w in zip(got, wanted):
        near(g, w.double(), dtype, factor=50)


def test_built_from_the_registry():
    from mmengine.registry import MODELS
    assert MODELS.build(dict(type="carafe", channels=4, scale_factor=2))(torch.randn(1, 4, 3, 3)).shape == (1, 4, 6, 6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", ["DeformRoIPoolPack", "ModulatedDeformRoIPoolPack"])
def test_deform_packs(name, dtype):
    """mmcv's pack over mluops, our pack with the same parameters, and the composition agree."""
    ops = importlib.import_module("mmcv.ops")
    torch.manual_seed(2)
    theirs = getattr(ops, name)((2, 2), 3, 16, 1.0, 2, 0.05).to(dtype)
    torch.nn.init.normal_(theirs.offset_fc[-1].weight, std=0.1)
    ours = getattr(mt, name)((2, 2), 3, 16, 1.0, 2, 0.05).to(dtype)
    ours.load_state_dict(theirs.state_dict())
    x, rois = torch.rand(2, 3, 12, 12, dtype=dtype), interior_rois(3, 2, 12, 12).to(dtype)

    def composed(image):
        rigid = compositions.deform_roi_pool(image, rois, None, (2, 2), 1.0, 2, 0.05).reshape(3, -1)
        offset = theirs.offset_fc(rigid).view(3, 2, 2, 2)
        pooled = compositions.deform_roi_pool(image, rois, offset, (2, 2), 1.0, 2, 0.05)
        return pooled * theirs.mask_fc(rigid).view(3, 1, 2, 2) if hasattr(theirs, "mask_fc") else pooled

    found = []
    for function in (lambda v: theirs(v, rois), lambda v: ours(v, rois), composed):
        leaf = x.clone().requires_grad_()
        output = function(leaf)
        output.square().sum().backward()
        found.append((output.detach(), leaf.grad))
    for output, grad in found[:2]:
        near(output, found[2][0].double(), dtype)
        near(grad, found[2][1].double(), dtype, factor=20)


def test_state_dicts_fit():
    ops = importlib.import_module("mmcv.ops")
    for make in (lambda m: m.CARAFEPack(8, 2), lambda m: m.DeformRoIPoolPack((2, 2), 3, 8),
                 lambda m: m.ModulatedDeformRoIPoolPack((2, 2), 3, 8)):
        ours, theirs = make(mt), make(ops)
        assert list(ours.state_dict()) == list(theirs.state_dict())
        ours.load_state_dict(theirs.state_dict())


def test_mixed_dtypes_keep_mmcv_s_result_dtype():
    from mmcv.ops import carafe, deform_roi_pool
    x, masks = CASES[0].inputs(torch.float32)
    wanted = carafe(x.half().float(), masks, *CASES[0].arguments)
    got = carafe(x.half(), masks, *CASES[0].arguments)
    assert got.dtype == torch.float16 and torch.allclose(got.float(), wanted, atol=1e-2)
    image, rois, _ = CASES[4].inputs(torch.float32)
    assert deform_roi_pool(image.half(), rois, None, *CASES[4].arguments).dtype == torch.float16


def test_a_model_trains():
    from mmcv.ops import CARAFEPack
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), CARAFEPack(8, 2),
                              torch.nn.Conv2d(8, 3, 3, padding=1))
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    x, y = torch.rand(2, 3, 8, 8), torch.rand(2, 3, 16, 16)
    losses = []
    for _ in range(15):
        loss = (net(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def in_new_process(code):
    result = subprocess.run([sys.executable, "-W", "error::FutureWarning", "-c", textwrap.dedent(code)],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.skipif(COMPILED, reason="the mmcv here is compiled")
def test_install_and_uninstall_with_mmcv_lite():
    in_new_process("""
        import sys, warnings, torch, mluops.mmcv
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mluops.mmcv.install()
            mluops.mmcv.install()
        ours = [str(w.message) for w in caught if "mluops.mmcv" in str(w.message)]
        assert len(ours) == 1 and "CARAFE, " in ours[0] and "without compiled" in ours[0], ours
        from mmcv.ops import CARAFE, contour_expand, get_compiler_version
        from mmcv.ops.carafe import CARAFENaiveFunction
        assert isinstance(get_compiler_version(), str)
        x, m = torch.ones(1, 4, 3, 3), torch.ones(1, 9, 6, 6)
        CARAFE(3, 1, 2)(x, m)
        try:
            contour_expand(torch.ones(1, 3, 3), torch.ones(3, 3, dtype=torch.int32), 0, 1)
            raise SystemExit("contour_expand ran")
        except NotImplementedError as error:
            assert "mmcv operator ContourExpand (contour_expand) is not among those mluops serves" in str(error), error
            assert "CARAFE" in str(error) and "PSAMask" in str(error) and "python -m mluops.mmcv" in str(error)
        replaced = CARAFENaiveFunction.backward
        mluops.mmcv.uninstall()
        assert "mmcv._ext" not in sys.modules and not mluops.mmcv.installed()
        assert CARAFENaiveFunction.backward is not replaced
        try:
            CARAFE(3, 1, 2)(x, m)
            raise SystemExit("still installed")
        except NotImplementedError:
            pass
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mluops.mmcv.install()
        naive = torch.ones(1, 4, 3, 3, requires_grad=True)
        from mmcv.ops import CARAFENaive
        CARAFENaive(3, 1, 2)(naive, m).sum().backward()
        assert naive.grad is not None
    """)


@pytest.mark.skipif(COMPILED, reason="the mmcv here is compiled")
def test_an_mmcv_that_lacks_what_later_versions_have():
    """mmcv 1.4 has no diff_iou_rotated: modules, functions and methods that are absent stay so."""
    in_new_process("""
        import sys, warnings, mluops.mmcv as ours
        def never(*args): raise SystemExit("called")
        ours.METHODS = {("mmcv.ops.no_such_module", "f", None): never, ("mmcv.ops.carafe", "no_such_function", None): never,
                        ("mmcv.ops.carafe", "NoSuchClass", "forward"): never,
                        ("mmcv.ops.carafe", "CARAFENaiveFunction", "no_such_method"): never, **ours.METHODS}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours.install()
        import mmcv.ops
        module = sys.modules["mmcv.ops.carafe"]
        assert not hasattr(module, "no_such_function") and not hasattr(module, "NoSuchClass")
        assert not hasattr(module.CARAFENaiveFunction, "no_such_method") and not hasattr(mmcv.ops, "no_such_function")
        ours.uninstall()
    """)


@pytest.mark.skipif(not COMPILED, reason="needs an mmcv built for this torch with MMCV_WITH_OPS=1")
def test_a_compiled_mmcv():
    """The real one: what has no CPU code gets ours, what has gives the same values, and all goes back."""
    in_new_process("""
        import warnings, torch, mluops.mmcv, mmcv._ext
        from mmcv.ops import CARAFEPack, PSAMask, nms
        assert mmcv._ext.__file__

        def refused():
            try:
                CARAFEPack(8, 2)(torch.ones(1, 8, 4, 4))
            except RuntimeError as error:
                return "cpu" in str(error)
            return False

        def masks():
            torch.manual_seed(0)
            found = []
            for kind, size in (("collect", (3, 5)), ("distribute", (5, 3)), ("collect", (7, 7))):
                x = torch.rand(2, size[0] * size[1], 6, 5, requires_grad=True)
                y = PSAMask(kind, size)(x)
                y.backward(torch.rand_like(y))
                found += [y.detach(), x.grad]
            return found

        assert refused()
        theirs = masks()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mluops.mmcv.install()
        assert any("compiled mmcv;" in str(w.message) for w in caught), caught
        pack, x = CARAFEPack(8, 2), torch.rand(1, 8, 4, 4, requires_grad=True)
        pack(x).sum().backward()
        assert x.grad is not None and all(p.grad is not None for p in pack.parameters())
        for ours, own in zip(masks(), theirs):
            assert torch.equal(ours, own)
        boxes = torch.tensor([[0, 0, 2, 2.], [0, 0, 2, 2], [3, 3, 4, 4]])
        assert nms(boxes, torch.tensor([0.9, 0.8, 0.7]), 0.5)[1].tolist() == [0, 2]
        mluops.mmcv.uninstall()
        assert refused()
    """)


def test_compiled_mmcv_keeps_other_devices():
    """A compiled extension, played by a module that records its calls: its functions get what is not on the CPU."""
    in_new_process("""
        import sys, types, warnings, torch
        from importlib.machinery import ModuleSpec
        calls = []
        ext = types.ModuleType("mmcv._ext")
        ext.__spec__ = ModuleSpec("mmcv._ext", None)
        def make(name):
            def function(*args, **kwargs):
                calls.append(name)
            return function
        ext.__getattr__ = lambda name: make(name) if not name.startswith("__") else exec("raise AttributeError")
        for name in ("carafe_forward", "psamask_forward", "psamask_backward"):
            setattr(ext, name, make(name))
        sys.modules["mmcv._ext"] = ext
        before = dict(vars(ext))
        import mluops.mmcv
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mluops.mmcv.install()
        assert any("compiled mmcv;" in str(w.message) for w in caught), [str(w.message) for w in caught]
        from mmcv.ops import PSAMask
        x = torch.rand(1, 9, 3, 3)
        assert PSAMask("collect", (3, 3))(x).abs().sum() > 0 and calls == []
        PSAMask("collect", (3, 3))(x.to("meta"))
        assert calls == ["psamask_forward"]
        mluops.mmcv.uninstall()
        assert dict(vars(ext)) == before and sys.modules["mmcv._ext"] is ext
        PSAMask("collect", (3, 3))(x)
        assert calls == ["psamask_forward"] * 2
    """)


def test_instances_are_indexed_on_any_device():
    """As mmdet's heads do with what nms keeps; mmengine itself knows few devices, and not meta."""
    module = importlib.import_module("mmengine.structures.instance_data")
    kept, flags = (torch.empty(5, dtype=dtype, device="meta") for dtype in (torch.int64, torch.bool))
    instances = module.InstanceData(bboxes=torch.empty(5, 4, device="meta"))
    assert instances[kept[:2]].bboxes.shape == (2, 4)
    assert isinstance(flags, module.BoolTypeTensor.__args__) and not isinstance(kept, module.BoolTypeTensor.__args__)
    assert not isinstance(torch.empty(2, device="meta"), module.IndexType.__args__)
    mluops.mmcv.uninstall()
    try:
        with pytest.raises(AssertionError):
            instances[kept]
    finally:
        mluops.mmcv.install()


def test_the_table_of_operators(monkeypatch):
    from mluops.mmcv._entry_points import ENTRY_POINTS
    from mluops.mmcv._table import TABLE, server
    known = {function for row in TABLE for function in row.functions}
    assert set(ENTRY_POINTS) <= known
    text = in_new_process("import runpy; runpy.run_module('mluops.mmcv', run_name='__main__')")
    assert "CARAFE " in text and "| mluops" in text and f"of {len(TABLE)} served" in text
    by_name = {row.name: row for row in TABLE}
    assert server(by_name["CARAFE"], "") == "nobody" and server(by_name["CARAFE"], "lite") == "mluops"
    assert server(by_name["PixelGroup"], "lite") == "nobody" and server(by_name["NMSQuadri"], "compiled") == "mmcv"
    assert server(by_name["TINShift"], "lite") == "mluops"
    assert server(by_name["ActiveRotatedFilter"], "lite") == "mluops of torch operators"
    import mmcv
    text = "".join(path.read_text() for path in (Path(mmcv.__file__).parent / "ops").glob("*.py"))
    for name in re.findall(r"ext_module\.(\w+)", text):  # whatever mmcv calls is in a row
        assert name in known or name.startswith("get_compil"), name
    assert "stack_ball_query_forward" in by_name["BallQuery"].functions
    monkeypatch.delitem(ENTRY_POINTS, "stack_ball_query_forward")
    assert server(by_name["BallQuery"], "lite") == "mluops in part"
    served = {mmcv: sum(server(row, mmcv) != "nobody" for row in TABLE) for mmcv in ("lite", "compiled")}
    assert served["lite"] >= 58 and served["compiled"] >= 51


def test_python_fallbacks_of_the_table_run():
    """What the table calls a Python fallback runs on CPU tensors with mmcv-lite."""
    from mluops.mmcv._table import FALLBACK, TABLE
    ops = importlib.import_module("mmcv.ops")
    x = torch.rand(1, 8, 6, 6)
    kernel, levels = torch.ones(3, 3) / 9, torch.tensor([[6, 6]])
    runs = {
        "BiasAct": lambda: ops.bias_act(x, torch.rand(8)),
        "Conv2dGradFix": lambda: ops.conv2d(x, torch.rand(4, 8, 3, 3)),
        "CrissCrossAttention": lambda: ops.CrissCrossAttention(8)(x),
        "CornerPool": lambda: ops.CornerPool("top")(x),
        "FilteredLReLU": lambda: ops.filtered_lrelu(x, bias=torch.rand(8)),
        "FusedBiasLeakyrelu": lambda: ops.FusedBiasLeakyReLU(8)(x),
        "MergeCells": lambda: importlib.import_module("mmcv.ops.merge_cells").SumCell(8, 8)(x, x, (6, 6)),
        "MultiScaleDeformableAttn": lambda: ops.MultiScaleDeformableAttention(
            8, num_heads=2, num_levels=1, num_points=2)(x.flatten(2).permute(2, 0, 1),
                                                        value=x.flatten(2).permute(2, 0, 1),
                                                        reference_points=torch.rand(1, 36, 1, 2),
                                                        spatial_shapes=levels, level_start_index=torch.tensor([0])),
        "UpFirDn2d": lambda: ops.upfirdn2d(x, kernel, padding=1),
    }
    assert set(runs) == {row.name for row in TABLE if row.cpu == FALLBACK}
    for name, run in runs.items():
        assert torch.is_tensor(run()), name


def test_extension_built_for_another_torch():
    in_new_process("""
        import importlib, importlib.abc, sys, warnings
        class Broken(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name == "mmcv._ext":
                    raise ImportError("undefined symbol: _ZN3c10")
        sys.meta_path.insert(0, Broken())
        import torch, mluops.mmcv
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mluops.mmcv.install()
        assert any("undefined symbol" in str(w.message) for w in caught)
        from mmcv.ops import CARAFE
        CARAFE(3, 1, 2)(torch.ones(1, 4, 3, 3), torch.ones(1, 9, 6, 6))
    """)
