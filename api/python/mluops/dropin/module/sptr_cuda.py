"""sptr_cuda of SphereFormer and its descendants: attention over pairs of voxels in windows. Heads are the second axis,
[N, H, D], of what is not transposed; tables of places are [L, 3, H, D]."""

import torch

from ...torch._buffers import adding, fill, fill_all, filling, write
from ...torch._tensors import floats
from .. import _pairs

__all__ = ["attention_step1_backward_cuda", "attention_step1_forward_cuda", "attention_step2_backward_cuda",
           "attention_step2_forward_cuda", "attention_step2_with_rel_pos_value_backward_cuda",
           "attention_step2_with_rel_pos_value_forward_cuda", "dot_prod_with_idx_all_forward_cuda",
           "dot_prod_with_idx_backward_cuda", "dot_prod_with_idx_forward_cuda", "precompute_all_cuda"]

PACKAGE = "sptr"
NAMES = ("sptr_cuda", "*.sptr_cuda")


def _rows(transposed):
    """T [H, D, N] -> [N, H, D]."""
    return transposed.permute(2, 0, 1)


def _table(table):
    """T [L, 3, H, D] -> [L, H, D, 3]."""
    return table.permute(0, 2, 3, 1)


def _table_of(transposed):
    """T [H, D, 3, L] -> [L, H, D, 3]."""
    return transposed.permute(3, 0, 1, 2)


def precompute_all_cuda(N, n, n_max, counts, offsets, sq_offsets, index0_offsets, index1_offsets, index0, index1):
    """All pairs of each window's voxels, the first changes slowest; for each voxel where its pairs begin as first and as second."""
    sizes, window = counts.long(), torch.arange(len(counts)).repeat_interleave(counts.long())
    start, pairs = offsets.long()[window], sq_offsets.long()[window]
    within = torch.arange(len(window)) - start
    of_pair = torch.arange(len(sizes)).repeat_interleave(sizes ** 2)
    place = torch.arange(len(of_pair)) - sq_offsets.long()[of_pair]
    size, first = sizes[of_pair], offsets.long()[of_pair]
    fill_all((pairs + sizes[window] * within, pairs + within, first + torch.div(place, size, rounding_mode="floor"),
              first + place % size),
             index0_offsets=index0_offsets, index1_offsets=index1_offsets, index0=index0, index1=index1)


def attention_step1_forward_cuda(N_q, N_k, M, h, hdim, n_max, q, k, index0, index1, output):
    """output[h, m] = sum over d of q[h, d, index0[m]] * k[h, d, index1[m]]."""
    q, k = floats(q=_rows(q.detach()), k=_rows(k.detach()))
    fill("output", output, _pairs.each_pair(_pairs.relation, (q, k), (index0.long(), index1.long()), len(index1)).t())


def attention_step1_backward_cuda(N, M, h, hdim, n_max, grad_out, index0, index0_offsets, index1, index1_offsets, q, k, grad_q,
                                  grad_k):
    q, k, grad = floats(q=q, k=k, grad_out=grad_out)
    fill_all(_pairs.gradients(_pairs.relation, (q, k), (index0.long(), index1.long()), grad), grad_q=grad_q, grad_k=grad_k)


def attention_step2_forward_cuda(N, M, h, hdim, n_max, attn, v, index0_offsets, index1, output):
    """output[n, h, d] is the sum over the pairs m of voxel n of attn[m, h] * v[index1[m], h, d]."""
    attn, v = floats(attn=attn.detach(), v=v.detach())
    index1 = index1.long()
    fill("output", output, _pairs.summed(attn, lambda rows: v[index1[rows]], _pairs.targets(index0_offsets), len(output)))


def attention_step2_backward_cuda(N, M, h, hdim, n_max, grad_out, index0, index0_offsets, index1, index1_offsets, attn, v,
                                  grad_attn, grad_v):
    grad, attn, v = floats(grad_out=grad_out, attn=attn, v=_rows(v))
    index0, index1 = index0.long(), index1.long()
    of_attn = _pairs.each_pair(_pairs.relation, (grad, v), (index0, index1), len(attn))
    fill_all((of_attn, _pairs.summed(attn, lambda rows: grad[index0[rows]], index1, len(v))), grad_attn=grad_attn, grad_v=grad_v)


