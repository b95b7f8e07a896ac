"""Groups of boxes that do not see each other."""

from typing import Optional

from torch import Tensor, addcmul
from torch.nn.functional import pad

from . import _eager


def apart(coordinates: Tensor, groups: Tensor, reached: Optional[Tensor] = None) -> Tensor:
    """The coordinates T [N, any] of boxes in float64, where that rounds next to nothing away, each of the groups [N] moved by
    more than all boxes reach. reached: float64 [N, any], how far that is, where it is not the coordinates."""
    wide, named = coordinates.double(), groups
    if reached is None:
        reached = wide
    if coordinates.shape[0] == 0 or _eager.recording():  # the graph may be given boxes later, or none
        reached, named = pad(reached, (0, 0, 0, 1)), pad(groups, (0, 1))
    low, high = reached.aminmax()
    step = high - low + 2
    if _eager.recording():
        step = step.log2().ceil().exp2()  # float32 moved by multiples of it is not rounded
    return addcmul(wide, (groups - named.min()).unsqueeze(1), step)
