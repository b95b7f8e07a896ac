"""attention_cuda of MTR and EQNet: attention of queries [N, H, D] over L keys each, whose indices count from the first key of
their sample; -1 is no key."""

import torch

from ...torch._buffers import adding, filling, write
from ...torch._tensors import floats
from .. import _stacked

__all__ = [f"attention_{what}_computation{grad}_wrapper{version}" for what in ("value", "weight") for grad in ("", "_grad")
           for version in ("", "_v2")]

PACKAGE = "mtr"
NAMES = ("attention_cuda", "*.attention_cuda")


def _keys(key_batch_cnt, index_pair_batch, index_pair):
    """Rows of the keys [N, L], 0 for none, and which are keys."""
    counts = key_batch_cnt.long()
    first = (counts.cumsum(0) - counts)[index_pair_batch.long()]
    return (index_pair.long() + first[:, None]).masked_fill(index_pair < 0, 0), (index_pair >= 0)[:, :, None]


def _blocks(index, features):
    return _stacked.blocks(len(index), index.shape[1] * features.shape[1] * features.shape[2])


def _products(rows, keys, index, is_key):
    """[N, L, H]: each query's products with its keys."""
    made = [torch.einsum("nhd,nlhd->nlh", rows[block], keys[index[block]]) for block in _blocks(index, keys)]
    return (torch.cat(made) if made else rows.new_zeros(*index.shape, rows.shape[1])) * is_key


def _sums(weights, keys, index):
    """[N, H, D]: each query's weighted keys."""
    made = [torch.einsum("nlh,nlhd->nhd", weights[block], keys[index[block]]) for block in _blocks(index, keys)]
    return torch.cat(made) if made else weights.new_zeros(0, *keys.shape[1:])


def _to_keys(weights, rows, index, count):
    made = rows.new_zeros(count, rows.shape[1] * rows.shape[2])
    for block in _blocks(index, rows):
        values = weights[block, :, :, None] * rows[block, None]
        made.index_add_(0, index[block].flatten(), values.flatten(0, 1).flatten(1))
    return made.view(count, *rows.shape[1:])


def attention_weight_computation_wrapper(b, total_query_num, local_size, total_key_num, nhead, hdim, query_batch_cnt,
                                         key_batch_cnt, index_pair_batch, index_pair, query_features, key_features, output):
    queries, keys = floats(query_features=query_features.detach(), key_features=key_features.detach())
    index, is_key = _keys(key_batch_cnt, index_pair_batch, index_pair)
    write(filling("output", output, _products(queries, keys, index, is_key)))


def attention_weight_computation_grad_wrapper(b, total_query_num, local_size, total_key_num, nhead, hdim, query_batch_cnt,
                                              key_batch_cnt, index_pair_batch, index_pair, query_features, key_features,
                                              grad_out, grad_query_features, grad_key_features):
    """Added to what there is."""
    queries, keys, grad = floats(query_features=query_features, key_features=key_features, grad_out=grad_out)
    index, is_key = _keys(key_batch_cnt, index_pair_batch, index_pair)
    grad = grad * is_key
    write(adding("grad_query_features", grad_query_features, _sums(grad, keys, index)),
          adding("grad_key_features", grad_key_features, _to_keys(grad, queries, index, len(keys))))


def attention_value_computation_wrapper(b, total_query_num, local_size, total_key_num, nhead, hdim, query_batch_cnt,
                                        key_batch_cnt, index_pair_batch, index_pair, attn_weight, value_features, output):
    weights, values = floats(attn_weight=attn_weight.detach(), value_features=value_features.detach())
    index, is_key = _keys(key_batch_cnt, index_pair_batch, index_pair)
    write(filling("output", output, _sums(weights * is_key, values, index)))


def attention_value_computation_grad_wrapper(b, total_query_num, local_size, total_key_num, nhead, hdim, query_batch_cnt,
                                             key_batch_cnt, index_pair_batch, index_pair, attn_weight, value_features, grad_out,
                                             grad_attn_weight, grad_value_features):
    """Added to what there is."""
    weights, values, grad = floats(attn_weight=attn_weight, value_features=value_features, grad_out=grad_out)
    index, is_key = _keys(key_batch_cnt, index_pair_batch, index_pair)
    write(adding("grad_attn_weight", grad_attn_weight, _products(grad, values, index, is_key)),
          adding("grad_value_features", grad_value_features, _to_keys(weights * is_key, grad, index, len(values))))


attention_weight_computation_wrapper_v2 = attention_weight_computation_wrapper
attention_weight_computation_grad_wrapper_v2 = attention_weight_computation_grad_wrapper
attention_value_computation_wrapper_v2 = attention_value_computation_wrapper
attention_value_computation_grad_wrapper_v2 = attention_value_computation_grad_wrapper
