"""Forward-mode differentiation and the transforms of torch.func."""

import pytest

torch = pytest.importorskip("torch")

import mluops.torch as mt  # noqa: E402
from cases import CASES, interior_rois  # noqa: E402
from mluops.torch import _operator  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402

every_case = pytest.mark.parametrize("case", CASES, ids=repr)
# An old torch wants tangents of every result: operators with an argmax or a softmax refuse there. The reference of
# deformable attention samples a grid, whose gradient it cannot differentiate.
NOT_ON_OLD_TORCH = ("border_align", "roi_align", "roi_pool", "softmax_focal_loss", "multi_scale_deformable_attn")
forward_cases = pytest.mark.parametrize(
    "case", [c for c in CASES if _operator.HAS_LIBRARY_API or c.name.split()[0] not in NOT_ON_OLD_TORCH], ids=repr)
needs_transforms = pytest.mark.skipif(not _operator.HAS_LIBRARY_API or not hasattr(torch, "func"),
                                      reason="this torch has no torch.func, or no torch.library operators")


def tangents_of(case, tensors):
    torch.manual_seed(1)
    return [torch.rand_like(t) - 0.5 if i in case.leaves and t is not None else None for i, t in enumerate(tensors)]


def along(case, tensors, tangents):
    """The reference's directional derivative: two uses of reverse mode."""
    _, wide = case.expected(tensors)
    leaves = [i for i, t in enumerate(tangents) if t is not None]
    for i in leaves:
        wide[i].requires_grad_()
    output = case.reference(*wide, *case.arguments)
    dual = torch.ones_like(output, requires_grad=True)
    grads = torch.autograd.grad(output, [wide[i] for i in leaves], dual, create_graph=True)
    try:
        return torch.autograd.grad(sum((g * tangents[i]).sum() for g, i in zip(grads, leaves)), dual)[0]
    except RuntimeError as error:
        if "is not implemented" not in str(error):
            raise
        pytest.skip(f"this torch cannot differentiate the reference twice: {error}")


@forward_cases
def test_forward_mode(case):
    tensors = case.inputs(torch.float64)
    tangents = tangents_of(case, tensors)
    with forward_ad.dual_level():
        duals = [t if d is None else forward_ad.make_dual(t, d) for t, d in zip(tensors, tangents)]
        value, tangent = forward_ad.unpack_dual(case.run(duals))
    assert torch.equal(value, case.run(tensors))
    assert tangent is not None and torch.allclose(tangent, along(case, tensors, tangents), atol=1e-9)


@forward_cases
def test_forward_mode_of_one_tensor(case):
    tensors = case.inputs(torch.float64)
    whole = tangents_of(case, tensors)
    for i in case.leaves:
        if tensors[i] is None:
            continue
        tangents = [t if j == i else None for j, t in enumerate(whole)]
        with forward_ad.dual_level():
            duals = [t if d is None else forward_ad.make_dual(t, d) for t, d in zip(tensors, tangents)]
            tangent = forward_ad.unpack_dual(case.run(duals)).tangent
        assert torch.allclose(tangent, along(case, tensors, tangents), atol=1e-9)


def test_forward_mode_of_half_tensors():
    """A half cannot count the images the derivative along offset makes of channels."""
    x, rois = torch.rand(3, 1500, 6, 6, dtype=torch.float16), interior_rois(2, 3, 6, 6, 1.0).half()
    offset, direction = torch.zeros(2, 2, 1, 1).half(), torch.ones(2, 2, 1, 1).half()
    with forward_ad.dual_level():
        half = forward_ad.unpack_dual(mt.deform_roi_pool(x, rois, forward_ad.make_dual(offset, direction), 1)).tangent
        wide = forward_ad.unpack_dual(mt.deform_roi_pool(
            x.double(), rois.double(), forward_ad.make_dual(offset.double(), direction.double()), 1)).tangent
    assert half.dtype == torch.float16 and torch.allclose(half.double(), wide, atol=2e-3)


