"""The parts of mmcv's SyncBatchNorm between which it adds up over the processes, with any backend of torch.distributed,
gloo too. Images are [N, C, pixels]; statistics are float."""

import torch


def sync_bn_forward_mean(input, mean):
    mean.copy_(input.float().mean((0, 2)))


def sync_bn_forward_var(input, mean, var):
    var.copy_((input.float() - mean[:, None]).square().mean((0, 2)))


def sync_bn_forward_output(input, mean, var, weight, bias, running_mean, running_var, norm, std, output, eps, momentum,
                           group_size):
    std.copy_((var + eps).sqrt())
    norm.copy_((input.float() - mean[:, None]) / std[:, None])
    with torch.no_grad():
        output.copy_(norm if weight is None else norm * weight[:, None] + bias[:, None])
        if running_mean is not None:
            count = input.shape[0] * input.shape[2] * group_size
            unbiased = var * (count / (count - 1)) if count > 1 else var
            running_mean.copy_(momentum * mean + (1 - momentum) * running_mean)
            running_var.copy_(momentum * unbiased + (1 - momentum) * running_var)


def sync_bn_backward_param(grad_output, norm, grad_weight, grad_bias):
    grad_weight.copy_((grad_output.float() * norm).sum((0, 2)))
    grad_bias.copy_(grad_output.float().sum((0, 2)))


def sync_bn_backward_data(grad_output, weight, grad_weight, grad_bias, norm, std, grad_input):
    count = grad_output.shape[0] * grad_output.shape[2]
    common = (grad_weight[:, None] * norm + grad_bias[:, None]) / count
    grad_input.copy_((weight / std)[:, None] * (grad_output.float() - common))


ENTRY_POINTS = COMPOSED = (sync_bn_forward_mean, sync_bn_forward_var, sync_bn_forward_output, sync_bn_backward_param,
                           sync_bn_backward_data)
