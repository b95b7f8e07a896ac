"""torch.onnx.export to standard and to custom operators, run by onnxruntime; and what TorchScript says."""

import pytest

torch = pytest.importorskip("torch")

import mluops.torch as mt  # noqa: E402
from cases import CASES, TOLERANCE  # noqa: E402
from mluops.torch import _operator  # noqa: E402
from onnx_sessions import Of, composed, exported, named, node, nodes_of, plain_session, reasons, results, run  # noqa: E402

EXPORTED = ("carafe", "psa_mask", "three_interpolate", "border_align", "deform_roi_pool", "gather_points",
            "group_points")
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
    assert "sampling_ratio <= 0 has no ONNX form" in reasons(raised.value)


CUSTOM = {"deform_conv2d": "mmdeploy::MMCVDeformConv2d",
          "modulated_deform_conv2d": "mmdeploy::MMCVModulatedDeformConv2d",
          "multi_scale_deformable_attn": "mmdeploy::MMCVMultiScaleDeformableAttention",
          "roi_align": "::RoiAlign", "roi_align adaptive": "::RoiAlign",
          "roi_align_rotated": "mmdeploy::MMCVRoIAlignRotated", "roi_pool": "mluops::roi_pool"}


@pytest.mark.parametrize("case", [case for case in CASES if case.name in CUSTOM], ids=repr)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
def test_named_nodes_give_the_operator(case, dtype):
    named()
    inputs = tuple(tensor for tensor in case.inputs(dtype) if tensor is not None)
    module = Call(case)
    program = exported(module, inputs)
    assert nodes_of(program).count(CUSTOM[case.name]) == 1
    got, wanted = run(program, inputs), module(*inputs)
    wanted = wanted[0] if isinstance(wanted, tuple) else wanted
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    if CUSTOM[case.name].startswith("::"):
        assert torch.allclose(got, wanted, rtol=0, atol=TOLERANCE[dtype])
    else:
        assert torch.equal(got, wanted)


STANDARD = ("multi_scale_deformable_attn", "deform_conv2d", "modulated_deform_conv2d")


@pytest.mark.parametrize("case", [case for case in CASES if case.name in STANDARD], ids=repr)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
def test_custom_nodes_as_standard_operators(case, dtype):
    inputs = tuple(tensor for tensor in case.inputs(dtype) if tensor is not None)
    module = Call(case)
    program = exported(module, inputs, custom_translation_table=named().standard(), opset_version=19)
    got, wanted = results(plain_session(program), inputs)[0], module(*inputs)
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    assert torch.allclose(got, wanted, rtol=0, atol=TOLERANCE[dtype])


def test_attention_of_any_number_of_queries_and_pixels():
    """Samples outside of the maps, maps that are not in order, heads of one channel."""
    dim = pytest.importorskip("torch.export").Dim
    torch.manual_seed(0)

    def data(batch, queries, shapes):
        sizes = [height * width for height, width in shapes]
        starts = [sum(sizes[level + 1:]) for level in range(len(sizes))]  # the last map first
        return (torch.randn(batch, sum(sizes), 3, 1), torch.tensor(shapes), torch.tensor(starts),
                torch.rand(batch, queries, 3, len(sizes), 4, 2) * 2 - 0.5, torch.rand(batch, queries, 3, len(sizes), 4))

    inputs = data(2, 7, [[5, 4], [3, 2]])
    batch, pixels, queries = (dim(name, min=2) for name in ("batch", "pixels", "queries"))
    sizes = {0: batch, 1: pixels}, {}, {}, {0: batch, 1: queries}, {0: batch, 1: queries}
    program = exported(Of(mt.multi_scale_deformable_attn), inputs, custom_translation_table=named().standard(),
                       dynamic_shapes=(sizes,))
    session = plain_session(program)
    for given in (inputs, data(3, 20, [[2, 9], [1, 1]])):
        assert torch.allclose(results(session, given)[0], mt.multi_scale_deformable_attn(*given), rtol=0, atol=1e-5)


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("pool_mode", ["avg", "max"])
def test_every_roi_align(pool_mode, aligned):
    named()
    torch.manual_seed(0)
    image = torch.randn(2, 3, 12, 14)
    rois = torch.tensor([[0, 1, 1, 20, 22.5], [1, 3, 2, 9, 3], [1, 4, 4, 4, 4], [0, -9, -9, 60, 60]])

    class Pool(torch.nn.Module):
        def forward(self, image, rois):
            return mt.roi_align(image, rois, (3, 4), 0.5, 2, pool_mode, aligned)

    program = exported(Pool().eval(), (image, rois))
    assert ("mmcv::MMCVRoiAlign" in nodes_of(program)) == (pool_mode == "max")
    assert torch.allclose(run(program, (image, rois)), Pool()(image, rois), atol=1e-5)


