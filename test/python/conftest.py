import sys
import warnings
from pathlib import Path

import pytest

import mluops

sys.path.insert(0, str(Path(__file__).parent))


def pytest_report_header():
    lines = [f"mluops {mluops.__version__}, backend {mluops.backend()}, {mluops.num_threads()} threads"]
    try:
        import torch
        from mluops.torch import _operator
        way = "torch.library" if _operator.HAS_LIBRARY_API else "autograd.Function"
        lines.append(f"torch {torch.__version__} through {way}, {torch.get_num_threads()} threads")
    except ImportError:
        lines.append("torch: none")
    return lines


@pytest.fixture(autouse=True)
def restore_settings():
    """A test that changes mluops' settings leaves none behind."""
    from mluops._context import Settings, settings
    yield
    settings.__dict__.update(Settings().__dict__, version=settings.version + 1)


@pytest.fixture(scope="module")
def installed():
    """mluops in mmcv while a module's tests run."""
    pytest.importorskip("mmcv", reason="mmcv-lite is not installed")
    pytest.importorskip("mmengine", reason="mmengine is not installed")
    import mluops.mmcv
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mluops.mmcv.install()
    yield
    mluops.mmcv.uninstall()
