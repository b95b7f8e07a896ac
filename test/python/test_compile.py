"""What torch.library gives: opcheck, fake tensors, torch.compile, torch.export."""

import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")

import mluops.torch as mt  # noqa: E402
from cases import CASES  # noqa: E402
from mluops.torch import _operator  # noqa: E402

if not _operator.HAS_LIBRARY_API:
    pytest.skip("this torch has no torch.library operators", allow_module_level=True)

every_case = pytest.mark.parametrize("case", CASES, ids=repr)


def raw_arguments(case, dtype=torch.float32, requires_grad=True, channels_last=False):
    """The arguments of torch.ops.mluops.<name> for a case of the public function."""
    tensors = case.inputs(dtype, requires_grad, channels_last)
    name = case.name.split()[0]
    if name == "psa_mask":
        return name, (*tensors, 0 if "collect" in case.name else 1, *case.arguments[1])
    if name == "roi_align":
        size, scale, ratio, *rest = case.arguments
        aligned = rest[1] if rest else True
        return name, (*tensors, *(size if isinstance(size, tuple) else (size, size)), scale, ratio, 1, aligned)
    if name == "roi_align_rotated":
        size, scale, ratio, aligned, clockwise = (*case.arguments, *(True, False)[len(case.arguments) - 3:])
        return name, (*tensors, *(size if isinstance(size, tuple) else (size, size)), ratio, scale, aligned, clockwise)
    if name.endswith("deform_conv2d"):
        if name == "deform_conv2d":  # v1 has neither mask nor bias
            tensors = [*tensors[:2], None, tensors[2], None]
        stride, padding, dilation, groups, deform_groups = (*case.arguments, *(1, 0, 1, 1, 1)[len(case.arguments):])
        pairs = stride, stride, padding, padding, dilation, dilation
        return "deform_conv2d", (*tensors, *pairs, groups, deform_groups)
    if name in ("deform_roi_pool", "roi_pool", "prroi_pool"):
        return name, (*tensors, *case.arguments[0], *case.arguments[1:])
    return name, (*tensors, *case.arguments)


@pytest.mark.parametrize("channels_last", [False, True])
@every_case
def test_opcheck(case, channels_last):
    name, arguments = raw_arguments(case, channels_last=channels_last)
    torch.library.opcheck(getattr(torch.ops.mluops, name).default, arguments)


def gradient_calls(case):
    """The operators that differentiate a case, and their arguments."""
    if case.name.endswith("deform_conv2d"):
        name, (x, offset, mask, weight, bias, *numbers) = raw_arguments(case, requires_grad=False)
        grad = torch.rand_like(getattr(torch.ops.mluops, name)(x, offset, mask, weight, bias, *numbers))
        return [(f"{name}_data_backward", (grad, x, offset, mask, weight, *numbers)),
                (f"{name}_weight_backward", (grad, x, offset, mask, *weight.shape[2:], *numbers))]
    name, arguments = gradient_call(case)
    others = []
    if name == "three_interpolate":
        features, indices, _ = raw_arguments(case, requires_grad=False)[1]
        others = [("three_interpolate_weight_backward", (arguments[0], features, indices))]
    return [(name + "_backward", arguments), *others]


def gradient_call(case):
    """The arguments of the one operator that differentiates a case."""
    name, arguments = raw_arguments(case, requires_grad=False)
    result = getattr(torch.ops.mluops, name)(*arguments)
    if name == "roi_align":
        image, rois, _, _, *numbers = arguments
        return name, (torch.rand_like(result[0]), rois, None, None, image.shape[0], *image.shape[2:], *numbers)
    if name == "roi_align_rotated":
        image, rois, _, _, *numbers = arguments
        return name, (torch.rand_like(result), rois, image.shape[0], *image.shape[2:], *numbers)
    if name == "roi_pool":
        image, rois, _, _, scale = arguments
        return name, (torch.rand_like(result[0]), rois, result[1], image.shape[0], *image.shape[2:], scale)
    if name == "prroi_pool":
        image, rois, _, _, scale = arguments
        return name, (torch.rand_like(result), image, rois, scale, True, True)
    if name == "softmax_focal_loss":
        return name, (torch.rand_like(result[0]), result[1], *arguments[1:])
    if name == "border_align":
        output, argmax = result
        image, boxes, pool = arguments
        return name, (torch.rand_like(output), boxes, argmax, pool, image.shape[2], image.shape[3])
    if name in ("three_interpolate", "gather_points", "group_points"):
        return name, (torch.rand_like(result), *arguments[1:], arguments[0].shape[2])
    return name, (torch.rand_like(result), *(arguments[1:] if name == "psa_mask" else arguments))