@pytest.mark.parametrize("attribute, wanted", [
    ({"iou_threshold": 1}, "iou_threshold: wanted a float, got an integer"),
    ({"iou_threshold": "0.5"}, "iou_threshold: wanted a float, got a text"),
    ({"iou_threshold": [0.5]}, "iou_threshold: wanted a float, got floats"),
    ({"score_threshold": [1, 2]}, "score_threshold: wanted a float, got integers")])
def test_attributes_of_another_type_are_refused(attribute, wanted):
    with pytest.raises(Exception, match=wanted):
        node("NMSRotated", dict(b="FLOAT", s="FLOAT"), kinds=("INT64",), **attribute)


@pytest.mark.parametrize("attribute, wanted", [
    ({"groups": 2.0}, "groups: wanted an integer, got a float"), ({"groups": [2]}, "groups: wanted an integer, got integers"),
    ({"stride": 1}, "stride: wanted integers, got an integer"), ({"stride": [1.0, 1.0]}, "stride: wanted integers, got floats")])
def test_attributes_of_a_convolution_of_another_type_are_refused(attribute, wanted):
    with pytest.raises(Exception, match=wanted):
        node("MMCVDeformConv2d", dict(x="FLOAT", o="FLOAT", w="FLOAT"), **attribute)


def test_a_network_of_deformable_operators_exports():
    torch.manual_seed(0)
    named()

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = mt.ModulatedDeformConv2dPack(3, 8, 3, padding=1)
            self.second = mt.DeformConv2dPack(8, 8, 3, stride=2, padding=1)
            for layer in (self.first, self.second):  # packs start with offsets of 0
                torch.nn.init.normal_(layer.conv_offset.weight, std=0.2)
            self.points = torch.nn.Linear(8, 2 * 1 * 4 * 2)

        def forward(self, image):
            x = self.second(self.first(image).relu())
            n, c, h, w = x.shape
            value = x.flatten(2).transpose(1, 2)
            locations = self.points(value).sigmoid().reshape(n, h * w, 2, 1, 4, 2)
            weights = torch.full_like(locations[..., 0], 0.25)
            shapes, starts = torch.tensor([[h, w]]), torch.tensor([0])
            return mt.multi_scale_deformable_attn(value.reshape(n, h * w, 2, 4), shapes, starts, locations, weights)

    net, inputs = Net().eval(), (torch.randn(2, 3, 12, 10),)
    program = exported(net, inputs)
    assert sum(node.startswith("mmdeploy::") for node in nodes_of(program)) == 3
    with torch.no_grad():
        assert torch.allclose(run(program, inputs), net(*inputs), atol=1e-5)


