"""chamfer_distance."""

from ...torch._integers import index32
from ...torch._tensors import floats
from ...torch.op.chamfer_distance import forward, gradient


def chamfer_distance_forward(xyz1, xyz2, dist1, dist2, idx1, idx2):
    for theirs, ours in zip((dist1, dist2, idx1, idx2), forward(*floats(xyz1=xyz1, xyz2=xyz2))):
        theirs.copy_(ours)


def chamfer_distance_backward(xyz1, xyz2, idx1, idx2, graddist1, graddist2, gradxyz1, gradxyz2):
    one, two, grad1, grad2 = floats(xyz1=xyz1, xyz2=xyz2, grad1=graddist1, grad2=graddist2)
    results = gradient(one, two, index32("idx1", idx1), index32("idx2", idx2), grad1, grad2)
    for theirs, ours in zip((gradxyz1, gradxyz2), results):
        theirs.copy_(ours)


ENTRY_POINTS = (chamfer_distance_forward, chamfer_distance_backward)
