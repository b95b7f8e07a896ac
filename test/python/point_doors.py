"""What the tests of the point and box extensions share: the doors installed, points, plain loops in double."""


import pytest
import torch

from dropin_doors import door, opened  # noqa: F401



@pytest.fixture(autouse=True)
def doors():
    with opened("pcdet", "pointops", "pointnet2_ops"):
        yield


def cloud(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


def near(found, wanted, limit=1e-5):
    assert found.shape == wanted.shape
    largest = wanted.double().abs().max().item() if wanted.numel() else 0.0
    assert ((found.double() - wanted.double()).abs() <= limit * max(1.0, largest)).all()


def squares(a, b):
    return ((a.double()[..., :, None, :] - b.double()[..., None, :, :]) ** 2).sum(-1)


def in_ball(table, radius, nsample, empty=0):
    """Rows of the first columns within the radius, filled up with the first."""
    rows = []
    for row in table.tolist():
        found = [k for k, square in enumerate(row) if square < radius ** 2][:nsample]
        rows.append(found + [found[0] if found else 0] * (nsample - len(found)) if found else
                    [empty] + [0] * (nsample - 1))
    return rows


def furthest(points, count):
    points, picked, best = points.double(), [0], None
    while len(picked) < count:
        distance = ((points - points[picked[-1]]) ** 2).sum(1)
        best = distance if best is None else torch.minimum(best, distance)
        picked.append(int(best.argmax()))
    return picked
