"""votr_ops_cuda of Voxel Transformer: tables of voxels, and the voxels that each attends to."""

import torch

from ...torch._buffers import add, adding, fill, is_tensor, room, write
from ...torch._stacks import pairs_of_samples
from .. import _stacked, _voxel_tables

__all__ = ["build_mapping_with_hash_wrapper", "build_mapping_with_tensor_wrapper", "downsample_with_hash_wrapper",
           "downsample_with_tensor_wrapper", "group_features_grad_wrapper", "group_features_wrapper",
           "sparse_local_attention_with_hash_wrapper", "sparse_local_attention_with_tensor_wrapper",
           "sparse_strided_attention_with_hash_wrapper", "sparse_strided_attention_with_tensor_wrapper",
           "subm_local_attention_with_hash_wrapper", "subm_local_attention_with_tensor_wrapper",
           "subm_strided_attention_with_hash_wrapper", "subm_strided_attention_with_tensor_wrapper"]

PACKAGE = "pcdet"
NAMES = ("votr_ops_cuda", "*.votr_ops_cuda")


# ---- tables


def _mapped(fill_table, own, sizes, v_indices, v_bs_cnt, table):
    """The number of each voxel within its sample at its place; voxels outside of the grid have none."""
    batch, place = v_indices[:, 0].long(), v_indices[:, 1:].flip(1).long()
    kept = _voxel_tables.inside(place, sizes)
    number = _voxel_tables.numbers(batch, v_bs_cnt)
    fill_table(table, (len(v_bs_cnt), *own), batch[kept], _voxel_tables.key(place, sizes)[kept], number[kept])
    return 1


def build_mapping_with_tensor_wrapper(x_max, y_max, z_max, num_voxels, v_indices, v_bs_cnt, xyz_to_vidx):
    sizes = x_max, y_max, z_max
    return _mapped(_voxel_tables.fill_table, sizes, sizes, v_indices, v_bs_cnt, xyz_to_vidx)


def build_mapping_with_hash_wrapper(x_max, y_max, z_max, num_voxels, hash_size, v_indices, v_bs_cnt, xyz_to_vidx):
    return _mapped(_voxel_tables.fill_keys, (hash_size, 2), (x_max, y_max, z_max), v_indices, v_bs_cnt, xyz_to_vidx)


def _first_of_each(batch, keys):
    """The first element of each pair, in their order."""
    pair = torch.stack([batch, keys], 1)
    _, of_pair = pair.unique(dim=0, return_inverse=True)
    number = torch.arange(len(of_pair))
    groups = int(of_pair.max()) + 1 if len(of_pair) else 0
    return torch.full((groups,), len(of_pair)).scatter_reduce(0, of_pair, number, "amin").sort()[0]


def _downsampled(fill_table, own, sizes, strides, most, v_indices, ds_v_indices, table, vcount):
    """The coarse voxels of each sample, in the order of their first voxels."""
    batch, place = v_indices[:, 0].long(), v_indices[:, 1:].flip(1).long() // torch.tensor(strides)
    kept = _voxel_tables.inside(place, sizes)
    batch, place = batch[kept], place[kept]
    first = _first_of_each(batch, _voxel_tables.key(place, sizes))
    batch, place = batch[first], place[first]
    by_sample = batch.sort(stable=True)[1]
    batch, place = batch[by_sample], place[by_sample]
    counts = torch.bincount(batch, minlength=len(vcount))
    if len(batch) and int(counts.max()) > most:
        raise ValueError(f"num_ds_voxels: wanted room for {int(counts.max())} voxels, got {most}")
    number = _voxel_tables.numbers(batch, counts)
    ds_v_indices = room("ds_v_indices", ds_v_indices, (len(counts), most, 3), torch.int32)
    count = adding("vcount", vcount, counts.int())
    fill_table(table, (len(counts), *own), batch, _voxel_tables.key(place, sizes), number)
    ds_v_indices[batch, number] = place.flip(1).to(ds_v_indices.dtype)
    write(count)
    return 1


