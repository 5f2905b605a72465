"""compiled_meta.json: schema 3 written, 1 to 3 read, and every malformed field refused."""

from __future__ import annotations

import copy
import dataclasses
import json

import pypto.language as pl
import pytest
from pypto.enums import BackendType
from pypto.ir.artifact_metadata import (
    FILE,
    MAX_SCALARS,
    MAX_TENSORS,
    ArtifactError,
    ArtifactExecutionMode,
    ArtifactMetadata,
    ExecutionCapabilities,
    ExecutionMode,
    KernelInfo,
    check_lowered_signature,
    check_pool_capacity,
)
from pypto.ir.param_info import ParamDirection, ParamInfo, lowered_form

In, Out, InOut = ParamDirection.In, ParamDirection.Out, ParamDirection.InOut
PROGRAM, KERNEL = ArtifactExecutionMode.PROGRAM, ArtifactExecutionMode.KERNEL

PARAMS = (
    ParamInfo("n", In, None, pl.INT32),
    ParamInfo("x", In, (16, -1), pl.FP32, "ND", ("", "N")),
    ParamInfo("w", In, (-1, 32, 32), pl.FP16, "NZ"),
    ParamInfo("y", Out, (16, 32), pl.FP32, "ND"),
    ParamInfo("z", InOut, (4,), pl.INT32, "ND"),
)


def metadata(mode=KERNEL, **changes) -> ArtifactMetadata:
    made = ArtifactMetadata(
        entry="main",
        params=PARAMS,
        lowered_params=tuple(map(lowered_form, PARAMS)),
        return_count=3,
        return_aliases=(3, 4, 3),
        platform="a2a3sim",
        backend_type=BackendType.Ascend910B,
        capabilities=ExecutionCapabilities([mode]),
        kernels=(KernelInfo("k", "aiv", ("IN", "OUT")),),
    )
    return dataclasses.replace(made, **changes)


def read(record) -> ArtifactMetadata:
    return ArtifactMetadata.from_record(json.loads(json.dumps(record)), "folder/compiled_meta.json")


def test_what_is_written_is_read_back():
    for made in (
        metadata(),
        metadata(PROGRAM, entries=("main", "other")),
        metadata(PROGRAM, lowered_params=None, return_aliases=None, return_count=1),
        metadata(platform="a5", backend_type=BackendType.Ascend950, runtime="host_build_graph"),
    ):
        assert read(json.loads(made.text())) == made


def test_schema_3_has_its_fields():
    record = metadata().record()
    assert record["schema"] == 3
    assert [p["name"] for p in record["params"]] == ["n", "x", "w", "y", "z"]
    assert record["params"][2]["shape"] == [-1, 32, 32]
    assert record["lowered_params"][2]["shape"] == [-1, 2, 2, 16, 16]
    assert record["num_return_types"] == 3
    assert record["return_aliases"] == [3, 4, 3]
    assert (record["platform"], record["backend_type"]) == ("a2a3sim", "Ascend910B")
    assert record["supported_execution_modes"] == ["kernel"]


def test_names_outputs_and_results_are_derived():
    made = metadata()
    assert made.param_names == ("n", "x", "w", "y", "z")
    assert made.output_indices == (3,)
    assert made.has_return and made.results == (3, 4, 3)
    stored = {field.name for field in dataclasses.fields(made)}
    assert not stored & {"param_names", "output_indices", "has_return", "results"}


def test_contract_and_place_of_execution_are_independent():
    for mode in ArtifactExecutionMode:
        for platform, place in (("a2a3sim", ExecutionMode.SIM), ("a2a3", ExecutionMode.ONBOARD)):
            made = metadata(mode, platform=platform)
            assert made.execution_mode is place
            assert made.capabilities.modes == {mode}


def test_only_what_was_asked_for_is_declared():
    for mode, other in ((PROGRAM, KERNEL), (KERNEL, PROGRAM)):
        made = read(metadata(mode).record())
        made.capabilities.require(mode)
        with pytest.raises(ArtifactError, match=f"compile it again with contract {other.name}"):
            made.capabilities.require(other)


