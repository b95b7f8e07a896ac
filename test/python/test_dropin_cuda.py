"""mluops.dropin.install(cuda_calls=True): what programs say to CUDA, on a machine without it."""

import warnings

import pytest

torch = pytest.importorskip("torch")
from dropin_doors import opened  # noqa: E402
from torch import nn  # noqa: E402

import mluops.dropin as dropin  # noqa: E402

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")


@pytest.fixture
def cuda():
    with opened("spconv", cuda_calls=True):
        yield


CALLS = {
    "Module.to(0)": lambda: nn.Linear(2, 2).to(0).weight,
    "Module.to(device=0)": lambda: nn.Linear(2, 2).to(device=0).weight,
    "Module.to('cuda:0', dtype)": lambda: nn.Linear(2, 2).to("cuda:0", torch.float64).weight.float(),
    "Module.cuda(0)": lambda: nn.Linear(2, 2).cuda(0).weight,
    "Tensor.to(0)": lambda: torch.ones(2).to(0),
    "Tensor.to(device=0)": lambda: torch.ones(2).to(device=0, non_blocking=True),
    "device=cuda": lambda: torch.ones(2, device=torch.device("cuda", 0)),
    "hann_window": lambda: torch.hann_window(4, device="cuda"),
    "fftfreq": lambda: torch.fft.fftfreq(4, device="cuda"),
    "Generator": lambda: torch.rand(2, generator=torch.Generator("cuda").manual_seed(1), device="cuda"),
    "Generator(device=)": lambda: torch.rand(2, generator=torch.Generator(device=torch.device("cuda:0"))),
    "nn.Linear(device=)": lambda: nn.Linear(2, 2, device="cuda").weight,
    "set_default_tensor_type": lambda: (torch.set_default_tensor_type("torch.cuda.FloatTensor"), torch.ones(2))[1],
    "FloatTensor": lambda: torch.cuda.FloatTensor(2, 2).zero_(),
    "pin_memory": lambda: torch.ones(2).pin_memory().cuda(non_blocking=True),
}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_stays_on_the_cpu(cuda, name):
    made = CALLS[name]()
    assert made.device.type == "cpu" and made.dtype == torch.float32


@pytest.mark.parametrize("name", ["Module.to(0)", "Module.to('cuda:0', dtype)", "Module.cuda(0)", "Tensor.to(0)",
                                  "Tensor.to(device=0)", "device=cuda"])
def test_says_what_would_keep_it_there(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dropin.install("spconv")
        try:
            with pytest.raises((AssertionError, RuntimeError), match=r"install\(cuda_calls=True\), or --cuda-calls"):
                CALLS[name]()
        finally:
            dropin.uninstall()
    with pytest.raises((AssertionError, RuntimeError)) as told:
        CALLS[name]()
    assert "mluops" not in str(told.value)


def test_other_errors_of_to_are_torch_s_own(cuda):
    dropin.uninstall()
    dropin.install("spconv")
    with pytest.raises((RuntimeError, TypeError)) as told:
        torch.ones(2).to("no such device")
    assert "mluops" not in str(told.value)


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="this torch does not compile")
def test_a_compiled_function_moves_tensors():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dropin.install("spconv")
        try:
            double = torch.compile(lambda x: x.to(torch.float64) * 2, fullgraph=True, backend="eager")
            assert double(torch.ones(2)).tolist() == [2, 2]
        finally:
            dropin.uninstall()


@pytest.mark.parametrize("where", [lambda storage, location: storage.cuda(0), "cuda:0", torch.device("cuda"), None,
                                   {"cuda:0": "cuda:1", "cpu": "cuda:0"}, 0], ids=str)
def test_load(cuda, tmp_path, where):
    torch.save({"a": torch.arange(3.0)}, tmp_path / "x.pth")
    loaded = torch.load(tmp_path / "x.pth", map_location=where)["a"]
    assert loaded.tolist() == [0, 1, 2] and loaded.device.type == "cpu"


def test_what_the_device_is(cuda):
    assert torch.cuda.get_device_capability() == (7, 5) == torch.cuda.get_device_capability(0)
    assert torch.cuda.get_device_name(0) == torch.cuda.get_device_properties(0).name == "CPU (mluops.dropin)"
    assert torch.cuda.get_device_properties("cuda").major == 7
    assert not torch.cuda.is_available()


