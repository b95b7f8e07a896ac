#!/usr/bin/env python3
"""Whole models of mmdet, mmdet3d, mmrotate, mmsegmentation, with random weights, on the CPU through mluops.mmcv.install(): a step
of training and a prediction, held against the same model in double with operators written in torch.

Usage: run.py [--repeats N] [--jobs N] [MODEL ...]
Seconds are the processor's, of one thread, so that models that run side by side do not disturb each other's much.
Prints a table; exits with 1 if a model did not run, did not call an operator it should, or strayed beyond LIMITS.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
# Known without torch, which builders.py imports: --help needs nothing.
NAMES = re.findall(r'^    Model\("(\w+)"', (HERE / "builders.py").read_text(), re.MULTILINE)
# Relative, against the run with stand-ins in double. In double only the order of sums differs; in float every layer rounds.
LIMITS = {"loss": 1e-9, "gradient": 1e-7, "second loss": 1e-9, "prediction": 1e-7, "float loss": 1e-3}
COLUMNS = ("model", "operators", "s / step", "s / prediction", "peak MiB", *LIMITS)


def measured(model, way, folder, options):
    """What one.py found, or the end of what it said."""
    import torch
    file = folder / f"{model.name}.{way}.pt"
    command = [sys.executable, str(HERE / "one.py"), model.name, way, str(file), "--repeats", str(options.repeats)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        raise RuntimeError(f"{model.name}, {way}: " + "\n".join(done.stderr.strip().splitlines()[-options.lines:]))
    return torch.load(file, weights_only=False)


def relative(found, wanted):
    return abs(found - wanted) / max(abs(wanted), 1e-12)


def furthest(found, wanted):
    """Of two dicts of tensors, the largest difference over the largest value there is."""
    if found.keys() != wanted.keys() or any(found[k].shape != wanted[k].shape for k in found):
        return float("inf")
    scale = max((float(v.abs().max()) for v in wanted.values() if v.numel()), default=0.0)
    strayed = max((float((found[k].double() - wanted[k].double()).abs().max()) for k in found if found[k].numel()),
                  default=0.0)
    return strayed / max(scale, 1e-12)


def differences(ours, plain):
    wide = ours["double"]
    losses = [name for name in plain["losses"] if "loss" in name]
    total = plain["losses"]["loss"]
    return {"loss": max(abs(wide["losses"][name] - plain["losses"][name]) / abs(total) for name in losses),
            "gradient": furthest(wide["gradients"], plain["gradients"]),
            "second loss": relative(wide["second"], plain["second"]),
            "prediction": max(furthest(a, b) for a, b in zip(wide["prediction"], plain["prediction"])),
            "float loss": relative(ours["losses"]["loss"], total)}


def shortcomings(model, ours, found):
    wrong = [f"{name} {found[name]:.1e}, limit {limit:.0e}" for name, limit in LIMITS.items() if not found[name] <= limit]
    wrong += [f"{name} was not called" for name in model.operators if name not in ours["operators"]]
    if not any(value.numel() for sample in ours["prediction"] for value in sample.values()):
        wrong.append("nothing was predicted")
    if not any(float(gradient.abs().max()) > 0 for gradient in ours["gradients"].values()):
        wrong.append("no gradient")
    return wrong


def check(model, folder, options):
    """The model's row, and what is wrong."""
    try:
        ours, plain = (measured(model, way, folder, options) for way in ("ours", "plain"))
    except RuntimeError as error:
        return f"| {model.title} | does not run |", [str(error)]
    found = differences(ours, plain)
    cells = [model.title, ", ".join(ours["operators"]), f"{ours['step_seconds']:.2f}", f"{ours['predict_seconds']:.2f}",
             str(ours["mib"]), *(f"{found[name]:.1e}" for name in LIMITS)]
    return "| " + " | ".join(cells) + " |", [f"{model.name}: {text}" for text in shortcomings(model, ours, found)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(NAMES)}; all if none is given")
    parser.add_argument("--repeats", type=int, default=3, help="steps and predictions that are timed (median)")
    parser.add_argument("--jobs", type=int, default=1, help="models that run side by side")
    parser.add_argument("--lines", type=int, default=8, help="of a failing model's output that are shown")
    options = parser.parse_args()
    unknown = [name for name in options.models if name not in NAMES]
    if unknown:
        parser.error(f"no such model: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    import torch
    from builders import BY_NAME
    chosen = [BY_NAME[name] for name in options.models or NAMES]
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    begin, failed, texts = time.perf_counter(), 0, []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        for row, wrong in pool.map(lambda model: check(model, Path(folder), options), chosen):
            print(row, flush=True)
            failed += bool(wrong)
            texts += wrong
    print("\n" + "".join(text + "\n" for text in texts) + f"torch {torch.__version__}, {time.perf_counter() - begin:.0f} s")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
