"""three_nn."""

from ...torch.filling.three_nn import three_nn_forward

ENTRY_POINTS = (three_nn_forward,)