def _related(function, q, index_q, k, index_k, table_q, table_k, rel_idx, output):
    tensors = floats(q=_rows(q.detach()), k=_rows(k.detach()), table_q=_table_of(table_q.detach()),
                     table_k=_table_of(table_k.detach()))
    numbers = index_q.long(), index_k.long(), rel_idx.t().long()
    fill("output", output, _pairs.each_pair(function, tensors, numbers, len(index_k)).t())


def dot_prod_with_idx_forward_cuda(N, M, h, hdim, n_max, L, q, index_q, index_q_offsets, k, index_k, table_q, table_k, rel_idx,
                                   output):
    """output[h, m]: each of a pair's voxels times its table at the pair's place."""
    _related(_pairs.relation_to_tables, q, index_q, k, index_k, table_q, table_k, rel_idx, output)


def dot_prod_with_idx_all_forward_cuda(N, M, h, hdim, n_max, L, q, index_q, index_q_offsets, k, index_k, table_q, table_k,
                                       rel_idx, output):
    """The same, and the product of both."""
    def both(q, k, table_q, table_k, i, j, places):
        return _pairs.relation(q, k, i, j) + _pairs.relation_to_tables(q, k, table_q, table_k, i, j, places)

    _related(both, q, index_q, k, index_k, table_q, table_k, rel_idx, output)


def dot_prod_with_idx_backward_cuda(N, M, h, hdim, n_max, L, grad_out, q, index_q_offsets, k, index_k_offsets, index_k, table_q,
                                    table_k, rel_idx, grad_q, grad_k, grad_table_q, grad_table_k):
    """Fills grad_q and grad_k, adds to grad_table_q and grad_table_k."""
    *tensors, grad = floats(q=q, k=k, table_q=_table(table_q), table_k=_table(table_k), grad_out=grad_out)
    numbers = _pairs.targets(index_q_offsets), index_k.long(), rel_idx.long()
    of_q, of_k, *tables = _pairs.gradients(_pairs.relation_to_tables, tensors, numbers, grad)
    of_table_q, of_table_k = (each.permute(0, 3, 1, 2) for each in tables)
    write(filling("grad_q", grad_q, of_q), filling("grad_k", grad_k, of_k),
          adding("grad_table_q", grad_table_q, of_table_q), adding("grad_table_k", grad_table_k, of_table_k))


def attention_step2_with_rel_pos_value_forward_cuda(N, M, h, hdim, n_max, attn, v, index0_offsets, index1, table, rel_idx,
                                                    output):
    """attention_step2 with values v[index1[m]] and the table's sums of their places."""
    attn, v, table = floats(attn=attn.detach(), v=v.detach(), table=_table(table.detach()))
    index1, places = index1.long(), rel_idx.long()
    fill("output", output, _pairs.summed(attn, lambda rows: v[index1[rows]] + _pairs.of_table(table, places[rows]),
                                         _pairs.targets(index0_offsets), len(output)))


def attention_step2_with_rel_pos_value_backward_cuda(N, M, h, hdim, L, n_max, grad_out, index0, index0_offsets, index1,
                                                     index1_offsets, attn, v, table, rel_idx, grad_attn, grad_v, grad_table):
    """Fills grad_attn and grad_v, adds to grad_table."""
    grad, attn, v, table = floats(grad_out=grad_out, attn=attn, v=_rows(v), table=_table_of(table))
    numbers = index0.long(), index1.long(), rel_idx.t().long()
    of_attn, of_v, of_table = _pairs.gradients_with_table(grad, attn, v, table, *numbers)
    write(filling("grad_attn", grad_attn, of_attn), filling("grad_v", grad_v, of_v),
          adding("grad_table", grad_table, of_table.permute(0, 3, 1, 2)))
