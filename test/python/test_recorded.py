"""What records or redirects Python: torch.fx, torch.jit.script of others' modules, torch.device as a context, meta and
fake tensors."""

import types

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
import test_shapes  # noqa: E402
from mluops.torch import _operator  # noqa: E402

needs_operators = pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="torch.library operators need torch 2.4")
ROIS = torch.tensor([[0, 1.0, 1, 5, 4], [0, 0.0, 2, 3, 5]])
IMAGE = (1, 4, 8, 9)

MODULES = {
    "CARAFE": (lambda: mt.CARAFE(3, 1, 2), lambda: (torch.rand(IMAGE), torch.rand(1, 9, 16, 18))),
    "CARAFEPack": (lambda: mt.CARAFEPack(4, 2), lambda: (torch.rand(IMAGE),)),
    "DeformConv2d": (lambda: mt.DeformConv2d(4, 6, 3, padding=1), lambda: (torch.rand(IMAGE), torch.rand(1, 18, 8, 9))),
    "DeformConv2dPack": (lambda: mt.DeformConv2dPack(4, 6, 3, padding=1), lambda: (torch.rand(IMAGE),)),
    "ModulatedDeformConv2d": (lambda: mt.ModulatedDeformConv2d(4, 6, 3, padding=1),
                              lambda: (torch.rand(IMAGE), torch.rand(1, 18, 8, 9), torch.rand(1, 9, 8, 9))),
    "ModulatedDeformConv2dPack": (lambda: mt.ModulatedDeformConv2dPack(4, 6, 3, padding=1), lambda: (torch.rand(IMAGE),)),
    "DeformRoIPool": (lambda: mt.DeformRoIPool(2), lambda: (torch.rand(IMAGE), ROIS)),
    "RoIAlign": (lambda: mt.RoIAlign(2), lambda: (torch.rand(IMAGE), ROIS)),
    "RoIPool": (lambda: mt.RoIPool(2), lambda: (torch.rand(IMAGE), ROIS)),
    "PrRoIPool": (lambda: mt.PrRoIPool(2), lambda: (torch.rand(IMAGE), ROIS)),
    "RoIAlignRotated": (lambda: mt.RoIAlignRotated(2, 1.0), lambda: (torch.rand(IMAGE), torch.cat([ROIS, ROIS[:, :1]], 1))),
    "BorderAlign": (lambda: mt.BorderAlign(2), lambda: (torch.rand(IMAGE), torch.rand(1, 72, 4) * 5)),
    "PSAMask": (lambda: mt.PSAMask("collect", (3, 3)), lambda: (torch.rand(1, 9, 8, 9),)),
    "SigmoidFocalLoss": (lambda: mt.SigmoidFocalLoss(2.0, 0.25), lambda: (torch.rand(5, 3), torch.tensor([0, 1, 2, 3, 0]))),
}


@needs_operators
@pytest.mark.parametrize("name", MODULES)
def test_symbolic_trace_of_modules(name):
    torch.manual_seed(0)
    make, inputs = MODULES[name]
    module, given = make(), inputs()
    traced = torch.fx.symbolic_trace(module)
    assert torch.equal(traced(*given), module(*given))
    twice = [torch.cat([given[0]] * 2)] if len(given) == 1 else given  # sizes are not those of one call
    assert torch.equal(traced(*twice), module(*twice))


@needs_operators
def test_symbolic_trace_of_functions():
    class Net(torch.nn.Module):
        def forward(self, boxes, scores):
            dets, kept = mt.nms(boxes, scores, iou_threshold=0.5)
            return dets * 2, kept

    traced = torch.fx.symbolic_trace(Net())
    assert any(node.target is mt.nms for node in traced.graph.nodes)
    low = torch.rand(30, 2)
    boxes, scores = torch.cat([low, low + torch.rand(30, 2)], 1), torch.rand(30)
    assert all(torch.equal(a, b) for a, b in zip(traced(boxes, scores), Net()(boxes, scores)))


