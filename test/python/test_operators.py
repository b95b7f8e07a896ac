"""mluops.torch against the compositions: values, gradients, dtypes, layouts, odd inputs."""

import math
import warnings

import pytest

torch = pytest.importorskip("torch")

import mluops  # noqa: E402
import mluops.torch as mt  # noqa: E402
from cases import CASES, EMULATED, EMULATED_IN_FLOAT, TOLERANCE  # noqa: E402
from mluops._context import _MOST_KEPT, torch_door  # noqa: E402
from mluops.torch._smallest import smallest_calls  # noqa: E402
from mluops.torch.op import carafe as carafe_operator  # noqa: E402

DTYPES = [torch.float32, torch.float16, torch.float64, torch.bfloat16]
every_case = pytest.mark.parametrize("case", CASES, ids=repr)
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def assert_near(got, wanted, dtype, factor=1.0):
    limit = TOLERANCE[dtype] * factor * max(1.0, wanted.abs().max().item() if wanted.numel() else 1.0)
    assert got.shape == wanted.shape
    assert (got.double() - wanted).abs().max().item() <= limit


@every_dtype
@every_case
def test_forward_and_backward(case, dtype):
    tensors = case.inputs(dtype, requires_grad=True)
    output = case.run(tensors)
    wanted, wide = case.expected(tensors)
    assert output.dtype == dtype
    assert_near(output, wanted.detach(), dtype)
    grad = torch.rand(output.shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    output.backward(grad)
    wanted.backward(grad.double())
    for i in case.leaves:
        assert tensors[i].grad.dtype == dtype
        assert_near(tensors[i].grad, wide[i].grad, dtype, factor=4)


@every_case
def test_gradcheck(case):
    tensors = case.inputs(torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *given: case.run(given), tensors, atol=1e-6, nondet_tol=1e-12)


@every_case
def test_channels_last_stays_and_agrees(case):
    plain, last = case.inputs(torch.float32, True), case.inputs(torch.float32, True, channels_last=True)
    a, b = case.run(plain), case.run(last)
    # Their way in NCHW has another order of sums; that of convolution for few outputs of a group.
    if case.name.startswith(("roi_align", "deform_roi_pool", "deform_conv2d", "modulated_deform_conv2d")):
        spacing = 2.0 ** (math.frexp(b.abs().max().item())[1] - 24)
        assert (a - b).abs().max() <= 4 * spacing
    else:
        assert torch.equal(a, b)
    assert a.is_contiguous()
    if plain[0].dim() == a.dim() == 4:
        assert b.is_contiguous(memory_format=torch.channels_last)
    a.sum().backward()
    b.sum().backward()
    for i in case.leaves:
        assert torch.allclose(plain[i].grad, last[i].grad, atol=1e-6)
    if case.name.startswith(("roi_align", "deform_roi_pool")):
        assert torch.equal(plain[0].grad, last[0].grad)


# The values of deformable attention, [B, S, M, D], are no image.
IMAGES = [case for case in CASES
          if case.inputs(torch.float32)[0].dim() == 4 and case.name != "multi_scale_deformable_attn"]


@pytest.mark.parametrize("channels_last", [True, False], ids=["channels_last", "nchw"])
def test_tensors_reach_the_library_where_they_lie(channels_last, monkeypatch):
    from mluops._functions.carafe import CARAFE_BACKWARD as BACKWARD, CARAFE_FORWARD as FORWARD
    seen = []

    def watch(function, places):
        inner = function.function
        monkeypatch.setitem(vars(function), "function", lambda *arguments: (
            seen.append([arguments[place] for place in places]), inner(*arguments))[1])

    watch(FORWARD, (3, 5, 7))
    watch(BACKWARD, (3, 5, 7, 9, 11))
    tensors = CASES[0].inputs(torch.float32, requires_grad=True, channels_last=channels_last)
    for _ in range(2):  # the first call makes a plan, the second follows it
        output = CASES[0].run(tensors)
        grad = torch.rand_like(output)
        grads = torch.autograd.grad(output, tensors, grad)
        forward, backward = seen[-2:]
        assert forward == [t.data_ptr() for t in (*tensors, output)]
        assert backward == [t.data_ptr() for t in (*tensors, grad, *grads)]
    assert len(seen) == 4


@pytest.mark.skipif(not hasattr(torch, "profiler") or not hasattr(torch.ops.mluops, "carafe"),
                    reason="needs torch.profiler and torch.library operators")
@pytest.mark.parametrize("channels_last", [True, False], ids=["channels_last", "nchw"])
@pytest.mark.parametrize("case", IMAGES, ids=repr)
def test_nothing_but_outputs_is_allocated_and_nothing_copied(case, channels_last):
    tensors = case.inputs(torch.float32, requires_grad=True, channels_last=channels_last)
    if not case.name.endswith("deform_conv2d"):  # offsets of others are no image
        tensors[2:] = case.inputs(torch.float32, requires_grad=True)[2:]
    leaves = [tensors[i] for i in case.leaves if tensors[i] is not None]
    output = case.run(tensors)
    grad = torch.rand_like(output)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
        torch.autograd.grad(case.run(tensors), leaves, grad)
    by_torch = [event.name for event in seen.events() if event.name.startswith("aten::")]
    assert set(by_torch) <= {"aten::empty", "aten::empty_strided", "aten::new_empty", "aten::detach"}, by_torch


@pytest.mark.parametrize("channels_last", [True, False], ids=["channels_last", "nchw"])
@pytest.mark.parametrize("case", IMAGES, ids=repr)
def test_results_have_the_order_of_the_input(case, channels_last):
    tensors = case.inputs(torch.float32, requires_grad=True, channels_last=channels_last)
    output = case.run(tensors)
    order = torch.channels_last if channels_last else torch.contiguous_format
    assert output.is_contiguous(memory_format=order)
    image_grad, = torch.autograd.grad(output, tensors[:1], torch.rand_like(output))
    assert image_grad.is_contiguous(memory_format=order)


def test_images_of_two_orders():
    """The first image decides; where its order cannot be told, the next does."""
    x, masks = CASES[0].inputs(torch.float32)
    wanted = CASES[0].run([x, masks])
    for order in (torch.channels_last, torch.contiguous_format):
        other = torch.channels_last if order == torch.contiguous_format else torch.contiguous_format
        pair = [x.contiguous(memory_format=order), masks.contiguous(memory_format=other)]
        for operator in (mt.carafe, carafe_operator.forward):
            y = operator(*pair, *CASES[0].arguments)
            assert torch.equal(y, wanted) and y.is_contiguous(memory_format=order)
        grads = carafe_operator.gradients(wanted, *pair, *CASES[0].arguments)
        assert all(each.is_contiguous(memory_format=order) for each in grads)
    one_channel, last = x[:, :1].contiguous(), masks.contiguous(memory_format=torch.channels_last)
    kernel, _, scale = CASES[0].arguments
    y = mt.carafe(one_channel, last[:, :kernel * kernel], kernel, 1, scale)
    assert y.shape[1] == 1 and torch.allclose(y, mt.carafe(one_channel, masks[:, :kernel * kernel], kernel, 1, scale))


def test_plans_are_for_calls_of_one_kind():
    """A call like one before is not checked again; one that differs in anything is."""
    x, masks = torch.ones(1, 4, 3, 3), torch.ones(1, 9, 6, 6)
    for _ in range(3):
        assert mt.carafe(x, masks, 3, 1, 2).sum() > 0
    with pytest.raises(mluops.BadParamError, match="kernel_size"):
        mt.carafe(x, masks, 4, 1, 2)
    with pytest.raises(TypeError, match="kernel_size: wanted an integer"):
        mt.carafe(x, masks, 3.0, 1, 2)
    with pytest.raises(mluops.BadParamError, match="masks"):
        mt.carafe(x, masks[..., :5], 3, 1, 2)
    with pytest.raises(mluops.BadParamError, match="one dtype"):
        carafe_operator.forward(x, masks.double(), 3, 1, 2)
    wide = torch.stack([x, x], -1)[..., 0]
    assert torch.equal(mt.carafe(wide, masks, 3, 1, 2), mt.carafe(x, masks, 3, 1, 2))


def test_a_plan_tells_two_inputs_apart_that_were_one():
    one, other = torch.rand(2, 2, 9, 5, 5, generator=torch.Generator().manual_seed(3))
    wanted = mt.carafe(one, other, 3, 1, 1)
    plans = torch_door.context().plans
    plans.clear()
    mt.carafe(one, one, 3, 1, 1)
    assert len(plans) == 1 and all(plans.values())
    assert torch.equal(mt.carafe(one, other, 3, 1, 1), wanted)


def test_a_plan_copies_what_is_not_dense():
    wide, other = torch.rand(2, 6, 7, generator=torch.Generator().manual_seed(4)), torch.rand(4, 5)
    torch_door.context().plans.clear()
    for each in wide:
        for boxes in (each[:, :5], each[:, 2:]):
            assert torch.equal(mt.box_iou_rotated(boxes, other), mt.box_iou_rotated(boxes.contiguous(), other))
    assert len(torch_door.context().plans) == 2 and all(torch_door.context().plans.values())


@pytest.mark.parametrize("loss", [mt.sigmoid_focal_loss, mt.softmax_focal_loss])
def test_a_plan_has_steps_in_torch(loss):
    """The softmax before the C call, the product with the given gradient behind that of the gradient."""
    target = torch.tensor([0, 3, 1])
    torch_door.context().plans.clear()
    for logits in torch.rand(3, 3, 4, generator=torch.Generator().manual_seed(5)):
        once, twice = (logits.clone().requires_grad_() for _ in range(2))
        value = loss(once, target)
        value.backward()
        (2 * loss(twice, target)).backward()
        p = logits.sigmoid() if loss is mt.sigmoid_focal_loss else logits.softmax(1)
        hit = torch.nn.functional.one_hot(target, 4).bool()
        wanted = torch.where(hit, -0.25 * (1 - p) ** 2 * p.log(), 0)
        if loss is mt.sigmoid_focal_loss:
            wanted = torch.where(hit, wanted, -0.75 * p ** 2 * (1 - p).log())
        assert torch.allclose(value, wanted.sum() / 3) and torch.allclose(twice.grad, 2 * once.grad)
    assert len(torch_door.context().plans) == 2 and all(torch_door.context().plans.values())


# Operators of several C calls, or of one on parts of their tensors.
WITHOUT_PLANS = {"get_indice_pairs", "indice_conv", "indice_maxpool", "prior_box", "stack_ball_query",
                 "stack_group_points", "stack_three_nn"}
SMALLEST = smallest_calls()


@pytest.mark.parametrize("name", SMALLEST)
def test_operators_of_one_call_have_plans(name):
    plans = torch_door.context().plans
    plans.clear()
    SMALLEST[name](lambda *shape: torch.ones(shape), lambda *shape: torch.zeros(shape, dtype=torch.int32))
    made = [plan for plan in plans.values() if plan is not None]
    assert (not made) == (name in WITHOUT_PLANS)


def test_plans_used_long_ago_are_dropped():
    context = torch_door.context()
    for size in range(1, 2200):
        mt.carafe(torch.ones(1, 1, 1, size), torch.ones(1, 1, 1, size), 1, 1, 1)
        assert len(torch_door.context().plans) <= 2 * _MOST_KEPT and torch_door.context() is context
    for size in (1, 1000, 1, 1000):
        assert mt.carafe(torch.ones(1, 1, 1, size), torch.ones(1, 1, 1, size), 1, 1, 1).sum() == size


@every_case
def test_not_contiguous_inputs(case):
    dense = case.inputs(torch.float32)
    # every second element of a tensor twice as long, in the last dimension
    strided = [t if t is None else torch.stack([t, torch.zeros_like(t)], -1)[..., 0] for t in dense]
    assert any(t is not None and not t.is_contiguous() for t in strided)
    assert torch.equal(case.run(strided), case.run(dense))


@every_case
def test_requires_grad_false(case):
    output = case.run(case.inputs(torch.float32))
    assert not output.requires_grad
    with torch.no_grad():
        assert not case.run(case.inputs(torch.float32, requires_grad=True)).requires_grad


@every_case
def test_one_leaf_at_a_time(case):
    whole = case.inputs(torch.float32, requires_grad=True)
    case.run(whole).sum().backward()
    for i in case.leaves:
        tensors = case.inputs(torch.float32)
        if tensors[i] is None:
            continue
        tensors[i].requires_grad_()
        case.run(tensors).sum().backward()
        assert torch.allclose(tensors[i].grad, whole[i].grad, atol=1e-6)


def test_mixed_dtypes_promote():
    x, masks = CASES[0].inputs(torch.float16)[0].requires_grad_(), CASES[0].inputs(torch.float32)[1].requires_grad_()
    y = mt.carafe(x, masks, *CASES[0].arguments)
    assert y.dtype == torch.float32
    assert torch.equal(y, mt.carafe(x.float(), masks, *CASES[0].arguments))
    y.sum().backward()
    assert x.grad.dtype == torch.float16 and masks.grad.dtype == torch.float32

    pool = CASES[5]
    features, rois, offset = pool.inputs(torch.float32)
    y = mt.deform_roi_pool(features.half(), rois, offset.half(), *pool.arguments)
    assert y.dtype == torch.float32
    assert mt.deform_roi_pool(features.bfloat16(), rois.half(), None, *pool.arguments).dtype == torch.float32

    f, i, w = CASES[7].inputs(torch.float32)
    assert mt.three_interpolate(f.bfloat16(), i, w).dtype == torch.float32
    assert torch.equal(mt.three_interpolate(f, i.long(), w), mt.three_interpolate(f, i, w))
    image, boxes = next(c for c in CASES if c.name == "border_align").inputs(torch.float32)
    assert mt.border_align(image.half(), boxes, 3).dtype == torch.float32


@pytest.mark.skipif(not hasattr(torch, "autocast"), reason="this torch has no CPU autocast")
def test_autocast_bfloat16():
    torch.manual_seed(0)
    layer = mt.CARAFEPack(8, 2, compressed_channels=4)
    x = torch.randn(1, 8, 6, 5, requires_grad=True)
    wanted = layer(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = layer(x)
    assert (y.float() - wanted).abs().max() < 0.05
    y.float().sum().backward()
    assert x.grad.dtype == torch.float32 and torch.isfinite(x.grad).all()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        features = torch.nn.functional.conv2d(x, torch.randn(8, 8, 1, 1))
        assert features.dtype == torch.bfloat16
        pooled = mt.deform_roi_pool(features, torch.tensor([[0, 0, 0, 4, 4.]]), None, 2)
        assert pooled.dtype == torch.float32  # widest of bfloat16 features and float32 RoIs


def test_empty_inputs():
    x = torch.zeros(0, 4, 3, 3, requires_grad=True)
    y = mt.carafe(x, torch.zeros(0, 9, 6, 6), 3, 1, 2)
    assert y.shape == (0, 4, 6, 6)
    y.sum().backward()
    assert x.grad.shape == x.shape

    x = torch.ones(2, 4, 3, 3, requires_grad=True)
    y = mt.deform_roi_pool(x, torch.zeros(0, 5), None, 2)
    assert y.shape == (0, 4, 2, 2)
    y.sum().backward()
    assert torch.equal(x.grad, torch.zeros_like(x))

    assert mt.border_align(torch.ones(2, 8, 3, 3), torch.zeros(2, 0, 4), 2).shape == (2, 2, 0, 4)
    assert mt.psa_mask(torch.ones(0, 9, 3, 3), 0, 3).shape == (0, 9, 3, 3)
    assert mt.three_interpolate(torch.ones(2, 4, 5), torch.zeros(2, 0, 3, dtype=torch.int32),
                                torch.ones(2, 0, 3)).shape == (2, 4, 0)
    nothing = mt.three_interpolate(torch.ones(2, 4, 0), torch.zeros(2, 6, 3, dtype=torch.int32), torch.ones(2, 6, 3))
    assert torch.equal(nothing, torch.zeros(2, 4, 6))
    with pytest.raises(RuntimeError, match="features: wanted 4 dimensions"):
        mt.carafe(torch.ones(4, 3, 3), torch.ones(1, 9, 6, 6), 3, 1, 2)


def test_errors_are_the_library_s():
    with pytest.raises(mluops.BadParamError, match="mask"):
        mt.carafe(torch.ones(1, 4, 3, 3), torch.ones(1, 8, 6, 6), 3, 1, 2)
    with pytest.raises(mluops.BadParamError, match="rois"):
        mt.deform_roi_pool(torch.ones(1, 4, 3, 3), torch.tensor([[1., 0, 0, 2, 2]]), None, 2)
    with pytest.raises(TypeError, match="int64"):
        mt.psa_mask(torch.ones(1, 9, 3, 3, dtype=torch.long), 0, 3)


@every_case
def test_no_gradient_of_a_gradient(case):
    tensors = case.inputs(torch.float32, requires_grad=True)
    leaf = next(tensors[i] for i in case.leaves if tensors[i] is not None)
    grad, = torch.autograd.grad(case.run(tensors).square().sum(), leaf, create_graph=True)
    with pytest.raises(RuntimeError, match="double backward is not supported"):
        grad.sum().backward()


def test_border_grad_offset_is_the_documented_one():
    """In the border bands grad_offset uses unclamped coordinates: nonzero where the function is constant."""
    image = torch.arange(16.).reshape(1, 1, 4, 4).requires_grad_()
    offset = torch.zeros(1, 2, 1, 1, requires_grad=True)
    # one sample at y = -0.5, x = 1.5
    roi = torch.tensor([[0, 1.5, -0.5, 2.5, 0.5]])
    y = mt.deform_roi_pool(image, roi, offset, 1, 1.0, 1, 1.0)
    assert y.item() == 1.5
    y.sum().backward()
    gx, gy = offset.grad.reshape(-1).tolist()
    assert gx == pytest.approx(1.0) and gy == pytest.approx(4.0)


@pytest.mark.parametrize("name", ["carafe", "deform_roi_pool offset", "three_interpolate", "border_align"])
def test_deterministic_flag_selects_the_strategy(name):
    from mluops._context import ATOMICS_ALLOWED, ATOMICS_NOT_ALLOWED
    case = next(c for c in CASES if c.name == name)

    def gradients():
        tensors = case.inputs(torch.float32, requires_grad=True)
        case.run(tensors).sum().backward()
        return [tensors[i].grad for i in case.leaves]

    gradients()
    assert torch_door.context().atomics == ATOMICS_ALLOWED
    torch.use_deterministic_algorithms(True)
    try:
        first, second = gradients(), gradients()
        assert torch_door.context().atomics == ATOMICS_NOT_ALLOWED
    finally:
        torch.use_deterministic_algorithms(False)
    assert all(torch.equal(a, b) for a, b in zip(first, second))


def test_gradients_are_the_same_bits_for_every_thread_count():
    torch.manual_seed(3)
    x, masks = torch.randn(1, 16, 24, 24), torch.rand(1, 25, 48, 48)
    threads, found = torch.get_num_threads(), []
    torch.use_deterministic_algorithms(True)
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            leaf = x.clone().requires_grad_()
            mt.carafe(leaf, masks, 5, 1, 2).square().sum().backward()
            found.append(leaf.grad)
    finally:
        torch.use_deterministic_algorithms(False)
        torch.set_num_threads(threads)
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])


