"""Arrays of other packages behind the numpy door: DLPack in and out, without copies."""

import numpy as np
import pytest

import mluops
from mluops import _arrays, _listing, op

CALLS = {name: call for module in _listing.modules(op) for name, call in module.SMALLEST.items()}


class Foreign:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, array, device=None):
        self.array, self.device_type = array, device
        self.dtype = array.dtype

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return (self.device_type, 0) if self.device_type else self.array.__dlpack_device__()

    def __add__(self, number):
        return Foreign(self.array + np.asarray(number, self.array.dtype))


def flat(results):
    return [np.asarray(each) for each in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("name", CALLS)
def test_every_function_takes_foreign_arrays(name):
    makers = [lambda *shape: np.ones(shape, np.float32), lambda *shape: np.zeros(shape, np.int32)]
    wanted = flat(CALLS[name](*makers))
    found = flat(CALLS[name](*(lambda *shape, make=make: Foreign(make(*shape)) for make in makers)))
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_memory_is_read_where_it_lies():
    made = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.shares_memory(_arrays.floats(x=Foreign(made))[0], made)
    assert np.shares_memory(_arrays.index32("i", Foreign(made.astype(np.int32))), made) is False
    numbers = made.astype(np.int32)
    assert np.shares_memory(_arrays.index32("i", Foreign(numbers)), numbers)
    frozen = made.copy()
    frozen.flags.writeable = False  # inputs are only read
    assert np.shares_memory(_arrays.floats(x=frozen)[0], frozen)
    assert _arrays.floats(x=Foreign(made.T))[0].tolist() == made.T.tolist()  # other orders are copied


POINTS = np.random.default_rng(1).uniform(-1, 1, (1, 9, 3)).astype(np.float32)


def test_errors_name_the_argument():
    with pytest.raises(TypeError, match="xyz: wanted an array on the CPU, got .*Foreign of float32 on another device"):
        mluops.ball_query(POINTS, Foreign(POINTS, device=2), 0, 1, 4)
    with pytest.raises(TypeError, match="wanted dtype float16, float32, float64, got int32"):
        mluops.ball_query(POINTS, Foreign(POINTS.astype(np.int32)), 0, 1, 4)
    with pytest.raises(TypeError, match="idx: wanted dtype int32 or int64, got float32"):
        mluops.gather_points(POINTS, Foreign(POINTS[0]))

    class Broken(Foreign):
        def __dlpack__(self, **options):
            raise BufferError("the data is gone")

    with pytest.raises(TypeError, match="xyz: wanted an array that numpy can read through DLPack, got .*: the data is gone"):
        mluops.ball_query(POINTS, Broken(POINTS), 0, 1, 4)


def test_out_has_to_be_written_in_place():
    features, idx = np.ones((1, 2, 4), np.float32), np.zeros((1, 3), np.int32)
    out = np.zeros((1, 2, 3), np.float32)
    assert mluops.gather_points(features, idx, out=out) is out and (out == 1).all()
    frozen = out.copy()
    frozen.flags.writeable = False
    for wrong in (frozen, np.zeros((1, 3, 2), np.float32).transpose(0, 2, 1)):
        with pytest.raises(ValueError, match="out: wanted a writable C-contiguous array"):
            mluops.gather_points(features, idx, out=wrong)
    with pytest.raises(ValueError, match=r"out: wanted an array float32 \(1, 2, 3\), got float64"):
        mluops.gather_points(features, idx, out=Foreign(out.astype(np.float64)))
    with pytest.raises(TypeError, match="out: wanted an array on the CPU"):
        mluops.gather_points(features, idx, out=Foreign(out, device=2))


# ---- packages


def test_torch():
    torch = pytest.importorskip("torch")
    features, idx = torch.rand(1, 2, 4), torch.tensor([[3, 0, 3]])
    result = torch.from_dlpack(mluops.gather_points(features, idx))
    assert torch.equal(result, features[:, :, idx[0]])
    assert np.shares_memory(_arrays.floats(x=features)[0], features.numpy())
    out = torch.zeros(1, 2, 3)
    mluops.gather_points(features, idx, out=out)
    assert torch.equal(out, result)
    with pytest.raises(TypeError, match="points: .*torch.Tensor of torch.float32: .*grad"):
        mluops.gather_points(features.requires_grad_(), idx)
    with pytest.raises(TypeError, match="points: .*torch.Tensor of torch.bfloat16"):
        mluops.gather_points(features.detach().bfloat16(), idx)
    with pytest.raises(TypeError, match="points: .*torch.Tensor of torch.float32"):
        mluops.gather_points(torch.empty(1, 2, 4, device="meta"), idx)


def test_jax():
    jax = pytest.importorskip("jax")
    features, idx = jax.numpy.arange(8, dtype=jax.numpy.float32).reshape(1, 2, 4), jax.numpy.array([[3, 0, 3]])
    assert np.shares_memory(_arrays.floats(x=features)[0], np.from_dlpack(features))
    result = jax.dlpack.from_dlpack(mluops.gather_points(features, idx))
    assert isinstance(result, jax.Array) and result.tolist() == features[:, :, idx[0]].tolist()
    with pytest.raises(ValueError, match="out: wanted a writable C-contiguous array"):
        mluops.gather_points(features, idx, out=jax.numpy.zeros((1, 2, 3)))
    with pytest.raises(TypeError, match="points: .*bfloat16"):
        mluops.gather_points(features.astype(jax.numpy.bfloat16), idx)


def test_tensorflow():
    tf = pytest.importorskip("tensorflow")
    features, idx = tf.reshape(tf.range(8, dtype=tf.float32), (1, 2, 4)), tf.constant([[3, 0, 3]])
    assert np.shares_memory(_arrays.floats(x=features)[0], np.from_dlpack(features))
    result = tf.experimental.dlpack.from_dlpack(mluops.gather_points(features, idx).__dlpack__())
    assert result.numpy().tolist() == features.numpy()[:, :, [3, 0, 3]].tolist()


def test_paddle():
    paddle = pytest.importorskip("paddle")
    features, idx = paddle.arange(8, dtype="float32").reshape([1, 2, 4]), paddle.to_tensor([[3, 0, 3]])
    wanted = features.numpy()[:, :, [3, 0, 3]].tolist()
    made = mluops.gather_points(features, idx)
    result = paddle.from_dlpack(made)
    assert _arrays.floats(x=features)[0].ctypes.data == features.data_ptr() and result.data_ptr() == made.ctypes.data
    del made
    assert result.numpy().tolist() == wanted
    out = paddle.zeros([1, 2, 3])
    mluops.gather_points(features, idx, out=out)
    assert out.numpy().tolist() == wanted
    image, roi = paddle.ones([1, 8, 8, 3]), paddle.to_tensor([[0.0, 0, 0, 4, 4]])
    assert mluops.roi_align(image, roi, 2, 2, 2, 1.0, True).tolist() == np.ones((1, 2, 2, 3)).tolist()
    turned = mluops.gather_points(features.transpose([0, 2, 1]), paddle.to_tensor([[1]]))  # a view, which is copied
    assert turned.tolist() == features.numpy().transpose(0, 2, 1)[:, :, 1:].tolist()
    with pytest.raises(TypeError, match="points: .*paddle.Tensor of paddle.bfloat16"):
        mluops.gather_points(features.astype("bfloat16"), idx)
    features.stop_gradient = False
    with pytest.raises(TypeError, match="points: .*paddle.Tensor of paddle.float32: .*gradient"):
        mluops.gather_points(features, idx)


def test_paddle_gradients_with_a_layer():
    """The form of docs/python.md."""
    paddle = pytest.importorskip("paddle")

    class Gather(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, features, idx):
            ctx.idx, ctx.points = idx, features.shape[2]
            return paddle.from_dlpack(mluops.gather_points(features.detach(), idx))

        @staticmethod
        def backward(ctx, grad):
            return paddle.from_dlpack(mluops.gather_points_backward(grad.detach(), ctx.idx, ctx.points)), None

    features, idx = paddle.arange(8, dtype="float32").reshape([1, 2, 4]), paddle.to_tensor([[3, 0, 3]])
    features.stop_gradient = False
    (Gather.apply(features, idx) ** 2).sum().backward()
    assert features.grad.numpy().tolist() == [[[0, 0, 0, 12], [8, 0, 0, 28]]]


def test_jax_gradients_with_a_callback():
    """The form of docs/python.md."""
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    @jax.custom_vjp
    def gather(features, idx):
        shape = jax.ShapeDtypeStruct((*features.shape[:2], idx.shape[1]), features.dtype)
        return jax.pure_callback(mluops.gather_points, shape, features, idx)

    def forward(features, idx):
        return gather(features, idx), (features, idx)

    def backward(saved, grad):
        features, idx = saved
        points = features.shape[2]
        call = lambda grad, idx: mluops.gather_points_backward(grad, idx, points)  # noqa: E731
        return jax.pure_callback(call, jax.ShapeDtypeStruct(features.shape, features.dtype), grad, idx), None

    gather.defvjp(forward, backward)
    features, idx = jnp.arange(8, dtype=jnp.float32).reshape(1, 2, 4), jnp.array([[3, 0, 3]])
    value, gradient = jax.jit(jax.value_and_grad(lambda f: (gather(f, idx) ** 2).sum()))(features)
    wanted = jax.value_and_grad(lambda f: (f[:, :, idx[0]] ** 2).sum())(features)
    assert float(value) == float(wanted[0]) and gradient.tolist() == wanted[1].tolist()
