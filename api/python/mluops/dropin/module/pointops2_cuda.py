"""pointops2_cuda of Stratified Transformer and its descendants: pointops_cuda's functions, and attention over pairs of
points. Heads are the second axis, [N, H, D]; tables of places are [L, H, D, 3]."""

from ...torch._buffers import add_all, fill
from ...torch._tensors import floats
from .. import _pairs
from . import pointops_cuda as _pointops
from .pointops_cuda import *  # noqa: F403

PACKAGE = "pointops"
NAMES = ("pointops2_cuda", "*.pointops2_cuda")

_WAYS = [f"{way}_cuda{version}" for way in ("forward", "backward") for version in ("", "_v2")]
__all__ = sorted([*_pointops.__all__, *(f"{name}_{way}" for name in ("attention_step1", "attention_step2", "dot_prod_with_idx",
                                                                   "attention_step2_with_rel_pos_value") for way in _WAYS),
                  "dot_prod_with_idx_forward_cuda_v3", "dot_prod_with_idx_backward_cuda_v3"])


def attention_step1_forward_cuda(n, m, h, c, q, k, index0, index1, output):
    """output[m, h] = sum over d of q[index0[m], h, d] * k[index1[m], h, d]."""
    q, k = floats(q=q.detach(), k=k.detach())
    fill("output", output, _pairs.each_pair(_pairs.relation, (q, k), (index0.long(), index1.long()), len(index1)))


def attention_step1_backward_cuda(n, m, h, c, grad_out, index0, index1, q, k, grad_q, grad_k):
    q, k, grad = floats(q=q, k=k, grad_out=grad_out)
    add_all(_pairs.gradients(_pairs.relation, (q, k), (index0.long(), index1.long()), grad), grad_q=grad_q, grad_k=grad_k)


def attention_step1_forward_cuda_v2(n, m, h, c, n_max, q, k, index0_offsets, index1, output):
    attention_step1_forward_cuda(n, m, h, c, q, k, _pairs.targets(index0_offsets), index1, output)


def attention_step1_backward_cuda_v2(n, m, h, c, n_max, grad_out, index0_offsets, index1, q, k, grad_q, grad_k):
    attention_step1_backward_cuda(n, m, h, c, grad_out, _pairs.targets(index0_offsets), index1, q, k, grad_q, grad_k)


def attention_step2_forward_cuda(n, m, h, c, attn, v, index0, index1, output):
    """output[index0[m], h, d] is the sum of attn[m, h] * v[index1[m], h, d]."""
    attn, v = floats(attn=attn.detach(), v=v.detach())
    index1 = index1.long()
    fill("output", output, _pairs.summed(attn, lambda rows: v[index1[rows]], index0.long(), len(output)))


def attention_step2_backward_cuda(n, m, h, c, grad_out, index0, index1, attn, v, grad_attn, grad_v):
    grad, attn, v = floats(grad_out=grad_out, attn=attn, v=v)
    of_attn = _pairs.each_pair(_pairs.relation, (grad, v), (index0.long(), index1.long()), len(attn))
    index0 = index0.long()
    of_v = _pairs.summed(attn, lambda rows: grad[index0[rows]], index1.long(), len(v))
    add_all((of_attn, of_v), grad_attn=grad_attn, grad_v=grad_v)


def attention_step2_forward_cuda_v2(n, m, h, c, n_max, attn, v, index0_offsets, index1, output):
    attention_step2_forward_cuda(n, m, h, c, attn, v, _pairs.targets(index0_offsets), index1, output)


def attention_step2_backward_cuda_v2(n, m, h, c, n_max, grad_out, index0_offsets, index1, attn, v, grad_attn, grad_v):
    attention_step2_backward_cuda(n, m, h, c, grad_out, _pairs.targets(index0_offsets), index1, attn, v, grad_attn, grad_v)


def dot_prod_with_idx_forward_cuda(n, m, h, hdim, q, index, table, rel_idx, output):
    """output[m, h] = sum over d of q[index[m], h, d] * (the sum over three axes of table[rel_idx[m, a], h, d, a])."""
    q, table = floats(q=q.detach(), table=table.detach())
    fill("output", output, _pairs.each_pair(_pairs.relation_to_table, (q, table), (index.long(), rel_idx.long()),
                                            len(index)))


def dot_prod_with_idx_backward_cuda(n, m, h, hdim, grad_out, q, index, table, rel_idx, grad_q, grad_table):
    grad, q, table = floats(grad_out=grad_out, q=q, table=table)
    add_all(_pairs.gradients(_pairs.relation_to_table, (q, table), (index.long(), rel_idx.long()), grad), grad_q=grad_q,
            grad_table=grad_table)