@pytest.mark.parametrize("name", ["deform_roi_pool", "border_align"])
def test_what_has_no_forward_mode_says_so(name):
    case = next(c for c in CASES if c.name == name)
    tensors = case.inputs(torch.float64)
    with forward_ad.dual_level():
        tensors[1] = forward_ad.make_dual(tensors[1], torch.ones_like(tensors[1]))
        with pytest.raises(RuntimeError, match=f"{name} has no forward-mode derivative"):
            case.run(tensors)


@pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")
def test_the_operator_itself_loses_no_tangent():
    case = CASES[0]
    x, m = case.inputs(torch.float64)
    with forward_ad.dual_level():
        with pytest.raises(RuntimeError, match="the function in mluops.torch has"):
            torch.ops.mluops.carafe(forward_ad.make_dual(x, torch.ones_like(x)), m, *case.arguments)


@needs_transforms
@every_case
def test_func_jvp(case):
    tensors = case.inputs(torch.float64)
    tangents = tangents_of(case, tensors)
    leaves = [i for i, t in enumerate(tangents) if t is not None]

    def function(*given):
        own = list(tensors)
        for i, value in zip(leaves, given):
            own[i] = value
        return case.run(own)

    value, tangent = torch.func.jvp(function, tuple(tensors[i] for i in leaves), tuple(tangents[i] for i in leaves))
    assert torch.equal(value, case.run(tensors))
    assert torch.allclose(tangent, along(case, tensors, tangents), atol=1e-9)


@needs_transforms
@every_case
def test_func_grad(case):
    tensors, leaf = case.inputs(torch.float64), case.leaves[0]

    def total(value):
        return case.run([value if i == leaf else t for i, t in enumerate(tensors)]).square().sum()

    found = torch.func.grad(total)(tensors[leaf])
    eager = tensors[leaf].clone().requires_grad_()
    total(eager).backward()
    assert torch.equal(found, eager.grad)


@needs_transforms
@every_case
def test_vmap(case):
    """Over a new first dimension of one tensor, and over all floating tensors at once."""
    tensors = case.inputs(torch.float64)
    several = [None if t is None else torch.stack([t, t]) for t in tensors]
    for i in case.leaves:
        if several[i] is not None:
            several[i] = torch.stack([tensors[i], tensors[i] * 0.5])
    each = [case.run([None if t is None else t[k] for t in several]) for k in range(2)]
    dims = tuple(None if t is None else 0 for t in tensors)
    mapped = torch.vmap(lambda *given: case.run(given), in_dims=dims)(*several)
    assert torch.equal(mapped, torch.stack(each))
    first = case.leaves[0]
    one = torch.vmap(lambda v: case.run([v if i == first else t for i, t in enumerate(tensors)]))(several[first])
    assert torch.allclose(one[0], each[0])


@needs_transforms
def test_per_sample_gradients():
    """vmap of grad: the use for which people want both."""
    case = CASES[0]
    x, m = case.inputs(torch.float64)
    samples = torch.stack([x, 2 * x, 3 * x])
    grads = torch.vmap(torch.func.grad(lambda v: mt.carafe(v, m, *case.arguments).square().sum()))(samples)
    for sample, grad in zip(samples, grads):
        leaf = sample.clone().requires_grad_()
        mt.carafe(leaf, m, *case.arguments).square().sum().backward()
        assert torch.allclose(grad, leaf.grad)


@needs_transforms
def test_what_the_transforms_cannot_do_is_said_in_our_words():
    case = CASES[0]
    x, m = case.inputs(torch.float64)

    def total(v):
        return mt.carafe(v, m, *case.arguments).square().sum()

    with pytest.raises(RuntimeError, match="mluops: double backward is not supported"):
        torch.func.grad(lambda v: torch.func.grad(total)(v).square().sum())(x)
    with pytest.raises(RuntimeError, match="mluops: double backward is not supported"):
        torch.func.jvp(torch.func.grad(total), (x,), (x,))
    with pytest.raises(ValueError, match="vmap over a dimension of size 0"):
        torch.vmap(total)(x[None][:0])
