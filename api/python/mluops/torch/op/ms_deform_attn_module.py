"""The attention layer of Deformable DETR: projections and sampling points around multi_scale_deformable_attn."""

import math
from typing import Any, Optional

import torch
from torch import Tensor, nn

from .._blocks import bad_param
from .ms_deform_attn import multi_scale_deformable_attn

__all__ = ["MultiScaleDeformableAttention"]


class MultiScaleDeformableAttention(nn.Module):
    """Attention in which each query samples a few points of several maps. A state dict of mmcv's module of this name loads into it.

    Args:
        embed_dims: channels E of queries and keys.
        num_heads: heads M; divides E and the channels of the projected values.
        num_levels, num_points: maps L, and points of each that a query and head sample.
        im2col_step, norm_cfg, init_cfg: mmcv's; without effect.
        dropout: of the output, before identity is added.
        batch_first: tensors are [B, Q, E] instead of [Q, B, E].
        value_proj_ratio: channels of the projected values, as a multiple of E.

    Source: Zhu et al., "Deformable DETR", ICLR 2021.
    """

    def __init__(self, embed_dims: int = 256, num_heads: int = 8, num_levels: int = 4, num_points: int = 4, im2col_step: int = 64,
                 dropout: float = 0.1, batch_first: bool = False, norm_cfg: Any = None, init_cfg: Any = None,
                 value_proj_ratio: float = 1.0) -> None:
        super().__init__()
        if embed_dims % num_heads:
            raise bad_param("embed_dims", f"a multiple of num_heads, {num_heads}", embed_dims)
        values = int(embed_dims * value_proj_ratio)
        if values % num_heads:
            raise bad_param("value_proj_ratio", f"one that gives a multiple of num_heads, {num_heads}, channels", value_proj_ratio)
        self.embed_dims, self.num_heads, self.num_levels, self.num_points = embed_dims, num_heads, num_levels, num_points
        self.batch_first, self.im2col_step = batch_first, im2col_step
        self.dropout = nn.Dropout(dropout)
        samples = num_heads * num_levels * num_points
        self.sampling_offsets = nn.Linear(embed_dims, samples * 2)
        self.attention_weights = nn.Linear(embed_dims, samples)
        self.value_proj = nn.Linear(embed_dims, values)
        self.output_proj = nn.Linear(values, embed_dims)
        self.init_weights()

    def init_weights(self) -> None:
        """At first each head looks in a direction of its own, its points one pixel apart, with equal weights."""
        angles = torch.arange(self.num_heads, dtype=torch.float32) * (2 * math.pi / self.num_heads)
        direction = torch.stack((angles.cos(), angles.sin()), -1)
        direction = direction / direction.abs().amax(-1, keepdim=True)  # on the border of a square
        distance = torch.arange(1, self.num_points + 1, dtype=torch.float32)
        offsets = direction[:, None, None, :] * distance[:, None]  # [M, 1, P, 2]
        with torch.no_grad():
            for layer in (self.sampling_offsets, self.attention_weights):
                layer.weight.zero_()
            self.sampling_offsets.bias.copy_(offsets.expand(-1, self.num_levels, -1, -1).reshape(-1))
            self.attention_weights.bias.zero_()
            for layer in (self.value_proj, self.output_proj):
                nn.init.xavier_uniform_(layer.weight)
                layer.bias.zero_()

    def forward(self, query: Tensor, key: Optional[Tensor] = None, value: Optional[Tensor] = None,
                identity: Optional[Tensor] = None, query_pos: Optional[Tensor] = None, key_padding_mask: Optional[Tensor] = None,
                reference_points: Optional[Tensor] = None, spatial_shapes: Optional[Tensor] = None,
                level_start_index: Optional[Tensor] = None, **kwargs: Any) -> Tensor:
        """Attends and adds `identity`.

        Args:
            query: [Q, B, E], or [B, Q, E] if batch_first, as all tensors of queries and keys.
            key, kwargs: not used.
            value: [S, B, E], the pixels of all maps; None: query.
            identity: what the result is added to; None: query.
            query_pos: added to query; None: nothing.
            key_padding_mask: bool [B, S], True where a pixel of value counts as 0.
            reference_points: [B, Q, L, 2], x and y in [0, 1], or [B, Q, L, 4] with width and height of a box.
            spatial_shapes: int64 [L, 2], height and width of each map.
            level_start_index: int64 [L], the first pixel of each map.
        Returns: like query.
        """
        if reference_points is None or spatial_shapes is None or level_start_index is None:
            raise bad_param("reference_points, spatial_shapes, level_start_index", "tensors", None)
        value = query if value is None else value
        identity = query if identity is None else identity
        query = query if query_pos is None else query + query_pos
        if not self.batch_first:
            query, value = query.transpose(0, 1), value.transpose(0, 1)
        value = self.value_proj(value)
        if key_padding_mask is not None:
            value = value.masked_fill(key_padding_mask[..., None], 0.0)
        shape = (*query.shape[:2], self.num_heads, self.num_levels, self.num_points)
        weights = self.attention_weights(query).view(*shape[:3], -1).softmax(-1).view(shape)
        locations = self._locations(self.sampling_offsets(query).view(*shape, 2), reference_points, spatial_shapes)
        output = self.output_proj(multi_scale_deformable_attn(value.view(*value.shape[:2], self.num_heads, -1), spatial_shapes,
                                                              level_start_index, locations, weights))
        return self.dropout(output if self.batch_first else output.transpose(0, 1)) + identity

    def _locations(self, offsets: Tensor, reference_points: Tensor, spatial_shapes: Tensor) -> Tensor:
        """Offsets are pixels round a point, or parts of a box."""
        points = reference_points[:, :, None, :, None, :]
        if reference_points.shape[-1] == 2:
            return points + offsets / spatial_shapes.flip(-1)[:, None, :]
        if reference_points.shape[-1] == 4:
            return points[..., :2] + offsets / self.num_points * points[..., 2:] * 0.5
        raise bad_param("reference_points", "2 or 4 numbers a point", reference_points.shape[-1])
