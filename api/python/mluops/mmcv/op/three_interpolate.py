"""three_interpolate."""

from ...torch.filling.three_interpolate import three_interpolate_backward, three_interpolate_forward

ENTRY_POINTS = (three_interpolate_forward, three_interpolate_backward)