@every_case
def test_opcheck_of_gradients(case):
    for name, arguments in gradient_calls(case):
        torch.library.opcheck(getattr(torch.ops.mluops, name).default, arguments)


@every_case
def test_compile_fullgraph(case):
    torch._dynamo.reset()
    compiled = torch.compile(lambda *tensors: case.run(tensors) * 2 + 1, fullgraph=True, backend="aot_eager")
    eager, traced = case.inputs(torch.float32, True), case.inputs(torch.float32, True)
    wanted = case.run(eager) * 2 + 1
    got = compiled(*traced)
    assert torch.allclose(got, wanted, atol=1e-6) and got.stride() == wanted.stride()
    wanted.sum().backward()
    got.sum().backward()
    for i in case.leaves:
        if eager[i] is not None:
            assert torch.allclose(traced[i].grad, eager[i].grad, atol=1e-5)


@pytest.mark.parametrize("channels_last", [False, True])
def test_compile_inductor(channels_last):
    torch._dynamo.reset()
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), mt.CARAFEPack(8, 2),
                              torch.nn.Conv2d(8, 3, 3, padding=1))
    x = torch.randn(2, 3, 9, 8)
    if channels_last:
        net, x = net.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    wanted = net(x)
    grads = torch.autograd.grad(wanted.square().sum(), net.parameters())
    compiled = torch.compile(net, fullgraph=True)
    got = compiled(x)
    assert torch.allclose(got, wanted, atol=1e-5)
    for a, b in zip(grads, torch.autograd.grad(got.square().sum(), net.parameters())):
        assert torch.allclose(a, b, rtol=1e-3, atol=1e-4)


def test_compile_with_dynamic_shapes():
    torch._dynamo.reset()
    compiled = torch.compile(lambda x, m: mt.carafe(x, m, 3, 1, 2), fullgraph=True, dynamic=True,
                             backend="aot_eager")
    for h, w in ((3, 4), (5, 7), (6, 2)):
        x, m = torch.randn(2, 4, h, w), torch.rand(2, 9, 2 * h, 2 * w)
        assert torch.equal(compiled(x, m), mt.carafe(x, m, 3, 1, 2))


def test_export():
    program = torch.export.export(mt.CARAFEPack(8, 2), (torch.randn(1, 8, 5, 6),))
    x = torch.randn(1, 8, 5, 6)
    names = [str(node.target) for node in program.graph.nodes]
    assert any("mluops.carafe" in name for name in names)
    assert program.module()(x).shape == (1, 8, 10, 12)


def test_meta_tensors():
    y = torch.ops.mluops.carafe(torch.empty(2, 4, 5, 6, device="meta"), torch.empty(2, 9, 10, 12, device="meta"),
                                3, 1, 2)
    assert y.shape == (2, 4, 10, 12) and y.is_meta


class Seen(torch.utils._python_dispatch.TorchDispatchMode):
    """Remembers the operators that pass the dispatcher."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        self.names.append(str(function))
        return function(*arguments, **(keywords or {}))


def forward_and_backward(case):
    tensors = case.inputs(torch.float32, requires_grad=True)
    output = case.run(tensors)
    output.sum().backward()
    return [output.detach(), *(tensors[i].grad for i in case.leaves if tensors[i] is not None)]


@every_case
def test_whoever_looks_sees_operators(case):
    """Plain eager calls go without the dispatcher; the values are the same, and modes miss nothing."""
    names = [raw_arguments(case)[0], *(name for name, _ in gradient_calls(case))]
    plain = forward_and_backward(case)
    with Seen() as seen:
        watched = forward_and_backward(case)
    assert {f"mluops.{name}.default" for name in names} <= set(seen.names)
    assert all(torch.equal(a, b) for a, b in zip(plain, watched))


def test_profilers_see_operators():
    # In a process of its own: a profiler starts threads, and later tests fork.
    code = """
        import torch, mluops.torch as mt
        x, masks = torch.rand(1, 4, 5, 6, requires_grad=True), torch.rand(1, 9, 10, 12)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            mt.carafe(x, masks, 3, 1, 2).sum().backward()
        events = {event.key for event in profile.key_averages()}
        assert {"mluops::carafe", "mluops::carafe_backward"} <= events, events
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=300)


