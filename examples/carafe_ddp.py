#!/usr/bin/env python3
"""The training step of carafe_train.py on several processes: torch's DistributedDataParallel over gloo.

Each process works on its share of the batch; the gradients, averaged by torch, equal those of one process on the whole
batch. The script checks that and trains on. torchrun starts it on several machines; nothing here changes.
Usage: carafe_ddp.py [--processes 2] [--steps 5]
       torchrun --standalone --nproc-per-node 2 carafe_ddp.py
"""

import argparse
import gc
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from carafe_train import Upscaler, crops, halve, make_picture

BATCH = 8


def batch_of(step: int) -> torch.Tensor:
    return crops(make_picture(), BATCH, 48, torch.Generator().manual_seed(step))


def loss_of(net: torch.nn.Module, target: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(net(halve(target)), target)


def fresh_net() -> Upscaler:
    torch.manual_seed(0)
    net = Upscaler()
    torch.nn.init.normal_(net.upsample.content_encoder.weight, std=0.2)  # masks that matter from the first step
    return net


def largest_difference(net: DistributedDataParallel) -> float:
    """Largest relative difference of a parameter's gradient from the one computed by one process on the whole batch."""
    alone = fresh_net()
    loss_of(alone, batch_of(0)).backward()
    differences = [((shared.grad - own.grad).abs().max() / own.grad.abs().max().clamp(min=1e-12)).item()
                   for shared, own in zip(net.module.parameters(), alone.parameters())]
    return max(differences)


def train(rank: int, processes: int, steps: int) -> None:
    net = DistributedDataParallel(fresh_net())
    optimizer = torch.optim.Adam(net.parameters(), 2e-3)
    share = slice(rank * BATCH // processes, (rank + 1) * BATCH // processes)
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(net, batch_of(step)[share])
        loss.backward()
        if step == 0:
            difference = largest_difference(net)
            if difference > 1e-4:
                raise SystemExit(f"rank {rank}: gradients differ from the single process by {difference:.2e}")
            print(f"rank {rank}: gradients equal the single process within {difference:.1e}", flush=True)
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if rank == 0:
            print(f"step {step}  loss {mean.item() / processes:.5f}", flush=True)


def work(rank: int, processes: int, port: int, steps: int) -> None:
    if "RANK" not in os.environ:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // processes))
    dist.init_process_group("gloo", rank=rank, world_size=processes)
    train(rank, processes, steps)
    # The network refers to the process group and, in a cycle, to itself. Only a group nobody refers to ends its threads,
    # and one that frees a tensor while the interpreter shuts down would abort the process.
    gc.collect()
    dist.destroy_process_group()


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    options = parser.parse_args()
    if BATCH % options.processes:
        parser.error(f"--processes: wanted a divisor of the batch, {BATCH}")
    if "RANK" in os.environ:  # started by torchrun
        work(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), 0, options.steps)
    else:
        mp.spawn(work, (options.processes, free_port(), options.steps), nprocs=options.processes)


if __name__ == "__main__":
    main()
