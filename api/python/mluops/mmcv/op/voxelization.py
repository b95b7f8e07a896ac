"""hard and dynamic voxelize."""

from ...torch.op import voxelization as _ours


def dynamic_voxelize_forward(points, voxel_size, coors_range, coors, NDim=3):
    coors.copy_(_ours.dynamic(*_ours.grid(points, voxel_size, coors_range)))


def hard_voxelize_forward(points, voxel_size, coors_range, voxels, coors, num_points_per_voxel, voxel_num, max_points,
                          max_voxels, NDim=3, deterministic=True):
    results = _ours.hard(*_ours.grid(points, voxel_size, coors_range), max_points, max_voxels)
    for ours, theirs in zip(results, (voxels, coors, num_points_per_voxel)):
        theirs.copy_(ours)
    voxel_num.fill_(int(results[3]))


ENTRY_POINTS = (dynamic_voxelize_forward, hard_voxelize_forward)
