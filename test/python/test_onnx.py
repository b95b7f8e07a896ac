"""torch.onnx.export to standard operators, run by onnxruntime; and what TorchScript says."""

import pytest

torch = pytest.importorskip("torch")

import mluops.torch as mt  # noqa: E402
from cases import CASES, TOLERANCE  # noqa: E402
from mluops.torch import _operator  # noqa: E402

EXPORTED = ("carafe", "psa_mask", "three_interpolate", "border_align", "deform_roi_pool")
ADAPTIVE = "deform_roi_pool adaptive"
cases = [case for case in CASES if case.name.split()[0] in EXPORTED and case.name != ADAPTIVE]
calls = [(case, torch.float32) for case in cases] + [(cases[0], torch.float16)]


class Call(torch.nn.Module):
    """A case as a module of the tensors it has."""

    def __init__(self, case):
        super().__init__()
        self.eval()
        self.case, self.present = case, [tensor is not None for tensor in case.tensors]

    def forward(self, *tensors):
        rest = iter(tensors)
        return self.case.run([next(rest) if present else None for present in self.present])


def composed():
    """mluops.torch.onnx."""
    if not _operator.HAS_LIBRARY_API:
        pytest.skip("this torch has no torch.library operators to export")
    import mluops.torch.onnx
    return mluops.torch.onnx


def exported(module, inputs):
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name)
    composed()
    return torch.onnx.export(module, inputs, dynamo=True, verbose=False)


def run(program, inputs):
    import onnxruntime
    session = onnxruntime.InferenceSession(program.model_proto.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    return torch.from_numpy(session.run(None, dict(zip(names, (i.numpy() for i in inputs))))[0])


@pytest.mark.parametrize("case, dtype", calls, ids=str)
def test_the_exported_graph_gives_the_operator(case, dtype):
    inputs = tuple(tensor for tensor in case.inputs(dtype) if tensor is not None)
    module = Call(case)
    program = exported(module, inputs)
    assert all(node.domain in ("", "pkg.onnxscript.torch_lib.common") for node in program.model_proto.graph.node)
    got, wanted = run(program, inputs), module(*inputs)
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    if case.name.startswith("psa_mask"):
        assert torch.equal(got, wanted)
    else:
        assert torch.allclose(got, wanted, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("case", [case for case in CASES if case.name.split()[0] in EXPORTED], ids=repr)
def test_others_do_not_see_what_they_are_made_of(case, channels_last):
    """Graphs of symbolic shapes take the operator's own shapes and strides, and so compile what cannot be exported."""
    composed()
    torch._dynamo.reset()
    present = [tensor for tensor in case.inputs(torch.float32, channels_last=channels_last) if tensor is not None]
    graphs = []

    def keep(graph, inputs):
        graphs.append(graph)
        return graph.forward

    found = torch.compile(Call(case), dynamic=True, fullgraph=True, backend=keep)(*present)
    wanted = Call(case)(*present)
    assert torch.equal(found, wanted) and found.stride() == wanted.stride()
    fakes = [node.meta["example_value"] for node in graphs[0].graph.nodes
             if str(node.target) == f"mluops.{case.name.split()[0]}.default"]
    first, real = (each[0] if isinstance(each, tuple) else each for each in (fakes[0], wanted))
    assert tuple(map(int, first.stride())) == real.stride()


def test_samples_beyond_the_map_are_those_of_the_operator():
    onnx = composed()
    torch.manual_seed(1)
    image, boxes = torch.rand(2, 8, 9, 11), torch.rand(2, 40, 4) * 24 - 6
    value, winner = onnx._border_align(image, boxes, 5)
    wanted, wanted_winner = torch.ops.mluops.border_align(image, boxes, 5)
    assert torch.allclose(value, wanted, atol=1e-5) and (winner == wanted_winner).float().mean() > 0.99
    rois = torch.cat([torch.randint(0, 2, (60, 1)).float(), torch.rand(60, 4) * 60 - 15], 1)
    numbers = (3, 2, 0.5, 2, 0.1)
    for offset in (None, torch.rand(60, 2, 3, 2) * 4 - 2):
        assert torch.allclose(onnx._deform_roi_pool(image, rois, offset, *numbers),
                              torch.ops.mluops.deform_roi_pool(image, rois, offset, *numbers), atol=1e-5)


def test_a_network_exports():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), mt.CARAFEPack(8, 2)).eval()
    inputs = (torch.randn(1, 3, 9, 8),)
    with torch.no_grad():
        assert torch.allclose(run(exported(net, inputs), inputs), net(*inputs), atol=1e-5)


def test_what_cannot_be_exported_says_so():
    case = next(case for case in CASES if case.name == ADAPTIVE)
    inputs = tuple(tensor for tensor in case.inputs(torch.float32) if tensor is not None)
    with pytest.raises(Exception) as raised:
        exported(Call(case), inputs)
    texts, error = [], raised.value
    while error is not None:
        texts.append(str(error))
        error = error.__cause__
    assert any("sampling_ratio <= 0 has no ONNX form" in text for text in texts)


def test_tracing_works_and_scripting_says_why_not():
    module, x = mt.CARAFEPack(8, 2), torch.randn(1, 8, 5, 6)
    if _operator.HAS_LIBRARY_API:
        assert torch.allclose(torch.jit.trace(module, x)(x), module(x))
    else:
        with pytest.raises(NotImplementedError, match="needs torch 2.4"):
            torch.jit.trace(module, x)
    for value in (module, mt.carafe, torch.nn.Sequential(module)):
        with pytest.raises(RuntimeError, match="torch.jit.trace"):
            torch.jit.script(value)
