"""Tensors that are not on the CPU: operators run there and results and gradients come back to the inputs' device.

The device is torch's PrivateUse1 written in Python, whose memory is a CPU tensor; fake tensors stand for mps, xpu and cuda.
"""

import os
import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")
try:
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend  # noqa: F401
except ImportError:
    pytest.skip("this torch has no PrivateUse1 devices written in Python", allow_module_level=True)

DEVICE = '''
import torch, warnings
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend
_setup_privateuseone_for_python_backend("elsewhere")

class Elsewhere(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, memory):
        made = torch._C._acc.create_empty_tensor(memory.shape, memory.dtype)
        made.__class__ = cls
        return made

    def __init__(self, memory):
        self.memory = memory

@torch.library.impl("aten::empty.memory_format", "PrivateUse1")
def empty(size, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    return Elsewhere(torch.empty(size, dtype=dtype))

@torch.library.impl("aten::empty_strided", "PrivateUse1")
def empty_strided(size, stride, dtype=None, layout=None, device=None, pin_memory=None):
    return Elsewhere(torch.empty(size, dtype=dtype))

@torch.library.impl("aten::_copy_from", "PrivateUse1")
def copy_from(source, target, non_blocking=False):
    memory = [t.memory if isinstance(t, Elsewhere) else t for t in (source, target)]
    memory[1].copy_(memory[0])
    return target

@torch.library.impl("aten::detach", "PrivateUse1")
def detach(tensor):
    return Elsewhere(tensor.memory)

@torch.library.impl("aten::as_strided", "PrivateUse1")
def as_strided(tensor, size, stride, offset=None):
    return Elsewhere(tensor.memory.contiguous().as_strided(size, stride, offset or 0))

def there(tensor):
    return Elsewhere(tensor.detach().clone()).requires_grad_(tensor.requires_grad)

import mluops, mluops.torch as mt
torch.manual_seed(0)
image, rois = torch.randn(2, 5, 8, 8), torch.tensor([[0.0, 1, 1, 6, 6], [1, 0, 0, 7, 3]])
'''


def runs(program, **environment):
    result = subprocess.run([sys.executable, "-c", DEVICE + textwrap.dedent(program)], capture_output=True, text=True, timeout=300,
                            env={**os.environ, **environment})
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def test_results_and_gradients_come_back_to_their_devices():
    runs("""
        expected_image = image.clone().requires_grad_()
        expected = mt.roi_align(expected_image, rois, (3, 3), 1.0)
        grad = torch.randn_like(expected)
        expected.backward(grad)

        features = there(image.clone().requires_grad_())
        result = mt.roi_align(features, rois, (3, 3), 1.0)     # the boxes lie on the CPU
        assert result.device.type == "elsewhere", result.device
        assert torch.equal(result.cpu().detach(), expected.detach())
        found, = torch.autograd.grad(result, features, there(grad))
        assert found.device.type == "elsewhere"
        assert torch.equal(found.cpu(), expected_image.grad)

        both = mt.roi_align(there(image), there(rois), (3, 3), 1.0)
        assert torch.equal(both.cpu(), expected.detach())
        with torch.no_grad():
            kept = mt.knn(2, there(torch.rand(1, 9, 3)))
        assert kept.device.type == "elsewhere" and kept.dtype == torch.int32
        assert torch.ops.mluops.roi_align(there(image), there(rois), 3, 3, 1.0, 0, 1, True)[0].device.type == "elsewhere"
    """)


def test_mixed_gradients():
    runs("""
        features, weights = torch.randn(1, 4, 10), torch.rand(1, 6, 3)
        indices = torch.randint(0, 10, (1, 6, 3), dtype=torch.int32)
        ours = [t.clone().requires_grad_() for t in (features, weights)]
        mt.three_interpolate(ours[0], indices, ours[1]).backward(torch.ones(1, 4, 6))
        mixed = [there(features.clone().requires_grad_()), weights.clone().requires_grad_()]
        found = torch.autograd.grad(mt.three_interpolate(mixed[0], indices, mixed[1]), mixed, there(torch.ones(1, 4, 6)))
        assert [grad.device.type for grad in found] == ["elsewhere", "cpu"]
        for own, other in zip(ours, found):
            assert torch.equal(own.grad, other.cpu())
    """)


