import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(20, 64), torch.randn(64, 128)]


def get_init_inputs():
    return []
