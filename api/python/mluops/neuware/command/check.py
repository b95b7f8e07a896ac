"""build a kernel for torch, run it with checks, hold it against a reference module"""

import sys
from typing import List


def main(arguments: List[str]) -> int:
    try:
        import torch  # noqa: F401
    except ImportError:
        print("check runs kernels on torch's tensors: pip install torch", file=sys.stderr)
        return 2
    from ...mlu import _check
    return _check.main(arguments)
