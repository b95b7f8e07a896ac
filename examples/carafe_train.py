#!/usr/bin/env python3
"""Trains a small super-resolution network with CARAFE upsampling on the CPU and shows what it learnt.

The network sees a picture at half size and must restore it. before.png and after.png show the input, bilinear
interpolation, the network's answer and the original, a crop of each enlarged, and the errors of the two answers. The
picture is a photograph that comes with scikit-image or matplotlib, or one made here where neither is installed; without
matplotlib the pictures have no labels.
Usage: carafe_train.py [--steps 300] [--out DIR] [--picture FILE] [--channels-last]
"""

import argparse
import importlib.util
import math
import struct
import time
import zlib
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

import mluops.torch as mt

CROP, ERROR_SCALE = 48, 5  # pixels of the enlarged part; by how much errors are enlarged


def load_picture(path=None) -> tuple:
    """A picture [3, H, W] in [0, 1] with even H and W, and where it comes from."""
    if path is None:
        path, source = find_photograph()
    else:
        source = str(path)
    if path is None:
        return make_picture(), "made here"
    from matplotlib import image
    pixels = torch.from_numpy(image.imread(path).copy())[..., :3]
    pixels = pixels.float() / 255 if pixels.dtype == torch.uint8 else pixels.float()
    picture = pixels.permute(2, 0, 1)
    shrink = max(1, min(picture.shape[1:]) // 256)  # a few seconds of training see most of it
    picture = F.avg_pool2d(picture[None], shrink)[0]
    height, width = (length // 2 * 2 for length in picture.shape[1:])
    return picture[:, :height, :width].contiguous(), source


def find_photograph() -> tuple:
    """Path and name of a photograph inside an installed package, or None and None."""
    candidates = {"skimage": ("data/astronaut.png", "astronaut, scikit-image"),
                  "matplotlib": ("mpl-data/sample_data/grace_hopper.jpg", "Grace Hopper, matplotlib")}
    if importlib.util.find_spec("matplotlib") is None:  # which reads it
        return None, None
    for package, (file, name) in candidates.items():
        spec = importlib.util.find_spec(package)
        path = Path(spec.origin).parent / file if spec else None
        if path and path.exists():
            return path, name
    return None, None


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
    rows, columns = (torch.randint(0, length - size + 1, (count,), generator=generator).tolist()
                     for length in picture.shape[1:])
    corners = zip(rows, columns)
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


def show(path: Path, net: nn.Module, picture: torch.Tensor, title: str) -> float:
    """Saves input, bilinear, answer, original, a crop of each, and the errors; returns the answer's PSNR."""
    with torch.no_grad():
        small = halve(picture[None])
        answer = net(small)[0]
    bilinear = F.interpolate(small, scale_factor=2, mode="bilinear", align_corners=False)[0]
    columns = [("input, half size", F.interpolate(small, scale_factor=2, mode="nearest")[0]), ("bilinear", bilinear),
               ("CARAFE network", answer), ("original", picture)]
    top, left = busiest(picture)
    images = [image for _, image in columns]
    rows = [images, [enlarge(image[:, top:top + CROP, left:left + CROP]) for image in images],
            [None, ERROR_SCALE * (bilinear - picture).abs(), ERROR_SCALE * (answer - picture).abs(), None]]
    if importlib.util.find_spec("matplotlib"):
        labels = [name + (f", {psnr(image, picture):.2f} dB" if name != "original" else "") for name, image in columns]
        save_figure(path, rows, labels, title, (top, left))
    else:
        save_png(path, torch.cat([row_of(row, picture) for row in rows], 1))
    return psnr(answer, picture)


def busiest(picture: torch.Tensor) -> tuple:
    """Corner of the crop with the most detail."""
    edges = F.pad((picture[:, :-1, :-1] - picture[:, 1:, 1:]).abs().mean(0), (0, 1, 0, 1))
    score = F.avg_pool2d(edges[None, None], CROP, stride=8)[0, 0]
    best = int(score.argmax())
    return best // score.shape[1] * 8, best % score.shape[1] * 8


def enlarge(crop: torch.Tensor) -> torch.Tensor:
    return crop.repeat_interleave(4, 1).repeat_interleave(4, 2)


def row_of(images: list, like: torch.Tensor) -> torch.Tensor:
    """Images of one row of the unlabelled picture side by side, each in a field of the original's size."""
    fields = []
    for image in images:
        field = torch.zeros_like(like)
        if image is not None:
            height, width = min(image.shape[1], like.shape[1]), min(image.shape[2], like.shape[2])
            field[:, :height, :width] = image[:, :height, :width]
        fields.append(field)
    return torch.cat(fields, 2)


def save_figure(path: Path, rows: list, labels: list, title: str, corner: tuple) -> None:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(3, 4, figsize=(14, 11), layout="constrained")
    for row, images in zip(axes, rows):
        for axis, image in zip(row, images):
            axis.set_axis_off()
            if image is not None:
                axis.imshow(image.clamp(0, 1).permute(1, 2, 0).numpy(), interpolation="nearest")
    for axis, label in zip(axes[0], labels):
        axis.set_title(label)
        axis.add_patch(pyplot.Rectangle((corner[1], corner[0]), CROP, CROP, fill=False, edgecolor="yellow"))
    for axis, label in zip(axes[2][1:3], ("error of bilinear", "error of the network")):
        axis.set_title(f"{label}, x {ERROR_SCALE}")
    figure.suptitle(title)
    figure.savefig(path, dpi=80)
    pyplot.close(figure)


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
    parser.add_argument("--picture", type=Path, help="a PNG, or what else matplotlib reads")
    parser.add_argument("--channels-last", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    torch.manual_seed(0)
    (picture, source), net = load_picture(options.picture), Upscaler()
    print(f"picture: {source}, {picture.shape[1]} x {picture.shape[2]}")
    if options.channels_last:
        net = net.to(memory_format=torch.channels_last)
    before = show(options.out / "before.png", net, picture, f"{source}: before training")
    start = time.perf_counter()
    losses = train(net, picture, options.steps, options.channels_last)
    seconds = time.perf_counter() - start
    after = show(options.out / "after.png", net, picture, f"{source}: after {options.steps} steps")
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