def test_random_states(cuda):
    state, states = torch.cuda.get_rng_state(), torch.cuda.get_rng_state_all()
    first = torch.rand(3, device="cuda")
    torch.cuda.set_rng_state(state)
    assert torch.equal(first, torch.rand(3))
    torch.cuda.set_rng_state_all(states)
    assert torch.equal(first, torch.rand(3))
    assert isinstance(torch.Generator("cuda"), torch.Generator)


def test_streams_and_ranges(cuda):
    with torch.cuda.stream(torch.cuda.Stream()), torch.cuda.device(0), torch.cuda.nvtx.range("x"):
        with torch.cuda.Stream() as stream:
            assert stream.query()
        torch.cuda.nvtx.range_push("a")
        torch.cuda.nvtx.mark("b")
        torch.cuda.nvtx.range_pop()
        torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
        torch.cuda.synchronize()


@pytest.mark.skipif(not hasattr(torch.amp, "GradScaler"), reason="torch.amp.GradScaler needs torch 2.3")
def test_mixed_precision_in_both_spellings(cuda):
    """Nothing to do on the CPU: the loss falls, and its gradient is that of float32."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that it is disabled
        for autocast, scaler in ((torch.cuda.amp.autocast, torch.cuda.amp.GradScaler),
                                 (lambda: torch.autocast("cuda"), lambda: torch.amp.GradScaler("cuda"))):
            layer = nn.Linear(3, 1).cuda()
            optimizer, scale = torch.optim.SGD(layer.parameters(), 0.1), scaler()
            x = torch.ones(2, 3, device="cuda")
            with autocast():
                loss = layer(x).square().mean()
            scale.scale(loss).backward()
            scale.step(optimizer)
            scale.update()
            assert loss.dtype == torch.float32 and layer(x).square().mean() <= loss


def test_parallel_modules_on_one_device(cuda):
    layer, x = nn.Linear(3, 1), torch.ones(2, 3)
    wanted = layer(x)
    assert torch.equal(nn.DataParallel(layer, device_ids=[0]).cuda()(x.cuda()), wanted)


def test_process_groups(cuda, tmp_path):
    import torch.distributed as dist
    with pytest.warns(UserWarning, match="process group of nccl, gloo stands for it"):
        dist.init_process_group("nccl", init_method=f"file://{tmp_path}/group", rank=0, world_size=1)
    try:
        assert dist.get_backend() == "gloo"
        layer = nn.parallel.DistributedDataParallel(nn.Linear(3, 1).cuda(), device_ids=[0], output_device=0)
        layer(torch.ones(2, 3)).sum().backward()
        total = torch.ones(2).cuda()
        dist.all_reduce(total)
        assert total.tolist() == [1, 1] and layer.module.weight.grad.tolist() == [[2, 2, 2]]
    finally:
        dist.destroy_process_group()


def test_all_is_as_it_was_afterwards():
    before = {(owner, name): vars(owner).get(name) for owner in (torch, torch.cuda, torch.Tensor, nn.Module, torch.fft)
              for name in dir(owner)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dropin.install("spconv", cuda_calls=True)
    dropin.uninstall()
    assert all(vars(owner).get(name) is value for (owner, name), value in before.items())


MOVES = {"cuda()": lambda x: x.cuda(), "to(0)": lambda x: x.to(0), "to('cuda')": lambda x: x.to("cuda:0"),
         "to(device=)": lambda x: x.to(device=torch.device("cuda")), "to(device=0)": lambda x: x.to(device=0)}


@pytest.mark.parametrize("move", sorted(MOVES))
def test_a_column_is_contiguous_on_cuda(cuda, move):
    """As a copy to another device is: extensions ask for it (PointGroup)."""
    x = torch.arange(12).reshape(4, 3)
    moved = MOVES[move](x[:, 1])
    assert moved.is_contiguous() and torch.equal(moved, x[:, 1])
    assert MOVES[move](x) is x and MOVES[move](x.t()).stride() == (1, 3)  # dense, its order is kept
    assert MOVES[move](x.to_sparse()).is_sparse
    assert not x[:, 1].to("cpu").is_contiguous() and not x[:, 1].to(torch.int64).is_contiguous()