def test_each_operator_warns_once_and_can_be_silenced():
    program = """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                mt.roi_align(there(image), there(rois), (3, 3), 1.0)
                mt.knn(2, there(torch.rand(1, 9, 3)))
        print(sorted(str(w.message).split()[1] for w in caught if "runs on the CPU" in str(w.message)))
    """
    assert "['knn', 'roi_align']" in runs(program).stdout
    assert "[]" in runs(program, MLUOPS_FALLBACK_WARNING="0").stdout
    assert "[]" in runs("mt.cpu_fallback(warn=False)\n" + textwrap.dedent(program)).stdout


def test_kinds_of_device():
    runs("""
        from torch._subclasses import FakeTensorMode
        with torch.no_grad(), FakeTensorMode():
            for kind in ("mps", "xpu"):
                result = mt.roi_align(torch.empty(1, 3, 8, 8, device=kind), torch.empty(2, 5, device=kind), (2, 2), 1.0)
                assert result.device.type == kind and result.shape == (2, 3, 2, 2)
            arguments = torch.empty(1, 3, 8, 8, device="cuda"), torch.empty(2, 5, device="cuda"), (2, 2), 1.0
            try:
                mt.roi_align(*arguments)
                raise SystemExit("cuda was served without being asked")
            except NotImplementedError as error:
                assert "cpu_fallback(cuda=True)" in str(error) and "roi_align" in str(error), error
            mt.cpu_fallback(cuda=True)
            assert mt.roi_align(*arguments).device.type == "cuda"
    """)


def test_graphs_have_the_copies():
    """torch.export: to the CPU, the operator, and back; the boxes are on the CPU already."""
    runs("""
        from torch._subclasses import FakeTensorMode

        class Program(torch.nn.Module):
            def forward(self, x, boxes):
                return mt.roi_align(x, boxes, (2, 2), 1.0)

        with FakeTensorMode(allow_non_fake_inputs=True):
            arguments = torch.empty(1, 3, 8, 8, device="xpu"), torch.empty(2, 5)
            graph = torch.export.export(Program(), arguments, strict=False).graph
        nodes = [node for node in graph.nodes if node.op == "call_function"]
        places = [node.meta["val"].device.type if isinstance(node.meta["val"], torch.Tensor) else None for node in nodes]
        at = next(i for i, node in enumerate(nodes) if "mluops.roi_align" in str(node.target))
        assert places[at - 1] == "cpu", list(zip(nodes, places))
        assert places[-1] == "xpu", list(zip(nodes, places))
    """)


def test_without_gradients_nothing_is_kept():
    runs("""
        features = there(image.clone().requires_grad_())
        with torch.no_grad():
            result = mt.roi_align(features, rois, (3, 3), 1.0)
        assert not result.requires_grad and result.device.type == "elsewhere"
        with torch.inference_mode():
            assert torch.equal(mt.roi_align(there(image), rois, (3, 3), 1.0).cpu(), result.cpu())
    """)


def test_autocast_does_not_change_the_dtype():
    runs("""
        torch.elsewhere.get_amp_supported_dtype = lambda: [torch.float16]
        others = torch.library.Library("_", "IMPL", "AutocastPrivateUse1")
        others.fallback(torch.library.fallthrough_kernel)  # no operator of the device has a rule for autocast
        plain = mt.roi_align(there(image), there(rois), (3, 3), 1.0)
        with torch.autocast("elsewhere", dtype=torch.float16):
            result = mt.roi_align(there(image), there(rois), (3, 3), 1.0)
        assert result.dtype == torch.float32 and torch.equal(result.cpu(), plain.cpu())
    """)