def _both(q, index_q, k, index_k, table_q, table_k, rel_idx, output):
    tensors = floats(q=q.detach(), k=k.detach(), table_q=table_q.detach(), table_k=table_k.detach())
    numbers = index_q.long(), index_k.long(), rel_idx.long()
    fill("output", output, _pairs.each_pair(_pairs.relation_to_tables, tensors, numbers, len(index_k)))


def _both_gradients(grad_out, q, index_q, k, index_k, table_q, table_k, rel_idx, grad_q, grad_k, grad_table_q,
                    grad_table_k):
    *tensors, grad = floats(q=q, k=k, table_q=table_q, table_k=table_k, grad_out=grad_out)
    numbers = index_q.long(), index_k.long(), rel_idx.long()
    add_all(_pairs.gradients(_pairs.relation_to_tables, tensors, numbers, grad), grad_q=grad_q, grad_k=grad_k,
            grad_table_q=grad_table_q, grad_table_k=grad_table_k)


def dot_prod_with_idx_forward_cuda_v2(n, m, h, hdim, n_max, t, q, index_q, k, index_k, table_q, table_k, rel_idx,
                                      rel_idx_offsets, sort_indices, output):
    _both(q, index_q, k, index_k, table_q, table_k, rel_idx, output)


def dot_prod_with_idx_backward_cuda_v2(n, m, h, hdim, n_max, t, grad_out, q, index_q, k, index_k, table_q, table_k, rel_idx,
                                       rel_idx_offsets, sort_indices, grad_q, grad_k, grad_table_q, grad_table_k):
    _both_gradients(grad_out, q, index_q, k, index_k, table_q, table_k, rel_idx, grad_q, grad_k, grad_table_q, grad_table_k)


def dot_prod_with_idx_forward_cuda_v3(n, m, h, hdim, n_max, q, index_q_offsets, k, index_k, table_q, table_k, rel_idx,
                                      output):
    _both(q, _pairs.targets(index_q_offsets), k, index_k, table_q, table_k, rel_idx, output)


def dot_prod_with_idx_backward_cuda_v3(n, m, h, hdim, n_max, grad_out, q, index_q_offsets, k, index_k, table_q, table_k,
                                       rel_idx, grad_q, grad_k, grad_table_q, grad_table_k):
    _both_gradients(grad_out, q, _pairs.targets(index_q_offsets), k, index_k, table_q, table_k, rel_idx, grad_q, grad_k,
                    grad_table_q, grad_table_k)


def attention_step2_with_rel_pos_value_forward_cuda(n, m, h, hdim, attn, v, index0, index1, table, rel_idx, output):
    """attention_step2 with values v[index1[m]] and the table's sums of their places."""
    attn, v, table = floats(attn=attn.detach(), v=v.detach(), table=table.detach())
    index1, places = index1.long(), rel_idx.long()
    found = _pairs.summed(attn, lambda rows: v[index1[rows]] + _pairs.of_table(table, places[rows]), index0.long(), len(output))
    fill("output", output, found)


def attention_step2_with_rel_pos_value_backward_cuda(n, m, h, hdim, grad_out, index0, index1, attn, v, table, rel_idx,
                                                     grad_attn, grad_v, grad_table):
    grad, attn, v, table = floats(grad_out=grad_out, attn=attn, v=v, table=table)
    numbers = index0.long(), index1.long(), rel_idx.long()
    add_all(_pairs.gradients_with_table(grad, attn, v, table, *numbers), grad_attn=grad_attn, grad_v=grad_v, grad_table=grad_table)


def attention_step2_with_rel_pos_value_forward_cuda_v2(n, m, h, hdim, n_max, attn, v, index0_offsets, index1, table, rel_idx,
                                                       output):
    attention_step2_with_rel_pos_value_forward_cuda(n, m, h, hdim, attn, v, _pairs.targets(index0_offsets), index1, table,
                                                    rel_idx, output)


def attention_step2_with_rel_pos_value_backward_cuda_v2(n, m, h, hdim, n_max, grad_out, index0_offsets, index1, attn, v,
                                                        table, rel_idx, grad_attn, grad_v, grad_table):
    attention_step2_with_rel_pos_value_backward_cuda(n, m, h, hdim, grad_out, _pairs.targets(index0_offsets), index1, attn, v,
                                                     table, rel_idx, grad_attn, grad_v, grad_table)