def test_plain_calls_go_without_the_dispatcher():
    """A torch that cannot tell a plain call from a watched one would take the slower way, and nobody would notice."""
    from mluops.torch import _eager
    assert _eager.KNOWS_EAGER
    case = CASES[0]
    output = case.run(case.inputs(torch.float32, requires_grad=True, channels_last=True))
    assert type(output.grad_fn).__name__ == "mluops_carafeBackward"
    assert _eager.unwatched((torch.ones(1), 3, None)) and not _eager.unwatched((torch.ones(1, device="meta"),))
    with torch.device("cpu"):
        assert not _eager.unwatched((torch.ones(1),))


def test_meta_tensors_through_the_functions():
    assert mt.psa_mask(torch.empty(1, 9, 4, 5, device="meta"), 0, 3).shape == (1, 20, 4, 5)


def trace_of(function, inputs):
    return torch.jit.trace(function, inputs, check_trace=False)


def compiled_of(function, inputs):
    compiled = torch.compile(function, fullgraph=True, dynamic=True, backend="eager")
    compiled(*inputs)
    return compiled


def test_jit_trace():
    traced = torch.jit.trace(lambda v: mt.psa_mask(v, 0, 3), torch.rand(1, 9, 3, 4))
    assert "mluops::psa_mask" in str(traced.graph)
    x = torch.rand(1, 9, 3, 4)
    assert torch.equal(traced(x), mt.psa_mask(x, 0, 3))


def test_jit_trace_of_nms_quadri_looks_for_boxes_without_area():
    boxes = torch.tensor([1.0, 1, 3, 1, 3, 3, 1, 3]) + 10 * torch.arange(4.0)[:, None]
    traced = torch.jit.trace(lambda b, s: mt.nms_quadri(b, s, 0.3), (boxes, torch.rand(4)), check_trace=False)
    boxes[:2] = 0
    assert traced(boxes, -torch.arange(4.0))[1].tolist() == [0, 1, 2, 3]


def test_jit_trace_of_a_sparse_network_on_no_place_has_all_modules():
    net = mt.SparseSequential(mt.SubMConv3d(2, 3, 1, bias=False), torch.nn.ReLU()).requires_grad_(False)
    traced = torch.jit.trace(lambda f, i: net(mt.SparseConvTensor(f, i, (4, 4, 4), 1)).features,
                             (torch.zeros(0, 2), torch.zeros(0, 4, dtype=torch.int32)), check_trace=False)
    features, indices = torch.randn(5, 2), torch.arange(5, dtype=torch.int32)[:, None] * torch.tensor([0, 0, 1, 0]).int()
    assert (net[0].weight.flatten(0, 3).t() @ features.t() < 0).any() and (traced(features, indices) >= 0).all()


def test_jit_trace_of_batched_nms_on_no_box_tells_groups_apart():
    traced = torch.jit.trace(lambda b, s, i: mt.batched_nms(b, s, i, {"iou_threshold": 0.5})[1],
                             (torch.zeros(0, 4), torch.zeros(0), torch.zeros(0).long()), check_trace=False)
    boxes = torch.tensor([0.0, 0, 2, 2]).repeat(3, 1)
    assert traced(boxes, torch.tensor([3.0, 2, 1]), torch.tensor([0, 1, 0])).tolist() == [0, 1]
    assert traced(boxes[:0], torch.zeros(0), torch.zeros(0).long()).tolist() == []


@pytest.mark.parametrize("nms, width", [(mt.nms_rotated, 5), (mt.nms_quadri, 8)])
@pytest.mark.parametrize("made", [trace_of, compiled_of])
def test_graphs_of_nms_with_labels_take_other_labels(nms, width, made):
    def random(boxes):
        if width == 5:
            return torch.rand(boxes, 5) * torch.tensor([9.0, 9, 4, 4, 3])
        return torch.tensor([0.0, 0, 3, 0, 3, 3, 0, 3]) + (torch.rand(boxes, 2) * 9).repeat(1, 4)

    torch.manual_seed(6)
    graph = made(lambda b, s, labels: nms(b, s, 0.1, labels)[1], (random(7), torch.rand(7), torch.zeros(7).long()))
    for labels in (torch.arange(40) % 3, torch.arange(40) % 7 - 2):
        boxes, scores = random(40), torch.randperm(40) / 40
        assert graph(boxes, scores, labels).tolist() == nms(boxes, scores, 0.1, labels)[1].tolist()


def test_jit_trace_learns_how_many_boxes_are_kept_when_it_runs():
    boxes, scores = torch.tensor([0.0, 0, 2, 2]) + 5 * torch.arange(3.0)[:, None], torch.rand(3)
    traced = torch.jit.trace(lambda b, s: mt.nms(b, s, 0.5)[1], (boxes, scores), check_trace=False)
    assert traced(boxes[:1].repeat(3, 1), scores).tolist() == [int(scores.argmax())]
