"""Detectors of mmdet on a device that has PyTorch's operators and none of mmcv's: those go to the CPU and come back.

The device is that of test_elsewhere.py; every operator of PyTorch runs on the CPU tensor that is its memory. `./run models`
runs this with mmdet.
"""

import pytest

for _package in ("torch", "mmcv", "mmengine", "mmdet"):
    pytest.importorskip(_package)

from test_elsewhere import runs  # noqa: E402

ALL_OPERATORS = '''
from torch.utils._pytree import tree_map

def memory(value):
    if isinstance(value, torch.device) and value.type == "elsewhere":
        return torch.device("cpu")
    return value.memory if isinstance(value, Elsewhere) else value

def on_the_cpu(operator, *args, **kwargs):
    here, named = tree_map(memory, args), tree_map(memory, kwargs)
    result = here[0].reshape(here[1]) if operator is torch.ops.aten.view.default else operator(*here, **named)
    arguments = operator._schema.arguments
    given = {**dict(zip((each.name for each in arguments), args)), **kwargs}
    written = [given[each.name] for each in arguments if each.alias_info is not None and each.alias_info.is_write]
    if written:
        return written[0] if len(written) == 1 else tuple(written)
    return tree_map(lambda value: Elsewhere(value) if isinstance(value, torch.Tensor) else value, result)

library = torch.library.Library("_", "IMPL", "PrivateUse1")
library.fallback(on_the_cpu)

@torch.library.impl("aten::convolution_overrideable", "PrivateUse1")
def convolution(*args):
    return Elsewhere(torch.convolution(*map(memory, args)))

def made(operator):
    return lambda *args, **kwargs: Elsewhere(operator(*args, **{**kwargs, "device": "cpu", "pin_memory": None}))

for name in ("default", "start", "start_step"):
    torch.library.impl("aten::arange" + ("" if name == "default" else "." + name), "PrivateUse1")(made(getattr(torch.ops.aten.arange, name)))

def move(network):
    for module in network.modules():
        for parts in (module._parameters, module._buffers):
            for name, tensor in parts.items():
                if tensor is not None:
                    moved = Elsewhere(tensor.detach().clone())
                    parts[name] = torch.nn.Parameter(moved, requires_grad=False) if parts is module._parameters else moved
    return network

import logging, os
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
import mluops.mmcv
mluops.mmcv.install()
import mmdet
from mmdet.registry import MODELS
from mmdet.structures import DetDataSample
from mmdet.utils import register_all_modules
from mmengine.config import Config
register_all_modules()

def check(file, smaller, wanted):
    config = Config.fromfile(os.path.join(os.path.dirname(mmdet.__file__), ".mim", "configs", file)).model
    config.backbone.init_cfg = None
    smaller(config)
    network = MODELS.build(config)
    network.init_weights()
    network.eval()
    for layer in getattr(network.bbox_head, "rtm_reg", []) if hasattr(network, "bbox_head") else []:
        torch.nn.init.ones_(layer.bias)  # boxes of random weights would have no size
    image, size = torch.randn(1, 3, 96, 128), (96, 128)

    def found(image):
        sample = DetDataSample(metainfo=dict(img_shape=size, ori_shape=size, pad_shape=size, batch_input_shape=size, scale_factor=(1.0, 1.0)))
        return network(image, [sample], mode="predict")[0].pred_instances

    with torch.no_grad():
        here = found(image)
        move(network)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            there = found(Elsewhere(image))
    assert len(here.scores) >= 10 and set(here.keys()) == set(there.keys())
    for name in here.keys():
        assert there[name].device.type == "elsewhere" and torch.equal(here[name], there[name].cpu()), name
    operators = {str(each.message).split()[1] for each in caught if "runs on the CPU" in str(each.message)}
    assert operators - {"first_numbers"} == wanted, operators  # a tensor of a Python class asks for its rows by that
'''


def test_rtmdet_and_its_nms():
    runs(ALL_OPERATORS + '''
def smaller(config):
    config.backbone.update(deepen_factor=0.167, widen_factor=0.375)
    config.test_cfg.update(score_thr=0.0, nms_pre=200, max_per_img=20)

check("rtmdet/rtmdet_tiny_8xb32-300e_coco.py", smaller, {"nms"})
''')


def test_mask_rcnn_and_its_roi_align():
    runs(ALL_OPERATORS + '''
def smaller(config):
    config.backbone.depth, config.neck.in_channels = 18, [64, 128, 256, 512]
    config.test_cfg.rpn.update(nms_pre=200, max_per_img=50)
    config.test_cfg.rcnn.update(score_thr=0.0, max_per_img=10)

check("mask_rcnn/mask-rcnn_r50_fpn_1x_coco.py", smaller, {"nms", "roi_align"})
''')
