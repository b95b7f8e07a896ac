"""DefROIAlign of AdelaiDet: RoIAlign whose bins are moved by offsets, as our deformable RoI pooling, with other scales."""

from ..op.deform_roi_pool import deform_roi_pool


def def_roi_align(input, rois, offsets, spatial_scale, pooled_height, pooled_width, sampling_ratio, trans_std, aligned):
    """T [R, C, pooled_height, pooled_width], differentiable in input and offsets. Corners are moved by half a pixel if aligned;
    else small RoIs are seen one pixel wide."""
    half = 0.5 / spatial_scale
    if not aligned:
        low, high = rois[:, 1:3], rois[:, 3:5]
        high = low + (high - low).clamp(min=1 / spatial_scale)
        rois = rois.clone()
        rois[:, 1:3], rois[:, 3:5] = low + half, high + half
    return deform_roi_pool(input, rois, offsets, (pooled_height, pooled_width), spatial_scale, max(sampling_ratio, 0),
                           trans_std)