@pytest.mark.parametrize("domain", ["mmdeploy", "mmcv"])
def test_nodes_as_mmdeploy_writes_them(domain):
    """Attributes that are left out, paddings told twice, a missing bias."""
    torch.manual_seed(0)
    image, weight = torch.randn(2, 4, 6, 7), torch.randn(6, 2, 3, 3)
    offset, mask = torch.randn(2, 18, 6, 7), torch.rand(2, 9, 6, 7)
    v1 = node("MMCVDeformConv2d", dict(x="FLOAT", o="FLOAT", w="FLOAT"), domain=domain, stride=[1, 1],
              padding=[1, 1, 1, 1], dilation=[1, 1], groups=2, deform_groups=1)
    assert torch.equal(results(v1, (image, offset, weight))[0], mt.deform_conv2d(image, offset, weight, 1, 1, 1, 2))
    v2 = node("MMCVModulatedDeformConv2d", dict(x="FLOAT", o="FLOAT", m="FLOAT", w="FLOAT"), domain=domain,
              padding=[1, 1], groups=2)
    wanted = mt.modulated_deform_conv2d(image, offset, mask, weight, None, 1, 1, 1, 2)
    assert torch.equal(results(v2, (image, offset, mask, weight))[0], wanted)
    assert results(v2, (image[:0], offset[:0], mask[:0], weight))[0].shape == (0, 6, 6, 7)


@pytest.mark.parametrize("name, attributes, text", [
    ("MMCVDeformConv2d", dict(stride=[1, 1, 1]), "stride: wanted 2 numbers"),
    ("MMCVDeformConv2d", dict(padding=[1, 2, 1, 1]), "padding: wanted 2 numbers"),
    ("MMCVDeformConv2d", dict(stride=[0, 1]), "stride"),
    ("MMCVDeformConv2d", dict(groups=1 << 40), "groups: wanted 32 bits"),
    ("MMCVDeformConv2d", dict(dilation=[9, 9]), "weight: wanted a height of 1 or more that fits"),
    ("MMCVDeformConv2d", dict(groups=3), "mluOpDCNForward"),
    ("MMCVRoiAlign", dict(mode="sum"), "mode: wanted avg or max, got sum"),
    ("MMCVRoiAlign", dict(output_height=0), "pooled_height"),
    ("MMCVRoIAlignRotated", dict(output_width=0), "output_width: wanted 1 or more, got 0"),
    ("roi_pool", dict(output_height=-2), "output_height: wanted 1 or more, got -2"),
    ("MMCVRoIAlignRotated", dict(), "mluOpRoiAlignRotatedForward"),
], ids=lambda value: value if isinstance(value, str) else None)
def test_what_is_wrong_is_said(name, attributes, text):
    inputs = (torch.randn(2, 4, 6, 7), torch.randn(2, 18, 4, 5), torch.randn(6, 4, 3, 3))
    types = dict(x="FLOAT", o="FLOAT", w="FLOAT")
    if name in ("MMCVRoiAlign", "MMCVRoIAlignRotated", "roi_pool"):
        inputs, types = (inputs[0], torch.rand(3, 5)), dict(x="FLOAT", r="FLOAT")
    with pytest.raises(Exception, match=text):
        results(node(name, types, **attributes), inputs)


def test_ranks_and_numbers_that_are_wrong():
    session = node("MMCVMultiScaleDeformableAttention", dict(v="FLOAT", s="INT64", l="INT64", p="FLOAT", w="FLOAT"))
    good = (torch.rand(1, 6, 2, 4), torch.tensor([[2, 3]]), torch.tensor([0]), torch.rand(1, 5, 2, 1, 3, 2),
            torch.rand(1, 5, 2, 1, 3))
    wanted = mt.multi_scale_deformable_attn(*good).reshape(1, 5, 8)
    assert torch.equal(results(session, good)[0], wanted)
    for at, wrong, text in ((0, good[0][0], "value: wanted 4 dimensions, got 3"),
                            (1, torch.tensor([[2, 3 + (1 << 40)]]), "value_spatial_shapes: wanted 32 bits"),
                            (1, torch.tensor([[2, 4]]), "mluOpMsDeformAttnForward"),
                            (4, good[4][:, :3], "mluOpMsDeformAttnForward")):
        with pytest.raises(Exception, match=text):
            results(session, (*good[:at], wrong, *good[at + 1:]))
    assert torch.equal(results(session, good)[0], wanted)


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
