"""prroi_pool."""

from ...torch._sampled import gradient_into
from ...torch.op.prroi_pool import prroi_pool


def _settings(pooled_height, pooled_width, spatial_scale):
    return (pooled_height, pooled_width), spatial_scale


def prroi_pool_forward(input, rois, output, **settings):
    output.copy_(prroi_pool(input.detach(), rois.detach(), *_settings(**settings)))


def prroi_pool_backward(grad_output, rois, grad_input, **settings):
    gradient_into(grad_input, grad_output, prroi_pool, rois.detach(), *_settings(**settings))


def prroi_pool_coor_backward(output, grad_output, input, rois, grad_rois, **settings):
    def of_rois(rois):
        return prroi_pool(input.detach(), rois, *_settings(**settings))

    gradient_into(grad_rois, grad_output, of_rois, at=rois)


ENTRY_POINTS = COMPOSED = (prroi_pool_forward, prroi_pool_backward, prroi_pool_coor_backward)
