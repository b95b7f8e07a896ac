"""The vector pooling of PV-RCNN++: features round each centre, summed in the cells of a grid of its own, and the three
nearest points of each of these cells' centres."""

import torch
from torch import Tensor

from ..torch._buffers import adding, fill, fill_all, filling, filling_first, write
from ..torch._tensors import floats
from . import _near, _stacked

__all__ = ["query_stacked_local_neighbor_idxs_wrapper_stack", "query_three_nn_by_stacked_local_idxs_wrapper_stack",
           "vector_pool_grad_wrapper", "vector_pool_wrapper"]

_MOST = 1000  # neighbours that the extension has room for


def _clouds(counts: Tensor, rows: int, name: str) -> Tensor:
    if int(counts.sum()) != rows:
        raise ValueError(f"{name}: wanted counts that add up to {rows}, got {counts.tolist()}")
    return torch.arange(len(counts)).repeat_interleave(counts.long())


def _pairs(xyz, xyz_batch_cnt, new_xyz, new_xyz_batch_cnt, reach, neighbor_type):
    xyz, new_xyz = floats(support_xyz=xyz.detach(), new_xyz=new_xyz.detach())
    clouds = _clouds(xyz_batch_cnt, len(xyz), "xyz_batch_cnt")
    centers = _clouds(new_xyz_batch_cnt, len(new_xyz), "new_xyz_batch_cnt")
    return (xyz, new_xyz, *_near.within(xyz, clouds, new_xyz, centers, reach, neighbor_type == 1))


def query_stacked_local_neighbor_idxs_wrapper_stack(support_xyz, xyz_batch_cnt, new_xyz, new_xyz_batch_cnt,
                                                    stack_neighbor_idxs, start_len, cumsum, avg_length_of_neighbor_idxs,
                                                    max_neighbour_distance, nsample, neighbor_type):
    """The neighbours of all centres one after the other, as many as there is room for; cumsum has how many there are."""
    _, _, row, point = _pairs(support_xyz, xyz_batch_cnt, new_xyz, new_xyz_batch_cnt, max_neighbour_distance, neighbor_type)
    m = len(new_xyz)
    kept = _near.first(row, m, min(nsample, _MOST) if nsample > 0 else _MOST)
    row, point = row[kept], point[kept]
    length = torch.bincount(row, minlength=m)
    room = min(len(point), avg_length_of_neighbor_idxs * m)
    write(filling("start_len", start_len, torch.stack([length.cumsum(0) - length, length], 1)),
          filling("cumsum", cumsum, length.sum()[None]),
          filling_first("stack_neighbor_idxs", stack_neighbor_idxs, point[:room].int()))
    return 0


def _three_least(squares: Tensor) -> tuple:
    """The three least elements of each row and their places; of equal ones the first."""
    squares = squares.clone()
    values, places = [], []
    for _ in range(3):
        at = squares.argmin(-1, keepdim=True)
        values.append(squares.gather(-1, at))
        places.append(at)
        squares.scatter_(-1, at, float("inf"))
    return torch.cat(values, -1), torch.cat(places, -1)


def _nearest_three(xyz: Tensor, centers: Tensor, neighbours: Tensor, length: Tensor) -> tuple:
    """Of neighbours int64 [M, L], of which so many count, for centres [M, G, 3]: squares and indices [M, G, 3]; the first
    where there are fewer than three, -1 where there are none."""
    squares = (centers[:, :, None] - xyz[neighbours][:, None]).square().sum(3)
    squares = squares.masked_fill((torch.arange(neighbours.shape[1]) >= length[:, None])[:, None], float("inf"))
    squares, places = _three_least(squares)
    index = neighbours[:, None].expand(-1, squares.shape[1], -1).gather(2, places)
    lacks = (torch.arange(3) >= length[:, None])[:, None].expand_as(index)
    squares, index = (torch.where(lacks, each[..., :1], each) for each in (squares, index))
    return squares, index.masked_fill((length == 0)[:, None, None], -1).int()


