"""Programs of torch.onnx.export, sessions of onnxruntime, and boxes for them."""

import pytest
import torch

from mluops.torch import _operator


def composed():
    """mluops.torch.onnx."""
    if not _operator.HAS_LIBRARY_API:
        pytest.skip("this torch has no torch.library operators to export")
    import mluops.torch.onnx
    return mluops.torch.onnx


def named():
    """mluops.torch.onnx, of a torch that can name nodes."""
    onnx = composed()
    if not hasattr(torch.onnx, "ops"):
        pytest.skip("this torch cannot name nodes of a graph")
    return onnx


def _packages():
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name)


def exported(module, inputs, **options):
    _packages()
    composed()
    return torch.onnx.export(module, inputs, dynamo=True, verbose=False, **options)


def learning_sizes(module, inputs, **options):
    """The exported program, of any number of boxes."""
    _packages()
    named()
    number = torch.export.Dim("number", min=2)
    return torch.onnx.export(module.eval(), inputs, dynamo=True, verbose=False,
                             dynamic_shapes=tuple({0: number} for _ in inputs), **options)


def nodes_of(program):
    return [f"{node.domain}::{node.op_type}" for node in program.model_proto.graph.node]


def session_of(model):
    """With our operators, which graphs of standard ones do not look at."""
    import mluops.onnxruntime
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # an error is an exception here
    options.register_custom_ops_library(mluops.onnxruntime.library())
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def plain_session(program):
    """Without our operators."""
    import onnxruntime
    assert all(node.domain in ("", "pkg.onnxscript.torch_lib.common") for node in program.model_proto.graph.node)
    return onnxruntime.InferenceSession(program.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])


def results(session, inputs):
    names = [value.name for value in session.get_inputs()]
    return [torch.from_numpy(each) for each in session.run(None, dict(zip(names, (i.numpy() for i in inputs))))]


def run(program, inputs):
    return results(session_of(program.model_proto), inputs)[0]


def node(name, inputs, outputs=("y",), domain="mmdeploy", kinds=("FLOAT",), **attributes):
    """A session of one node. `inputs`: types by name; kinds: the outputs' types."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, types = onnx.helper, onnx.TensorProto
    info = [helper.make_tensor_value_info(key, getattr(types, kind), None) for key, kind in inputs.items()]
    ends = [helper.make_tensor_value_info(key, getattr(types, kind), None) for key, kind in zip(outputs, kinds)]
    graph = helper.make_graph([helper.make_node(name, list(inputs), outputs, domain=domain, **attributes)], "g", info,
                              ends)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    return session_of(helper.make_model(graph, opset_imports=versions, ir_version=9))


def reasons(error):
    return "" if error is None else f"{error}\n{reasons(error.__cause__)}"


def close(found, wanted):
    return all(a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, rtol=0, atol=1e-5)
               for a, b in zip(found, wanted))


def plain_boxes(n):
    corner = torch.rand(n, 2) * 20
    return torch.cat([corner, corner + torch.rand(n, 2) * 12], 1)


def turned_boxes(*shape):
    return torch.rand(*shape, 5) * torch.tensor([20, 20, 8, 8, 3.0])


class Of(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.eval()

    def forward(self, *inputs):
        return self.function(*inputs)
