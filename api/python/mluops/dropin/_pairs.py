"""Attention over pairs of points, as Stratified Transformer's extension has it: each function for some pairs at a time, and
its gradients by autograd."""

from typing import Callable, Iterator, Sequence

import torch
from torch import Tensor

from . import _stacked


def targets(offsets: Tensor) -> Tensor:
    """The point that each pair belongs to, from where each point's pairs begin and end."""
    counts = torch.diff(offsets.long())
    return torch.arange(len(counts)).repeat_interleave(counts)


def of_table(table: Tensor, places: Tensor) -> Tensor:
    """The sum over three axes of table[places[m, a], ..., a]: T [M, H, D]."""
    rows = table.movedim(3, 0).reshape(3 * len(table), -1)
    bags = torch.nn.functional.embedding_bag(places + torch.arange(3) * len(table), rows, mode="sum")
    return bags.reshape(len(places), *table.shape[1:3])


def relation(q: Tensor, k: Tensor, i: Tensor, j: Tensor) -> Tensor:
    return (q[i] * k[j]).sum(2)


def relation_to_table(q: Tensor, table: Tensor, i: Tensor, places: Tensor) -> Tensor:
    return (q[i] * of_table(table, places)).sum(2)


def relation_to_tables(q: Tensor, k: Tensor, table_q: Tensor, table_k: Tensor, i: Tensor, j: Tensor,
                       places: Tensor) -> Tensor:
    return relation_to_table(q, table_q, i, places) + relation_to_table(k, table_k, j, places)


def _blocks(pairs: int, width: int) -> Iterator[slice]:
    return _stacked.blocks(pairs, width)


def each_pair(function: Callable, tensors: Sequence[Tensor], numbers: Sequence[Tensor], pairs: int) -> Tensor:
    """The function's values, one for each pair."""
    width = tensors[0].shape[1] * tensors[0].shape[2]
    made = [function(*tensors, *(each[rows] for each in numbers)) for rows in _blocks(pairs, width)]
    return torch.cat(made) if made else tensors[0].new_zeros(0, tensors[0].shape[1])


def gradients(function: Callable, tensors: Sequence[Tensor], numbers: Sequence[Tensor], grad: Tensor) -> list:
    """The gradients of the tensors, given those of the values of each pair."""
    sums = [torch.zeros_like(each) for each in tensors]
    width = tensors[-1].shape[1] * tensors[-1].shape[2]
    for rows in _blocks(len(grad), width):
        inputs = [each.detach().requires_grad_() for each in tensors]
        with torch.enable_grad():
            made = function(*inputs, *(each[rows] for each in numbers))
        for total, found in zip(sums, torch.autograd.grad(made, inputs, grad[rows])):
            total.add_(found)
    return sums


def summed(attn: Tensor, values: Callable, index0: Tensor, points: int) -> Tensor:
    """out[n] = sum over the pairs m of point n of attn[m, h] * values(pairs)[m, h, d]."""
    out = attn.new_zeros(points, attn.shape[1], values(slice(0, 0)).shape[2])
    for rows in _blocks(len(attn), out.shape[1] * out.shape[2]):
        out.index_add_(0, index0[rows], attn[rows, :, None] * values(rows))
    return out


def gradients_with_table(grad: Tensor, attn: Tensor, v: Tensor, table: Tensor, i: Tensor, j: Tensor, places: Tensor) -> tuple:
    """Those of attn, v and table, where out[i[m]] is the sum of attn[m] * (v[j[m]] + of_table(table, places)[m])."""
    of_attn = each_pair(relation, (grad, v), (i, j), len(attn))
    of_attn = of_attn + each_pair(relation_to_table, (grad, table), (i, places), len(attn))
    of_v = summed(attn, lambda rows: grad[i[rows]], j, len(v))
    of_table = [summed(attn, lambda rows: grad[i[rows]], places[:, axis], len(table)) for axis in range(3)]
    return of_attn, of_v, torch.stack(of_table, 3)