def query_three_nn_by_stacked_local_idxs_wrapper_stack(support_xyz, new_xyz, new_xyz_grid_centers, new_xyz_grid_idxs,
                                                       new_xyz_grid_dist2, stack_neighbor_idxs, start_len, M,
                                                       num_total_grids):
    """Squares and indices of three neighbours of each cell's centre."""
    xyz, centers = floats(support_xyz=support_xyz.detach(), new_xyz_grid_centers=new_xyz_grid_centers.detach())
    centers = centers.reshape(M, num_total_grids, 3)
    start, length = start_len.long().unbind(1)
    squares = centers.new_full((M, num_total_grids, 3), float("inf"))
    index = torch.full(squares.shape, -1, dtype=torch.int32)
    most = int(length.max()) if M else 0
    for rows in _stacked.blocks(M, 3 * num_total_grids * most) if most else ():
        places = start[rows, None] + torch.arange(max(int(length[rows].max()), 3))
        neighbours = stack_neighbor_idxs.long()[places.clamp(max=len(stack_neighbor_idxs) - 1)]
        squares[rows], index[rows] = _nearest_three(xyz, centers[rows], neighbours, length[rows])
    fill_all((squares, index), new_xyz_grid_dist2=new_xyz_grid_dist2, new_xyz_grid_idxs=new_xyz_grid_idxs)
    return 0


def _cells(away: Tensor, reach: float, sizes: tuple) -> Tensor:
    """The cell of the grid round its centre that each neighbour is in."""
    reach = torch.tensor(float(reach), dtype=away.dtype)
    width = reach * 2 / torch.tensor(sizes, dtype=away.dtype)
    x, y, z = ((away + reach) / width).floor().long().unbind(1)
    return ((x * sizes[1] + y) * sizes[2] + z).clamp(0, sizes[0] * sizes[1] * sizes[2] - 1)


def _first_of_each(group: Tensor, groups: int) -> Tensor:
    """Which element is the first of its group."""
    number = torch.arange(len(group))
    return torch.full((groups,), len(group)).scatter_reduce(0, group, number, "amin")[group] == number


def vector_pool_wrapper(support_xyz, xyz_batch_cnt, support_features, new_xyz, new_xyz_batch_cnt, new_features, new_local_xyz,
                        point_cnt_of_grid, grouped_idxs, num_grid_x, num_grid_y, num_grid_z, max_neighbour_distance, use_xyz,
                        num_max_sum_points, nsample, neighbor_type, pooling_type):
    """Adds features and places to the cells' sums, or takes each cell's first (pooling_type 1), counts points, and tells the
    point, the centre and the cell of each; returns how many there are, of which grouped_idxs has the first."""
    xyz, new_xyz, row, point = _pairs(support_xyz, xyz_batch_cnt, new_xyz, new_xyz_batch_cnt, max_neighbour_distance,
                                      neighbor_type)
    m, cells = len(new_xyz), num_grid_x * num_grid_y * num_grid_z
    cell = _cells(xyz[point] - new_xyz[row], max_neighbour_distance, (num_grid_x, num_grid_y, num_grid_z))
    kept = _first_of_each(row * cells + cell, m * cells) if pooling_type == 1 else slice(None)
    row, point, cell = row[kept], point[kept], cell[kept]
    if nsample > 0:
        kept = _near.first(row, m, nsample)
        row, point, cell = row[kept], point[kept], cell[kept]
    features = support_features.detach()
    width = new_features.shape[1] // cells
    folded = features.reshape(len(features), features.shape[1] // width, width)
    folded = folded[:, -1] if pooling_type == 1 else folded.sum(1)
    group = row * cells + cell
    sums = _stacked.sums(folded, point, group, m * cells).reshape(m, cells * width)
    counts = torch.bincount(group, minlength=m * cells).int().reshape(m, cells)
    writes = [adding("new_features", new_features, sums), adding("point_cnt_of_grid", point_cnt_of_grid, counts)]
    if use_xyz:
        away = _stacked.sums(xyz[point] - new_xyz[row], torch.arange(len(row)), group, m * cells)
        writes.append(adding("new_local_xyz", new_local_xyz, away.reshape(m, cells * 3)))
    writes.append(filling_first("grouped_idxs", grouped_idxs, torch.stack([point, row, cell], 1)[:num_max_sum_points].int()))
    write(*writes)
    return len(row)


def vector_pool_grad_wrapper(grad_new_features, point_cnt_of_grid, grouped_idxs, grad_support_features):
    """Adds the gradient of the features."""
    cells = point_cnt_of_grid.shape[1]
    point, row, cell = grouped_idxs.long().unbind(1)
    group = row * cells + cell
    weight = 1 / point_cnt_of_grid.flatten()[group].clamp(min=1).to(grad_new_features.dtype)
    grad = grad_new_features.reshape(-1, grad_new_features.shape[1] // cells)
    folded = _stacked.sums(grad, group, point, len(grad_support_features), weight)
    times = grad_support_features.shape[1] // folded.shape[1]
    fill("grad_support_features", grad_support_features, grad_support_features + folded.repeat(1, times))
    return 1
