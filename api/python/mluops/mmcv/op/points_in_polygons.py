"""points_in_polygons, which mmcv has no CPU code for."""

from ...torch.op.polygons import points_in_polygons


def points_in_polygons_forward(points, polygons, output):
    output.copy_(points_in_polygons(points, polygons))


ENTRY_POINTS = (points_in_polygons_forward,)
