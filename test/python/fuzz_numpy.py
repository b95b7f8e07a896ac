#!/usr/bin/env python3
"""The hostile calls of test_fuzz.py, chosen by coverage of the package's Python (atheris, libFuzzer's form for Python).

Usage: fuzz_numpy.py [libFuzzer options] [corpus folder]
"""

import sys
import warnings

import atheris
import numpy as np

with atheris.instrument_imports(include=["mluops"]):
    import mluops  # noqa: F401 (instrumented before test_fuzz imports it)
import test_fuzz


class Choices:
    """What test_fuzz.py takes of random.Random, out of the fuzzer's bytes."""

    def __init__(self, data):
        self.bytes = atheris.FuzzedDataProvider(data)

    def randrange(self, begin, end=None):
        begin, end = (0, begin) if end is None else (begin, end)
        return self.bytes.ConsumeIntInRange(begin, end - 1)

    def choice(self, values):
        return values[self.randrange(len(values))]

    def random(self):
        return self.bytes.ConsumeProbability()

    def randbytes(self, count):
        return self.bytes.ConsumeBytes(count).ljust(count, b"\0")


def one_input(data):
    test_fuzz.call_with_lies(Choices(data), np.random.default_rng(1), data.hex())


warnings.simplefilter("ignore")
atheris.Setup(sys.argv, one_input)
atheris.Fuzz()
