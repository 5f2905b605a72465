"""The package `ptoas`: modules from Python."""

from __future__ import annotations

import sys

import pytest
from tools_of_tree import ROOT

sys.path.insert(0, str(ROOT / "ptoas/python"))
import ptoas  # noqa: E402

TEXT = """!V = !pto.tile_buf<vec, 16x64xf32>
module attributes {pto.target_arch = "a2a3"} {
  func.func @k(%s: f32) attributes {pto.entry} {
    %t = pto.alloc_tile : !V
    pto.tadds ins(%t, %s : !V, f32) outs(%t : !V)
    return
  }
}
"""


def test_walk_shows_ops_values_and_places():
    module = ptoas.Module.parse(TEXT, "k.pto")
    ops = {op.name: op for op in module.walk()}
    assert list(ops) == [
        "builtin.module",
        "func.func",
        "pto.alloc_tile",
        "pto.tadds",
        "func.return",
    ]
    add = ops["pto.tadds"]
    assert add.location == ("k.pto", 5, 5)
    assert [v.type for v in add.operands][1] == "f32"
    assert add.operands[0] is add.operands[2] or add.operands[0] == add.operands[2]
    assert add.operands[0] == ops["pto.alloc_tile"].results[0]
    assert ops["builtin.module"].attributes == {"pto.target_arch": '"a2a3"'}
    (region,) = ops["func.func"].regions
    assert [v.type for v in region[0].arguments] == ["f32"]


def test_text_and_bytecode_give_the_module_back(tmp_path):
    module = ptoas.Module.parse(TEXT)
    path = tmp_path / "k.ptobc"
    path.write_bytes(module.bytecode())
    assert ptoas.Module.read(path).text() == module.text()
    assert ptoas.Module.parse(module.text()).text() == module.text()
    assert "loc(" in module.text(locations=True)


def test_check_places_tiles():
    module = ptoas.Module.parse(TEXT)
    module.check(level=2, insert_sync=True)
    assert "pto.alloc_tile addr = " in module.text()
    with pytest.raises(ptoas.Error, match="unexpected 'addr' operand"):
        module.check(level=2)
    with pytest.raises(ValueError, match="level must be 1, 2 or 3, got 4"):
        module.check(level=4)


def test_errors_name_every_place():
    wrong = TEXT.replace("outs(%t : !V)", "outs(%t : !V)\n    pto.barrier <PIPE_NO>")
    with pytest.raises(ptoas.Error, match=r"<module>:6:\d+: error: .*unknown pipe 'PIPE_NO'"):
        ptoas.Module.parse(wrong)
    with pytest.raises(ptoas.Error, match="byte 0"):
        ptoas.Module.parse(b"\\x00\\x01".decode("unicode_escape"))
    with pytest.raises(ptoas.Error, match="unknown architecture"):
        ptoas.Module.parse(TEXT, arch="a9")


def test_enums_of_the_dialect():
    names = "AddressSpace BLayout SLayout PadValue CompactMode RoundMode SaturationMode CmpMode PIPE Layout "
    names += "AccToVecMode ReluPreMode SyncOpType EVENT MaskPattern QuantType"
    for name in names.split():
        assert len(getattr(ptoas, name)) > 1
    assert ptoas.AddressSpace.vec == 6 and ptoas.PIPE.PIPE_UNASSIGNED == 99


def test_wrong_types_are_refused():
    for source in (None, 5, 3.5, ["module {}"], {}):
        with pytest.raises(TypeError, match="expected text or bytes of a module, got "):
            ptoas.Module.parse(source)
    with pytest.raises(TypeError, match="name must be a string, got None"):
        ptoas.Module.parse(TEXT, None)
    with pytest.raises(TypeError, match="arch must be a string, got 5"):
        ptoas.Module.parse(TEXT, arch=5)
    with pytest.raises(ptoas.Error, match="unknown architecture, expected a2, a3 or a5"):
        ptoas.Module.parse(TEXT, arch="a4")
    module = ptoas.Module.parse(TEXT)
    for level in (None, "2", 2.0, 0, -1, 10**30):
        with pytest.raises(ValueError, match=f"level must be 1, 2 or 3, got {level!r}"):
            module.check(level=level)
    module.check(insert_sync=None)
    assert module.text(locations=[]) == module.text()