def test_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for case in CASES:
            tensors = case.inputs(torch.float32, requires_grad=True)
            case.run(tensors).sum().backward()


def test_large_results():
    """Results large enough for huge pages are complete."""
    x = torch.ones(1, 1, 64, 64)
    y = mt.carafe(x, torch.ones(1, 1, 4096, 4096), 1, 1, 64)
    assert y.shape == (1, 1, 4096, 4096) and y.sum().item() == 4096 * 4096


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@every_case
def test_on_the_emulated_device(case, dtype):
    """The same door leads to the emulator."""
    name = case.name.split()[0]
    if name not in EMULATED or (name in EMULATED_IN_FLOAT and dtype != torch.float32):
        mluops.set_backend("mlu_emu")
        with pytest.raises(mluops.NotSupportedError):
            case.run(case.inputs(dtype))
        return
    mluops.set_backend("mlu_emu")
    tensors = case.inputs(dtype, requires_grad=True)
    output = case.run(tensors)
    assert mluops.last_run_backend("torch") == "mlu_emu"
    wanted, wide = case.expected(tensors)
    assert_near(output, wanted.detach(), dtype, factor=4)
    output.sum().backward()
    wanted.sum().backward()
    for i in case.leaves:
        assert_near(tensors[i].grad, wide[i].grad, dtype, factor=8)