@needs_operators
def test_scripts_of_replaced_functions_are_those_of_the_originals():
    from mluops._replacing import routed

    def original(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    entry = routed("entry", lambda *args, **kwargs: args[0] + 1, original, "a package")
    assert torch.equal(torch.jit.script(entry)(torch.ones(2)), entry(torch.ones(2)))


@pytest.mark.parametrize("error", [
    NotImplementedError("Could not run 'torchvision::deform_conv2d' with arguments from the 'CPU' backend."),
    RuntimeError("nms_impl: implementation for device meta not found."),
    RuntimeError("Couldn't load custom C++ ops. This can happen if PyTorch and torchvision::ops are incompatible"),
    NotImplementedError("rotated boxes"), RuntimeError("Could not run 'make'")])
def test_replaced_functions_serve_devices_that_a_package_has_no_kernel_for(error):
    from mluops._replacing import routed

    def original(x):
        raise error

    entry = routed("entry", lambda x: "ours", original, "a package")
    x = torch.ones(2, device="meta")
    if "::" in str(error) or "not found" in str(error):
        assert entry(x) == "ours"
    else:
        with pytest.raises(type(error), match=str(error)):
            entry(x)


def elsewhere(function):
    def call(*args, **kwargs):
        with torch.device("meta"):
            return function(*args, **kwargs)

    return call


@needs_operators
@pytest.mark.parametrize("name", test_shapes.CALLS)
def test_tensors_stay_where_they_are_under_another_default_device(name):
    """The test's tensors are made on the CPU; within our functions new ones would be on meta."""
    ours = types.SimpleNamespace(**{each: value if isinstance(value, type) else elsewhere(value)
                                    for each, value in vars(mt).items() if callable(value)})
    scope = {**vars(test_shapes), "mt": ours}
    for helper in ("pairs", "convolved", "pooled"):
        function = getattr(test_shapes, helper)
        scope[helper] = types.FunctionType(function.__code__, scope)
    call = types.FunctionType(test_shapes.CALLS[name].__code__, scope)
    for a, b in zip(test_shapes.results(call, 3), test_shapes.results(test_shapes.CALLS[name], 3)):
        assert (a is None and b is None) or torch.equal(a, b)


@needs_operators
def test_on_meta():
    grid = [0.3] * 3, [0, 0, 0, 1, 1, 1]
    image = torch.empty(1, 12, 2, 3, device="meta")
    assert mt.voxelization(torch.empty(9, 3, device="meta"), *grid, -1).is_meta
    assert mt.yolo_box(image, torch.empty(1, 2, dtype=torch.int32, device="meta"), [3, 4, 5, 6], 1, 0.1, 8)[0].is_meta
    assert mt.prior_box(image, torch.empty(1, 1, 20, 30, device="meta"), [4.0])[0].is_meta
    for call in (lambda: mt.voxelization(torch.empty(9, 3, device="meta"), *grid, 3, 40),
                 lambda: mt.nms(torch.empty(5, 4, device="meta"), torch.empty(5, device="meta"), 0.5)):
        with pytest.raises(NotImplementedError, match="how many rows the result has is in the data"):
            call()


@needs_operators
def test_fake_tensors_have_sizes_that_are_learnt():
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv
    with FakeTensorMode(shape_env=ShapeEnv()) as mode:
        boxes, scores, groups = map(mode.from_tensor, (torch.rand(5, 4), torch.rand(5), torch.zeros(5).long()))
        for kept in (mt.nms(boxes, scores, 0.5)[1], mt.batched_nms(boxes, scores, groups, {"iou_threshold": 0.5})[1]):
            assert isinstance(kept.shape[0], torch.SymInt)


# ---- whole graphs


def filtered(weight):
    return mt.active_rotated_filter(weight, torch.arange(1, 10).repeat(4, 1).t().reshape(1, 3, 3, 4).int())


def masked(image, weight, bias):
    return mt.masked_conv2d(image, image[:, 0] - 0.5, weight, bias, 1)


@needs_operators
@pytest.mark.parametrize("function, shapes", [(filtered, [(2, 3, 1, 3, 3)]), (masked, [(1, 2, 5, 6), (3, 2, 3, 3), (3,)])])
def test_compiles_whole_with_gradients(function, shapes):
    torch.manual_seed(0)
    graph = torch.compile(function, fullgraph=True, backend="aot_eager")
    for _ in range(3):
        leaves = [torch.rand(shape).requires_grad_() for shape in shapes]
        found, wanted = graph(*leaves), function(*leaves)
        assert torch.allclose(found, wanted, atol=1e-6)
        for a, b in zip(*(torch.autograd.grad(each.square().sum(), leaves) for each in (found, wanted))):
            assert torch.allclose(a, b, atol=1e-5)


def test_a_graph_refuses_indices_when_it_runs():
    weight, indices = torch.rand(2, 3, 1, 3, 3), torch.ones(1, 3, 3, 4).int()
    call = torch.compile(mt.active_rotated_filter, fullgraph=True, backend="eager") if _operator.HAS_LIBRARY_API else (
        mt.active_rotated_filter)
    call(weight, indices)
    for bad in (0, 10):
        with pytest.raises(mluops.BadParamError, match=r"indices: wanted numbers from 1 to 9, got \["):
            call(weight, indices.clone().fill_(bad))
