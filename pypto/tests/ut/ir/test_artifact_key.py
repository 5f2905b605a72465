"""Identities: typed digests, the toolchain, keys."""

from __future__ import annotations

import dataclasses
import importlib
import subprocess
import sys

import pytest
from pypto.ir import artifact_key
from pypto.ir.artifact import ArtifactExecutionMode
from pypto.ir.artifact_key import (
    ArtifactKey,
    ToolchainIdentity,
    digest_record,
    encode_record,
    toolchain_identity,
)
from pypto.ir.build_id import build_id

TOOLS = ToolchainIdentity("a", "b", "c", "d", "e")


def test_values_of_different_types_differ():
    values = [
        None,
        False,
        0,
        0.0,
        -0.0,
        "0",
        b"0",
        [0],
        (0,),
        {"0": 0},
        "",
        [],
        (),
        {},
        ["a", "b"],
        ["ab"],
    ]
    assert len({digest_record(value) for value in values}) == len(values)


def test_the_order_of_a_dict_does_not_count():
    assert encode_record({"a": 1, "b": [2]}) == encode_record({"b": [2], "a": 1})


def test_the_form_is_fixed():
    # A change of the form changes every key: it has to be meant.
    assert encode_record([1, "é"]) == b'["pypto.identity",1,["list",[["int","1"],["str","c3a9"]]]]'


def test_what_has_no_typed_form_is_refused():
    class Text(str):
        pass

    for value in (object(), {1: 2}, {1, 2}, Text("a"), 1j):
        with pytest.raises(TypeError):
            encode_record(value)
    loop: list = []
    loop.append(loop)
    with pytest.raises(ValueError, match="contains itself"):
        encode_record(loop)
    shared = [1]
    assert encode_record([shared, shared]) == encode_record([[1], [1]])


def test_lone_surrogates_have_a_form():
    assert digest_record("\ud800") != digest_record("\ud801")


def test_a_part_without_identity_makes_no_key():
    missing = dataclasses.replace(TOOLS, runtime=None, failures=("runtime: no library",))
    assert TOOLS.usable and not missing.usable
    with pytest.raises(ValueError, match="not identified: runtime: no library"):
        ArtifactKey(missing, "s", "t").digest  # noqa: B018


def test_every_part_counts():
    base = ArtifactKey(TOOLS, "source", "special")
    others = [
        dataclasses.replace(base, source_digest="x"),
        dataclasses.replace(base, specialization_digest="x"),
        *(
            dataclasses.replace(base, environment=dataclasses.replace(TOOLS, **{part: "x"}))
            for part in TOOLS.parts
        ),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == len(others) + 1
    assert base.digest == ArtifactKey(TOOLS, "source", "special").digest


def test_this_toolchain_is_known_by_build_ids():
    identity = toolchain_identity()
    assert identity.usable, identity.failures
    assert identity.pypto.startswith("build-id:")
    assert identity.runtime.startswith("build-id:")
    assert identity.pypto != identity.runtime != identity.pto_isa


def test_the_toolchain_is_the_same_in_another_process():
    text = "from pypto.ir.artifact_key import toolchain_identity as t; print(t().digest)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == toolchain_identity().digest


def test_a_build_id_needs_an_elf_file(tmp_path):
    file = tmp_path / "x"
    for content in (b"", b"text" * 100, b"\x7fELF" + bytes(60), b"\x7fELF\x02\x01" + b"\xff" * 90):
        file.write_bytes(content)
        with pytest.raises(ValueError):
            build_id(file)
    with pytest.raises(OSError):
        build_id(tmp_path / "absent")


def test_a_library_without_build_id_is_a_reason(monkeypatch):
    def none(path):
        raise ValueError("has no build id")

    monkeypatch.setattr("pypto.ir.build_id.build_id", none)
    identity = artifact_key.toolchain_identity.__wrapped__()
    assert not identity.usable
    assert any("has no build id" in why for why in identity.failures)


def test_the_key_holds_the_contract():
    from artifact_programs import GAIN, parse

    module = importlib.import_module("pypto.ir.compile")  # the name itself is the function

    program = parse(GAIN)
    keys = {
        module._request_for(program, platform, runtime, contract).artifact_key().digest
        for platform in ("a2a3sim", "a2a3")
        for runtime in (None, module.RuntimeKind.HOST_BUILD_GRAPH)
        for contract in ArtifactExecutionMode
    }
    assert len(keys) == 8