def old_record(schema: int) -> dict:
    """A file as earlier versions wrote it."""
    record = {
        "schema": schema,
        "params": [
            {"name": "x", "direction": "In", "shape": [16, 32], "dtype": "fp32"},
            {"name": "y", "direction": "Out", "shape": [16, 32], "dtype": "fp32"},
        ],
        "num_return_types": 1,
        "platform": "a2a3sim",
        "backend_type": "Ascend910B",
    }
    if schema == 2:
        record["supported_execution_modes"] = ["program"]
        for param in record["params"]:
            param["layout"] = "ND"
    return record


@pytest.mark.parametrize("schema", [1, 2])
def test_old_files_are_programs(schema):
    made = read(old_record(schema))
    assert made.capabilities.modes == {PROGRAM}
    assert made.lowered_params is None and made.return_aliases is None
    assert made.results == (1,)
    with pytest.raises(ArtifactError, match="compile it again"):
        made.capabilities.require(KERNEL)


def test_old_files_are_never_kernels_whatever_they_say():
    record = old_record(2) | {"supported_execution_modes": ["kernel"], "return_aliases": [1]}
    assert read(record).capabilities.modes == {PROGRAM}


WRONG = [
    (("schema",), 4),
    (("schema",), 0),
    (("schema",), True),
    (("schema",), "3"),
    (("params",), {}),
    (("params",), None),
    (("params", 0), "n"),
    (("params", 1, "name"), "n"),
    (("params", 1, "direction"), "INOUT"),
    (("params", 1, "shape"), [16, 1.5]),
    (("params", 1, "dtype"), "f32"),
    (("lowered_params",), 3),
    (("lowered_params", 1, "name"), "q"),
    (("lowered_params", 2, "shape"), [-1, 2, 2, 16, 32]),
    (("lowered_params", 3, "direction"), "InOut"),
    (("lowered_params", 4, "dtype"), "int64"),
    (("num_return_types",), -1),
    (("num_return_types",), True),
    (("num_return_types",), 2),
    (("return_aliases",), "3"),
    (("return_aliases",), [0, 3, 3]),
    (("return_aliases",), [5, 3, 3]),
    (("return_aliases",), [True, 3, 3]),
    (("platform",), "a2"),
    (("platform",), None),
    (("backend_type",), "Ascend310"),
    (("backend_type",), 0),
    (("runtime",), "graph"),
    (("entry",), ""),
    (("entries",), "main"),
    (("kernels",), [{"name": "k"}]),
    (("supported_execution_modes",), []),
    (("supported_execution_modes",), ["kernel", "kernel"]),
    (("supported_execution_modes",), ["jit"]),
    (("supported_execution_modes",), "kernel"),
]


@pytest.mark.parametrize(("path", "value"), WRONG, ids=lambda v: str(v))
def test_a_malformed_field_names_the_file_and_asks_for_compilation(path, value):
    record = copy.deepcopy(metadata().record())
    place = record
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(
        ArtifactError, match=r"folder/compiled_meta.json: .*Compile the program again"
    ):
        read(record)


@pytest.mark.parametrize(
    "field",
    [
        "schema",
        "params",
        "lowered_params",
        "num_return_types",
        "return_aliases",
        "platform",
        "backend_type",
        "runtime",
        "entry",
        "supported_execution_modes",
    ],
)
def test_a_missing_field_is_refused(field):
    record = metadata().record()
    del record[field]
    with pytest.raises(ArtifactError, match="Compile the program again"):
        read(record)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (dict(lowered_params=None), "a kernel needs lowered_params"),
        (dict(return_aliases=None), "a kernel needs return_aliases"),
        (dict(entries=("main", "other")), "a kernel has one entry"),
    ],
)
def test_a_kernel_without_what_it_needs_is_refused(changes, text):
    with pytest.raises(ArtifactError, match=f"{text}.*Compile the program again"):
        read(metadata(**changes).record())
    read(metadata(PROGRAM, **changes).record())


