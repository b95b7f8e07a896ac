"""three_nn."""

from .._buffers import fill_all
from .._tensors import floats
from ..op.three_nn import forward


def three_nn_forward(unknown_tensor, known_tensor, dist2_tensor, idx_tensor, b, n, m):
    squares, indices = forward(*floats(target=unknown_tensor, source=known_tensor))
    fill_all((squares, indices), dist2_tensor=dist2_tensor, idx_tensor=idx_tensor)
