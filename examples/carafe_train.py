#!/usr/bin/env python3
"""Trains a small super-resolution network with CARAFE upsampling on the CPU and shows what it learnt.

The picture is made here. The network sees it at half size and must restore it; before.png and after.png show, side by
side: the input, the network's answer, the original. Usage: carafe_train.py [--steps 300] [--out DIR] [--channels-last]
"""

import argparse
import math
import struct
import time
import zlib
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

import mluops.torch as mt


def make_picture(size: int = 192) -> torch.Tensor:
    """A picture [3, size, size] in [0, 1] with edges, gradients, thin lines and text-like detail."""
    y, x = torch.linspace(0, 1, size)[:, None], torch.linspace(0, 1, size)
    red = 0.5 + 0.5 * torch.sin(26 * (x + 0.4 * y * y))
    green = ((x - 0.55).square() + (y - 0.45).square()).sqrt()
    rings = 0.5 + 0.5 * torch.cos(60 * green)
    checks = (((x * 14).floor() + (y * 14).floor()) % 2) * (x > 0.62) * (y > 0.6)
    line = (torch.sin(8 * x) * 0.12 + 0.3 - y).abs() < 0.006
    picture = torch.stack([0.75 * red * (1 - y) + 0.25 * checks, 0.8 * rings * (green < 0.33) + 0.2 * y,
                           0.3 + 0.5 * x * y + 0.2 * checks])
    return torch.where(line, torch.ones(()), picture).clamp(0, 1)


class Upscaler(nn.Module):
    """Convolutions, CARAFE x2, convolutions; predicts what bilinear interpolation misses."""

    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1),
                                    nn.ReLU())
        self.upsample = mt.CARAFEPack(width, scale_factor=2, compressed_channels=16)
        self.decode = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, small: torch.Tensor) -> torch.Tensor:
        base = F.interpolate(small, scale_factor=2, mode="bilinear", align_corners=False)
        return base + self.decode(self.upsample(self.encode(small)))


def crops(picture: torch.Tensor, count: int, size: int, generator: torch.Generator) -> torch.Tensor:
    """Random crops [count, 3, size, size]."""
    limit = picture.shape[1] - size
    corners = torch.randint(0, limit + 1, (count, 2), generator=generator).tolist()
    return torch.stack([picture[:, y:y + size, x:x + size] for y, x in corners])


def halve(pictures: torch.Tensor) -> torch.Tensor:
    return F.avg_pool2d(pictures, 2)


def psnr(a: torch.Tensor, b: torch.Tensor) -> float:
    return -10 * math.log10(max(F.mse_loss(a, b).item(), 1e-12))


def save_png(path: Path, picture: torch.Tensor) -> None:
    """Writes [3, H, W] in [0, 1] as an 8-bit PNG."""
    _, height, width = picture.shape
    pixels = (picture.clamp(0, 1) * 255 + 0.5).byte().permute(1, 2, 0).reshape(height, width * 3)
    rows = b"".join(b"\0" + bytes(row) for row in pixels.tolist())

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
                     + chunk(b"IEND", b""))


def show(path: Path, net: nn.Module, picture: torch.Tensor) -> float:
    """Saves input, answer and original side by side; returns the answer's PSNR."""
    with torch.no_grad():
        small = halve(picture[None])
        answer = net(small)
    enlarged = F.interpolate(small, scale_factor=2, mode="nearest")
    save_png(path, torch.cat([enlarged[0], answer[0], picture], 2))
    return psnr(answer, picture[None])


def train(net: nn.Module, picture: torch.Tensor, steps: int, channels_last: bool) -> list:
    """Adam on random crops; returns the loss of every step."""
    generator = torch.Generator().manual_seed(1)
    optimizer = torch.optim.Adam(net.parameters(), 2e-3)
    losses = []
    for step in range(steps):
        target = crops(picture, 8, 64, generator)
        if channels_last:
            target = target.contiguous(memory_format=torch.channels_last)
        loss = F.mse_loss(net(halve(target)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 50 == 0 or step == steps - 1:
            print(f"step {step:4d}  loss {loss.item():.5f}", flush=True)
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--channels-last", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    torch.manual_seed(0)
    picture, net = make_picture(), Upscaler()
    if options.channels_last:
        net = net.to(memory_format=torch.channels_last)
    before = show(options.out / "before.png", net, picture)
    start = time.perf_counter()
    losses = train(net, picture, options.steps, options.channels_last)
    seconds = time.perf_counter() - start
    after = show(options.out / "after.png", net, picture)
    plain = psnr(F.interpolate(halve(picture[None]), scale_factor=2, mode="bilinear", align_corners=False),
                 picture[None])
    tail = max(1, len(losses) // 5)
    first, last = sum(losses[:tail]) / tail, sum(losses[-tail:]) / tail
    print(f"{options.steps} steps in {seconds:.1f} s; loss {first:.5f} -> {last:.5f}")
    print(f"PSNR bilinear {plain:.2f} dB, untrained {before:.2f} dB, trained {after:.2f} dB")
    print(f"saved {options.out / 'before.png'} and {options.out / 'after.png'}")
    if not last < first:
        raise SystemExit("the loss did not fall")


if __name__ == "__main__":
    main()