def downsample_with_tensor_wrapper(x_max, y_max, z_max, x_stride, y_stride, z_stride, num_voxels, num_ds_voxels, v_indices,
                                   ds_v_indices, xyz_to_vidx, vcount):
    sizes = x_max, y_max, z_max
    return _downsampled(_voxel_tables.fill_table, sizes, sizes, (x_stride, y_stride, z_stride), num_ds_voxels,
                        v_indices, ds_v_indices, xyz_to_vidx, vcount)


def downsample_with_hash_wrapper(x_max, y_max, z_max, x_stride, y_stride, z_stride, num_voxels, num_ds_voxels, hash_size,
                                 v_indices, ds_v_indices, xyz_to_vidx, vcount):
    return _downsampled(_voxel_tables.fill_keys, (hash_size, 2), (x_max, y_max, z_max),
                        (x_stride, y_stride, z_stride), num_ds_voxels, v_indices, ds_v_indices, xyz_to_vidx, vcount)


# ---- whom a voxel attends to. After sizes and strides: voxels, width, the reach or how many ranges, a hash's size if there
# is one, what is filled, voxels, table, ranges if there are any.


def _attention(hashed, strided, strides_given):
    lookup = _voxel_tables.keyed_lookup if hashed else _voxel_tables.dense_lookup

    def call(*args):
        sizes = args[:3]
        strides, rest = (args[3:6], args[6:]) if strides_given else ((1, 1, 1), args[3:])
        out, voxels, table = rest[3 + hashed:6 + hashed]
        if strided:
            steps = _voxel_tables.strided_steps(is_tensor("range_spec", rest[6 + hashed]), strides)
        else:
            steps = _voxel_tables.near_steps(rest[2], strides)
        _voxel_tables.first_at_steps(out, rest[1], lookup(table), voxels, sizes, strides, steps)
        return 1

    return call


subm_local_attention_with_tensor_wrapper = _attention(False, False, False)
subm_local_attention_with_hash_wrapper = _attention(True, False, False)
subm_strided_attention_with_tensor_wrapper = _attention(False, True, False)
subm_strided_attention_with_hash_wrapper = _attention(True, True, False)
sparse_local_attention_with_tensor_wrapper = _attention(False, False, True)
sparse_local_attention_with_hash_wrapper = _attention(True, False, True)
sparse_strided_attention_with_tensor_wrapper = _attention(False, True, True)
sparse_strided_attention_with_hash_wrapper = _attention(True, True, True)


# ---- features of voxels


def _rows(features_batch_cnt, idx, idx_batch_cnt, points):
    """The row of all features that each index of idx [M, S] means; -1 for none."""
    rows = idx.long().clone()
    for queries, samples in pairs_of_samples(("idx_batch_cnt", idx_batch_cnt, len(idx)),
                                             ("features_batch_cnt", features_batch_cnt, points)):
        rows[queries] = torch.where(rows[queries] < 0, -1, rows[queries] + samples.start)
    return rows


def group_features_wrapper(b, m, c, nsample, features, features_batch_cnt, idx, idx_batch_cnt, out):
    """T [M, C, S]; as it was where an index is negative."""
    rows = _rows(features_batch_cnt, idx, idx_batch_cnt, len(features))
    out = room("out", out, (len(idx), features.shape[1], idx.shape[1]), features.dtype)
    found = features.detach()[rows.clamp(min=0)].transpose(1, 2) if len(features) else out
    fill("out", out, torch.where((rows >= 0)[:, None], found, out))
    return 1


def group_features_grad_wrapper(b, m, c, n, nsample, grad_out, idx, idx_batch_cnt, features_batch_cnt, grad_features):
    rows = _rows(features_batch_cnt, idx, idx_batch_cnt, n).flatten()
    table = grad_out.detach().transpose(1, 2).reshape(-1, c)
    there = (rows >= 0).nonzero()[:, 0]
    add("grad_features", grad_features, _stacked.sums(table, there, rows[there], n))
    return 1