def test_files_that_are_no_metadata(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no compiled program"):
        ArtifactMetadata.read(tmp_path)
    for content in (b"", b"{", b"[]", b"\xff\xfe", b'{"schema":3,"schema":3}', b"[" * 100_000):
        (tmp_path / FILE).write_bytes(content)
        with pytest.raises(ArtifactError, match="ompile the program again"):
            ArtifactMetadata.read(tmp_path)


def test_the_target_can_be_overridden_within_a_chip():
    made = metadata(platform="a2a3")
    assert made.on("a2a3sim").platform == "a2a3sim"
    assert made.on(None) is made
    with pytest.raises(ArtifactError, match="compiled for a2a3; compile it again for a5"):
        made.on("a5")
    with pytest.raises(ArtifactError, match="platform 'a3' does not exist"):
        made.on("a3")


# The boundary of one chip.


def tensors(count: int) -> list[ParamInfo]:
    return [ParamInfo(f"t{i}", In, (4,), pl.FP32) for i in range(count)]


def scalars(count: int) -> list[ParamInfo]:
    return [ParamInfo(f"s{i}", In, None, pl.INT32) for i in range(count)]


def test_the_argument_block_of_a_chip_is_limited():
    check_pool_capacity([*tensors(MAX_TENSORS), *scalars(MAX_SCALARS)])
    with pytest.raises(ValueError, match="takes 257 tensors; one run on a chip takes 256.*'t256'"):
        check_pool_capacity(tensors(MAX_TENSORS + 1))
    with pytest.raises(ValueError, match="takes 129 scalars; one run on a chip takes 128"):
        check_pool_capacity(scalars(MAX_SCALARS + 1))


def test_metadata_themselves_have_no_such_limit():
    # What spans several chips is described by the same records.
    many = tuple(tensors(MAX_TENSORS + 1))
    made = metadata(PROGRAM, params=many, lowered_params=many, return_count=0, return_aliases=())
    assert read(made.record()) == made
    with pytest.raises(ArtifactError, match="takes 257 tensors"):
        read(dataclasses.replace(made, capabilities=ExecutionCapabilities([KERNEL])).record())


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda p: p[:-1], "made 4 parameters of 5"),
        (lambda p: (p[1], p[0], *p[2:]), r"changed parameter 0 \('n'\): its name is 'x'"),
        (lambda p: rename(p, 1, "x2"), r"changed parameter 1 \('x'\): its name is 'x2'"),
        (lambda p: change_one(p, 3, direction=InOut), "its direction is InOut, expected is Out"),
        (lambda p: change_one(p, 3, dtype=pl.FP16), "its dtype is fp16, expected is fp32"),
        (lambda p: change_one(p, 3, shape=(32, 16)), r"its shape is \(32, 16\)"),
        (lambda p: change_one(p, 3, strides=(1, 16)), r"its strides is \(1, 16\)"),
        (lambda p: change_one(p, 2, shape=(-1, 32, 32)), "its shape"),
        (lambda p: change_one(p, 2, layout="ND"), "its layout is ND, expected is NZ"),
    ],
)
def test_lowering_may_not_change_the_signature(change, text):
    lowered = tuple(map(lowered_form, PARAMS))
    check_lowered_signature(PARAMS, lowered)
    with pytest.raises(ValueError, match=text):
        check_lowered_signature(PARAMS, change(lowered))


def change_one(params, index, **changes):
    made = list(params)
    made[index] = dataclasses.replace(made[index], **changes)
    return tuple(made)


def rename(params, index, name):
    return change_one(params, index, name=name)


def test_ssa_versions_of_names_do_not_count():
    lowered = rename(tuple(map(lowered_form, PARAMS)), 1, "x__ssa_v3")
    check_lowered_signature(PARAMS, lowered)


def test_the_record_has_no_other_fields():
    """No descriptor of a kernel's ABI, no version of an SDK."""
    assert set(metadata().record()) == {
        "schema",
        "entry",
        "params",
        "lowered_params",
        "num_return_types",
        "return_aliases",
        "platform",
        "backend_type",
        "runtime",
        "supported_execution_modes",
        "kernels",
    }
