"""Gradients of many at once (is_grads_batched, jacobian(vectorize=True)) are those one by one."""

import pytest

torch = pytest.importorskip("torch")

from cases import CASES  # noqa: E402
from mluops.torch import _operator  # noqa: E402
from test_shapes import CALLS, leaves  # noqa: E402

pytestmark = pytest.mark.skipif(not _operator.HAS_LIBRARY_API, reason="this torch has no torch.library operators")


@pytest.mark.parametrize("name", CALLS)
def test_batched_gradients(name):
    """Of each operator of the package that has any."""
    torch.manual_seed(0)
    outputs = CALLS[name](3)
    for output in outputs if isinstance(outputs, (tuple, list)) else (outputs,):
        if not output.requires_grad:
            continue
        of, directions = leaves(output), torch.randn(2, 2, *output.shape)
        one_by_one = [[torch.autograd.grad(output, of, each, retain_graph=True, allow_unused=True) for each in row]
                      for row in directions]
        for batch in (directions[0], directions[0, :1]):
            many = torch.autograd.grad(output, of, batch, retain_graph=True, allow_unused=True, is_grads_batched=True)
            for i, found in enumerate(many):
                wanted = [row[i] for row in one_by_one[0][:len(batch)]]
                assert found is None and wanted[0] is None or torch.allclose(found, torch.stack(wanted), atol=1e-6)


@pytest.mark.parametrize("case", [case for case in CASES if case.name in (
    "carafe", "deform_roi_pool offset", "prroi_pool", "roi_pool", "softmax_focal_loss")], ids=repr)
@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_jacobian_at_once(case, strategy):
    tensors, leaf = case.inputs(torch.float64), case.leaves[0]

    def some(value):
        return case.run([value if i == leaf else t for i, t in enumerate(tensors)]).flatten()[:7]

    of = tensors[leaf].clone()
    wanted = torch.autograd.functional.jacobian(some, of)
    if strategy == "reverse-mode":
        assert torch.equal(torch.autograd.functional.jacobian(some, of, vectorize=True), wanted)
    else:
        small = of.flatten()[:5].clone()

        def of_few(few):
            return some(torch.cat([few, of.flatten()[5:]]).reshape(of.shape))

        found = torch.autograd.functional.jacobian(of_few, small, vectorize=True, strategy="forward-mode")
        assert torch.allclose(found, wanted.reshape(len(wanted), -1)[:, :5], atol=1e-10)


def test_gradcheck_of_batched_gradients():
    for case in CASES:
        if case.name in ("psa_mask collect", "three_interpolate", "gather_points"):
            tensors = case.inputs(torch.float64, requires_grad=True)
            assert torch.autograd.gradcheck(lambda *given, case=case: case.run(given), tensors, check_batched_grad=True,
                                            check_forward_ad=True, check_batched_forward_grad=True)


@pytest.mark.parametrize("name", CALLS)
def test_no_zeros_for_outputs_without_gradients(name):
    """Gradients of argmax and counts would be zeros as large as they are."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Zeros(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.made = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if func._schema.name in ("aten::zeros", "aten::new_zeros", "aten::zeros_like", "aten::_efficientzerotensor"):
                self.made.append((result.dtype, tuple(result.shape)))
            return result

    torch.manual_seed(0)
    outputs = CALLS[name](3)
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    wanted = [output for output in outputs if output.requires_grad]
    if not wanted:
        pytest.skip("no output has a gradient")
    with Zeros() as zeros:
        torch.autograd.grad(wanted[0].sum(), leaves(wanted[0]), allow_unused=True)
    assert not [made for made in zeros.made if not made[0].is_floating_point]
