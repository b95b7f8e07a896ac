"""mluops.dropin: extensions and texts for cupy whose windows have weights of each pixel's own, against unfold in float64."""

import types
import warnings

import pytest

torch = pytest.importorskip("torch")

from dropin_doors import opened  # noqa: E402
from torch.nn import functional as F  # noqa: E402


@pytest.fixture(autouse=True)
def doors():
    with opened("cupy", "det3d", "ddf", "kernelconv2d", "psamask", cuda_calls=True):
        yield


PRECISIONS = pytest.mark.parametrize("dtype, limit", [(torch.float64, 1e-11), (torch.float32, 1e-5)])


def randoms(dtype, *shapes):
    torch.manual_seed(0)
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


def agrees(ours, by_rule, inputs, limit):
    """Outputs and gradients; ours may be in float."""
    exact = [each.detach().double().requires_grad_() for each in inputs]
    wanted, found = by_rule(*exact), ours(*inputs)
    grad = torch.randn_like(found)
    for each, rule in zip((found, *torch.autograd.grad(found, inputs, grad)),
                          (wanted, *torch.autograd.grad(wanted, exact, grad.double()))):
        assert each.shape == rule.shape and rule.abs().max() > 0.1
        assert (each - rule).abs().max() <= limit * max(1, rule.abs().max())


