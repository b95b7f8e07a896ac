import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.sum()


def get_inputs():
    return [torch.rand(100, 123)]


def get_init_inputs():
    return []
