"""three_nn."""

from ...torch._tensors import floats
from ...torch.op.three_nn import forward


def three_nn_forward(unknown_tensor, known_tensor, dist2_tensor, idx_tensor, b, n, m):
    squares, indices = forward(*floats(target=unknown_tensor, source=known_tensor))
    dist2_tensor.copy_(squares)
    idx_tensor.copy_(indices)


ENTRY_POINTS = (three_nn_forward,)