def windows(x, k, stride=1, padding=0, dilation=1, mode="constant"):
    """[N, C, k * k, h, w]."""
    x = F.pad(x, (padding,) * 4, mode)
    h, w = ((size - dilation * (k - 1) - 1) // stride + 1 for size in x.shape[2:])
    return F.unfold(x, k, dilation=dilation, stride=stride).view(*x.shape[:2], k * k, h, w)


# ---- cupy: kernels by their names; strides, padding and dilation are in their texts


READS = """for (int kh = 0; kh < $k; ++kh) for (int kw = 0; kw < $k; ++kw) {
    const int h_in = -$pad + h * $stride + kh * $apart; const int w_in = -$pad + w * $stride + kw * $apart; }"""
NUMBERS = "const int h_in = -$pad + h * $stride + kh * $apart; const int w_in = -$pad + w * $stride + kw * $apart;"
ADDS = """for (int kh = 0; kh < $k; ++kh) for (int kw = 0; kw < $k; ++kw) {
    const int h_out_s = h + $pad - kh * $apart; const int w_out_s = w + $pad - kw * $apart;
    if (((h_out_s % $stride) == 0) && ((w_out_s % $stride) == 0)) { } }"""
SKIPS = "if (((h % $stride) == 0) && ((w % $stride) == 0)) { }"

PROGRAM = """
import collections
import string
import cupy
import torch
Stream = collections.namedtuple('Stream', ['ptr'])

@cupy.util.memoize(for_each_device=True)
def load_kernel(name, text, **numbers):
    return cupy.cuda.compile_with_cache(string.Template(text).substitute(**numbers)).get_function(name)

def launch(name, text, numbers, *tensors):
    addresses = [each.data_ptr() for each in tensors]
    load_kernel(name, text, **dict(numbers))(block=(1024, 1, 1), grid=(1, 1, 1), args=addresses, stream=Stream(ptr=0))

class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, made, names, numbers):
        assert x.is_cuda
        output = x.new(*made)
        f = load_kernel(*names[0], **dict(numbers))
        f(block=(1, 1, 1), grid=(1, 1, 1), args=[x.data_ptr(), weight.data_ptr(), output.data_ptr()], stream=Stream(ptr=0))
        ctx.save_for_backward(x, weight)
        ctx.names, ctx.numbers = names, dict(numbers)
        return output

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        grad, numbers = grad.contiguous(), ctx.numbers
        pad = numbers['pad'] if 'refpad' in ctx.names[1][0] else 0
        of_x, of_weight = x.new(*x.shape[:2], x.shape[2] + 2 * pad, x.shape[3] + 2 * pad), weight.new(weight.shape)
        f = load_kernel(*ctx.names[1], **numbers)
        f(block=(1, 1, 1), grid=(1, 1, 1), args=[grad.data_ptr(), weight.data_ptr(), of_x.data_ptr()], stream=Stream(ptr=0))
        f = load_kernel(*ctx.names[2], **numbers)
        f(block=(1, 1, 1), grid=(1, 1, 1), args=[grad.data_ptr(), x.data_ptr(), of_weight.data_ptr()], stream=Stream(ptr=0))
        return folded(of_x, pad), of_weight, None, None, None

def folded(padded, pad):
    if not pad:
        return padded
    wide = torch.zeros(padded.shape[0], padded.shape[1], padded.shape[2] - 2 * pad, padded.shape[3] - 2 * pad,
                       dtype=padded.dtype, requires_grad=True)
    with torch.enable_grad():
        seen = torch.nn.functional.pad(wide, (pad,) * 4, 'reflect')
    return torch.autograd.grad(seen, wide, padded)[0]

def two(x, *rest):
    if not x.is_cuda:
        raise NotImplementedError
    return Two.apply(x, *rest)

class Difference(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, made, names, numbers):
        output = x.new(*made)
        f = load_kernel(*names[0], **dict(numbers))
        f(block=(1, 1, 1), grid=(1, 1, 1), args=[x.data_ptr(), y.data_ptr(), output.data_ptr()], stream=Stream(ptr=0))
        ctx.names, ctx.numbers, ctx.like = names, dict(numbers), (x, y)
        return output

    @staticmethod
    def backward(ctx, grad):
        grad, pad = grad.contiguous(), ctx.numbers['pad'] if 'refpad' in ctx.names[1][0] else 0
        of_x, of_y = torch.empty_like(ctx.like[0]), torch.nn.functional.pad(ctx.like[1].detach(), (pad,) * 4)
        f = load_kernel(*ctx.names[1], **ctx.numbers)
        f(block=(1, 1, 1), grid=(1, 1, 1), args=[grad.data_ptr(), of_x.data_ptr()], stream=Stream(ptr=0))
        f = load_kernel(*ctx.names[2], **ctx.numbers)
        f(block=(1, 1, 1), grid=(1, 1, 1), args=[grad.data_ptr(), of_y.data_ptr()], stream=Stream(ptr=0))
        return of_x, folded(of_y, pad), None, None, None

class OneDifference(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, made, names, numbers):
        output = x.new(*made)
        f = load_kernel(*names[0], **dict(numbers))
        f(block=(1, 1, 1), grid=(1, 1, 1), args=[x.data_ptr(), output.data_ptr()], stream=Stream(ptr=0))
        ctx.names, ctx.numbers, ctx.like = names, dict(numbers), x
        return output

    @staticmethod
    def backward(ctx, grad):
        grad, pad = grad.contiguous(), ctx.numbers['pad'] if 'refpad' in ctx.names[1][0] else 0
        of_x = torch.nn.functional.pad(ctx.like.detach(), (pad,) * 4)
        f = load_kernel(*ctx.names[1], **ctx.numbers)
        f(block=(1, 1, 1), grid=(1, 1, 1), args=[grad.data_ptr(), of_x.data_ptr()], stream=Stream(ptr=0))
        return folded(of_x, pad), None, None, None
"""


@pytest.fixture
def program(doors):
    module = types.ModuleType("a_program_of_windows")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(PROGRAM, vars(module))
    return module


def numbers(**values):
    return tuple(values.items())


@PRECISIONS
@pytest.mark.parametrize("k, stride, apart, groups", [(3, 1, 1, 2), (7, 1, 1, 2), (3, 2, 1, 8), (3, 1, 2, 4)])
def test_involution(program, k, stride, apart, groups, dtype, limit):
    pad, h, w = k // 2 * apart, 10 // stride, 12 // stride
    x, weight = randoms(dtype, (2, 8, 10, 12), (2, groups, k, k, h, w))
    texts = [("involution_forward_kernel", READS), ("involution_backward_grad_input_kernel", ADDS),
             ("involution_backward_grad_weight_kernel", NUMBERS)]

    def by_rule(x, weight):
        seen = windows(x, k, stride, pad, apart).unflatten(1, (groups, -1))
        return (seen * weight.flatten(2, 3)[:, :, None]).sum(3).flatten(1, 2)

    agrees(lambda x, weight: program.two(x, weight, (2, 8, h, w), texts, numbers(k=k, pad=pad, stride=stride, apart=apart)),
           by_rule, (x, weight), limit)


@PRECISIONS
@pytest.mark.parametrize("shape_of_weights", ["four axes", "six axes"])
@pytest.mark.parametrize("name, mode", [("zeropad", "constant"), ("refpad", "reflect")])
def test_aggregation_of_attention(program, name, mode, shape_of_weights, dtype, limit):
    k, pad = 3, 1
    many = (2, 4, 9, 80) if shape_of_weights == "four axes" else (2, 1, 4, 9, 8, 10)
    x, weight = randoms(dtype, (2, 8, 8, 10), many)
    back = ADDS if name == "zeropad" else ADDS.replace(" + $pad", "")
    texts = [(f"aggregation_{name}_{what}_kernel", text) for what, text in (
        ("forward", READS), ("input_backward", back), ("weight_backward", READS))]

    def by_rule(x, weight):
        seen = windows(x, k, 1, pad, 1, mode).unflatten(1, (2, 4))  # channel c has the weights c % 4
        return (seen * weight.reshape(2, 1, 4, 9, 8, 10)).sum(3).flatten(1, 2)

    agrees(lambda x, weight: program.two(x, weight, x.shape, texts, numbers(k=k, pad=pad, stride=1, apart=1)), by_rule,
           (x, weight), limit)


@PRECISIONS
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("name, mode", [("zeropad", "constant"), ("refpad", "reflect")])
def test_subtraction_of_attention(program, name, mode, stride, dtype, limit):
    k, pad = 3, 1
    one, two = randoms(dtype, (2, 4, 7, 9), (2, 4, 7, 9))
    pixels = len(range(0, 7, stride)) * len(range(0, 9, stride))
    back, given = ADDS if name == "zeropad" else ADDS.replace(" + $pad", ""), numbers(k=k, pad=pad, stride=stride, apart=1)

    def by_rule(one, two):
        return (one[:, :, None, ::stride, ::stride] - windows(two, k, stride, pad, 1, mode)).flatten(3)

    texts = [(f"subtraction2_{name}_{what}_kernel", text) for what, text in (
        ("forward", READS), ("input1_backward", SKIPS), ("input2_backward", back))]
    agrees(lambda x, y: program.Difference.apply(x, y, (2, 4, 9, pixels), texts, given), by_rule, (one, two), limit)
    texts = [(f"subtraction_{name}_forward_kernel", READS), (f"subtraction_{name}_input_backward_kernel", back + SKIPS)]
    agrees(lambda x: program.OneDifference.apply(x, (2, 4, 9, pixels), texts, given), lambda x: by_rule(x, x), (one,), limit)


def test_another_text_under_a_known_name(program):
    x, weight = randoms(torch.float32, (1, 2, 5, 5), (1, 1, 3, 3, 5, 5))
    with pytest.raises(NotImplementedError, match="text differs"):
        program.two(x, weight, x.shape, [("involution_forward_kernel", "return;")], numbers(k=3))


@PRECISIONS
def test_separable_filters(doors, dtype, limit):
    from mluops.dropin._cupy_windows import KERNELS
    inputs = randoms(dtype, (2, 3, 10, 12), (2, 5, 6, 8), (2, 5, 6, 8))

    class Separable(torch.autograd.Function):
        @staticmethod
        def forward(ctx, image, vertical, horizontal):
            ctx.save_for_backward(image, vertical, horizontal)
            output = image.new_empty(2, 3, 6, 8)
            KERNELS["sepconv_out"]("", 0, image, vertical, horizontal, output)
            return output

        @staticmethod
        def backward(ctx, grad):
            made = [torch.empty_like(each) for each in ctx.saved_tensors]
            for i, name in enumerate(("sepconv_ingrad", "sepconv_vergrad", "sepconv_horgrad")):
                KERNELS[name]("", 0, *ctx.saved_tensors, grad, *(each if j == i else None for j, each in enumerate(made)))
            return tuple(made)

    def by_rule(image, vertical, horizontal):
        return torch.einsum("nchwij,nihw,njhw->nchw", image.unfold(2, 5, 1).unfold(3, 5, 1), vertical, horizontal)

    agrees(Separable.apply, by_rule, inputs, limit)


# ---- extensions


@PRECISIONS
def test_filters_of_each_channel_and_pixel(dtype, limit):
    import kernelconv2d_cuda as ext

    class Filter(torch.autograd.Function):
        @staticmethod
        def forward(ctx, image, kernel):
            ctx.save_for_backward(image, kernel)
            output = image.new_zeros(2, 3, 6, 8)
            assert ext.forward(image, kernel, 5, output) == 1
            return output

        @staticmethod
        def backward(ctx, grad):
            made = [torch.zeros_like(each) for each in ctx.saved_tensors]
            ext.backward(*ctx.saved_tensors, 5, grad, *made)
            return tuple(made)

    agrees(Filter.apply, lambda image, kernel: (windows(image, 5) * kernel.unflatten(1, (3, 25))).sum(2),
           randoms(dtype, (2, 3, 10, 12), (2, 75, 6, 8)), limit)


@PRECISIONS
def test_windows_under_weights_that_all_channels_share(dtype, limit):
    import align_feature_cuda as ext

    class Align(torch.autograd.Function):
        @staticmethod
        def forward(ctx, data, weight):
            ctx.save_for_backward(data, weight)
            output = torch.zeros_like(data)
            ext.forward(data, weight, 3, 3, output)
            return output

        @staticmethod
        def backward(ctx, grad):
            made = [torch.zeros_like(each) for each in ctx.saved_tensors]
            ext.backward(grad, *ctx.saved_tensors, 3, 3, 2, 4, 9, 6, 8, *made)
            return tuple(made)

    agrees(Align.apply, lambda data, weight: (windows(data, 3, padding=1) * weight[:, None]).sum(2),
           randoms(dtype, (2, 4, 6, 8), (2, 9, 6, 8)), limit)


@PRECISIONS
@pytest.mark.parametrize("k, apart, stride", [(3, 1, 1), (3, 1, 2), (5, 2, 1)])
@pytest.mark.parametrize("combine", ["mul", "add"])
def test_decoupled_dynamic_filters(combine, k, apart, stride, dtype, limit):
    import ddf_add_ext
    import ddf_mul_faster_ext
    ext = {"mul": ddf_mul_faster_ext, "add": ddf_add_ext}[combine]
    h, w = 8 // stride, 10 // stride

    class Ddf(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, channel, pixel):
            ctx.save_for_backward(x, channel, pixel)
            output = x.new_zeros(2, 4, h, w)
            ext.forward(x, channel, pixel, k, apart, stride, output)
            return output

        @staticmethod
        def backward(ctx, grad):
            made, room = [torch.zeros_like(each) for each in ctx.saved_tensors], [torch.empty(0)] * 3
            ext.backward(grad, *ctx.saved_tensors, k, apart, stride, *room, *made)
            return tuple(made)

    def by_rule(x, channel, pixel):
        channel, pixel = channel.reshape(2, 4, k * k, 1, 1), pixel[:, None]
        return (windows(x, k, stride, k // 2 * apart, apart) * (channel * pixel if combine == "mul" else channel + pixel)).sum(2)

    agrees(Ddf.apply, by_rule, randoms(dtype, (2, 4, 8, 10), (2, 4, k, k), (2, k * k, h, w)), limit)


def test_the_half_for_the_cpu_of_an_extension_compiled_at_import():
    """Its sources are older than this torch; they need not exist."""
    from mluops.torch.op.psa_mask import psa_mask
    from torch.utils import cpp_extension
    with pytest.warns(UserWarning, match="psamask_cpu is not installed"):
        ext = cpp_extension.load("psamask_cpu", ["operator.cpp", "psamask.cpp"], build_directory=".")
    x, = randoms(torch.float32, (2, 9, 4, 5))
    output, of_x = torch.empty(2, 20, 4, 5), torch.empty_like(x)
    ext.psamask_forward(0, x, output, 2, 4, 5, 3, 3, 1, 1)
    wanted = psa_mask(x, 0, 3)
    assert torch.equal(output, wanted.detach())
    ext.psamask_backward(0, output, of_x, 2, 4, 5, 3, 3, 1, 1)
    assert torch.equal(of_x, torch.autograd.grad(wanted, x, output)[0])
