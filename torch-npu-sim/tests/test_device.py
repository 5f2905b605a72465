"""Devices: count, current one, names, properties, methods on tensors and modules."""

import pytest
import torch
import torch_npu


def test_identity():
    assert torch_npu.__version__ == "2.10.0.post2+sim"
    assert torch_npu.is_simulated is True
    assert torch.npu is torch_npu.npu
    assert torch._C._get_privateuse1_backend_name() == "npu"


def test_first_program():
    x = torch.ones(3, device="npu") + 1
    assert x.device == torch.device("npu", 0) and x.is_npu
    assert x.cpu().tolist() == [2, 2, 2]


def test_current_device_and_contexts():
    assert torch.npu.device_count() == 2
    assert torch.npu.current_device() == 0
    with torch.npu.device(1):
        assert torch.npu.current_device() == 1
        assert torch.empty(1, device="npu").device.index == 1
        with torch.npu.device_of(torch.empty(1, device="npu:0")):
            assert torch.npu.current_device() == 0
    assert torch.npu.current_device() == 0
    torch.npu.set_device(-1)
    assert torch.npu.current_device() == 0
    torch.npu.set_device("npu:1")
    assert torch.npu.current_device() == 1


@pytest.mark.parametrize("bad", ["cpu", 3.5, None])
def test_set_device_refuses(bad):
    with pytest.raises(ValueError, match="npu device"):
        torch.npu.set_device(bad)


def test_out_of_range():
    with pytest.raises(RuntimeError, match="device index 5 is out of range: there are 2"):
        torch.empty(1, device="npu:5")
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.npu.get_device_name(9)


def test_properties():
    p = torch.npu.get_device_properties(0)
    assert torch.npu.get_device_name() == p.name == "Ascend910B1"
    assert (p.cube_core_num, p.vector_core_num) == (24, 48)
    assert torch.npu.get_soc_version() == 2201
    free, total = torch.npu.mem_get_info()
    assert 0 < free <= total == torch.npu.get_memory_limit()


def test_other_product(run_python):
    code, out = run_python(
        "import torch, torch_npu; print(torch.npu.get_device_name(), torch.npu.get_soc_version())",
        PTO_NPU_SOC="Ascend950PR",
    )
    assert (code, out.strip()) == (0, "Ascend950PR 3510")
    code, out = run_python("import torch, torch_npu; torch.npu.init()", PTO_NPU_SOC="Ascend1")
    assert code and "PTO_NPU_SOC='Ascend1' is not valid: expected one of Ascend910B1" in out


def test_visible_devices(run_python):
    text = """
import os, torch, torch_npu
for visible in ["0", "0,1", "1,0", "", "0,7,1", "1"]:
    os.environ["ASCEND_RT_VISIBLE_DEVICES"] = visible
    print(torch.npu.device_count(), torch.npu.is_available())
"""
    code, out = run_python(text)
    assert code == 0
    assert out.split("\n")[:6] == ["1 True", "2 True", "1 True", "0 False", "1 True", "1 True"]


def test_no_device_says_why(run_python):
    code, out = run_python(
        "import torch, torch_npu; torch.ones(1, device='npu')", ASCEND_RT_VISIBLE_DEVICES=""
    )
    assert code and "ASCEND_RT_VISIBLE_DEVICES" in out


def test_import_starts_nothing(run_python):
    text = "import threading, os, torch, torch_npu; print(torch.npu.is_initialized(), len(os.listdir('/proc/self/task')))"
    code, out = run_python(text, OMP_NUM_THREADS="1")
    assert (code, out.split()) == (0, ["False", "1"])


def test_modules_and_storages():
    module = torch.nn.Linear(3, 2).npu()
    assert module.weight.device.type == "npu"
    storage = torch.arange(4, dtype=torch.int32).untyped_storage().npu()
    assert storage.device.type == "npu" and storage.is_npu
    assert bytes(storage.cpu().tolist()) == bytes(
        torch.arange(4, dtype=torch.int32).untyped_storage().tolist()
    )


def test_accelerator_api():
    assert torch.accelerator.current_accelerator().type == "npu"
    assert torch.accelerator.device_count() == 2
    torch.accelerator.synchronize()
    assert torch.accelerator.memory_allocated() == torch.npu.memory_allocated()


def test_refuses_a_second_backend(run_python):
    text = "import torch; torch.utils.rename_privateuse1_backend('other')\nimport torch_npu"
    code, out = run_python(text, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert code and "already belongs to 'other'" in out


def test_torch_brings_the_device_with_it(run_python):
    text = "import torch; print((torch.ones(2, device='npu') + 1).tolist())"
    code, out = run_python(text)
    assert (code, out.strip()) == (0, "[2.0, 2.0]")
    code, out = run_python(text, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert code and "npu" in out


def test_autoload_that_fails_leaves_torch_usable(run_python, tmp_path):
    (tmp_path / "torch_npu").mkdir()
    (tmp_path / "torch_npu/__init__.py").write_text("raise ImportError('no library')")
    text = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import torch; print(torch.ones(1).item())"
    code, out = run_python(text)
    assert (code, out.strip()) == (0, "1.0")


def test_acl_module(run_python):
    code, out = run_python("import acl; print(acl.get_soc_name())")
    assert (code, out.strip()) == (0, "Ascend910B1")
