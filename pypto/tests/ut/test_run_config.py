"""RunConfig: fields, defaults, rules (dsl 4.5)."""

from __future__ import annotations

import pytest
from pypto.enums import BackendType, PassDumpLevel
from pypto.runtime import RunConfig


def test_defaults():
    config = RunConfig()
    assert config.platform == "a2a3sim"
    assert (config.rtol, config.atol) == (1e-5, 1e-5)
    assert config.dump_passes is PassDumpLevel.NONE
    assert not config.any_dfx_enabled()
    assert not config.save_kernels


@pytest.mark.parametrize(
    ("platform", "backend"),
    [
        ("a2a3", BackendType.Ascend910B),
        ("a2a3sim", BackendType.Ascend910B),
        ("a5", BackendType.Ascend950),
        ("a5sim", BackendType.Ascend950),
    ],
)
def test_platform_decides_the_backend(platform, backend):
    assert RunConfig(platform=platform, backend_type=BackendType.Ascend910B).backend_type is backend


@pytest.mark.parametrize(
    "fields",
    [
        dict(platform="a3"),
        dict(enable_chip_swimlane=5),
        dict(enable_chip_swimlane=-1),
        dict(enable_dump_args=3),
        dict(ring_task_window=6),
        dict(ring_task_window=2),
        dict(ring_task_window=True),
        dict(ring_task_window=[4, 4, 4]),
        dict(ring_task_window=[4, 4, 4, 5]),
        dict(ring_heap=512),
        dict(ring_heap=3000),
        dict(ring_dep_pool=3),
        dict(ring_dep_pool=2**31),
    ],
    ids=str,
)
def test_values_out_of_range_are_refused(fields):
    with pytest.raises(ValueError, match=next(iter(fields))):
        RunConfig(**fields)


@pytest.mark.filterwarnings("ignore:RunConfig")
@pytest.mark.parametrize(
    "fields",
    [
        dict(ring_task_window=[0, 4, 0, 1024]),
        dict(ring_heap=1024),
        dict(ring_dep_pool=5),
        dict(ring_dep_pool=[4, 5, 0, 2**31 - 1]),
    ],
    ids=str,
)
def test_ring_values_in_range_are_taken(fields):
    (name, value), *_ = fields.items()
    assert getattr(RunConfig(**fields), name) == value


def test_dump_passes_true_is_concise():
    assert RunConfig(dump_passes=True).dump_passes is PassDumpLevel.CONCISE
    assert RunConfig(dump_passes=PassDumpLevel.EXPLICIT).dump_passes is PassDumpLevel.EXPLICIT


@pytest.mark.filterwarnings("ignore:RunConfig")
@pytest.mark.parametrize(
    "fields",
    [
        dict(enable_chip_swimlane=True),
        dict(enable_dump_args=1),
        dict(enable_pmu=2),
        dict(enable_dep_gen=True),
        dict(enable_scope_stats=True),
    ],
    ids=str,
)
def test_diagnostic_flags_keep_kernels(fields):
    config = RunConfig(**fields)
    assert config.any_dfx_enabled()
    assert config.save_kernels


@pytest.mark.filterwarnings("ignore:RunConfig")
def test_true_is_the_highest_level():
    assert RunConfig(enable_chip_swimlane=True).enable_chip_swimlane == 4


@pytest.mark.filterwarnings("ignore:RunConfig")
def test_old_swimlane_name():
    with pytest.warns(DeprecationWarning, match="enable_chip_swimlane"):
        config = RunConfig(enable_l2_swimlane=2)
    assert config.enable_chip_swimlane == 2
    with pytest.raises(ValueError, match="given twice"):
        RunConfig(enable_l2_swimlane=2, enable_chip_swimlane=1)


def test_unknown_fields_are_refused():
    with pytest.raises(TypeError, match="blockdim"):
        RunConfig(blockdim=3)


def test_options_without_effect_say_so_once(monkeypatch):
    from pypto.runtime import config

    monkeypatch.setattr(config, "_said", set())
    with pytest.warns(UserWarning, match="aicpu_thread_num has no effect"):
        RunConfig(aicpu_thread_num=4)


def test_call_key_tells_programs_apart(monkeypatch):
    assert RunConfig()._call_key == ""
    assert RunConfig(platform="a5sim")._call_key == "a5sim"
    assert RunConfig(trace="t.json")._call_key is None
    assert RunConfig(save_kernels=True)._call_key not in ("", None)
    monkeypatch.setenv("PTO_PLATFORM", "a5sim")
    assert RunConfig(platform="a5sim")._call_key == ""


def test_platforms_of_hardware_are_noticed_once(capsys, monkeypatch):
    from pypto import backend

    monkeypatch.setattr(backend, "_noticed", False)
    for platform in ("a5sim", "a2a3", "a5"):
        backend.notice(platform)
    assert capsys.readouterr().err == "pypto: no NPU is driven; a2a3 runs on the simulated device\n"
