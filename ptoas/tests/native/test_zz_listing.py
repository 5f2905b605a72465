"""Every op of the language runs in some test of this folder, or is named here with the reason why not.

The last file of the folder: it looks at what the others have run.
"""

from __future__ import annotations

import re
from pathlib import Path

import native
import pytest

OPS = Path(__file__).resolve().parents[2] / "test/ops.txt"
KERNELS = Path(__file__).resolve().parents[1] / "kernels/level2"

# No code, and what says so.
WITHOUT_CODE = {"section.simt": "threads of the SIMT unit have no counterpart"}
# With code that a test cannot call.
NEVER_RUN = {"trap": "ends the process"}
# With code that no test here looks at by itself; modules of pypto may run it.
WITHOUT_TEST = set(
    """
    tstore_fp tmov.fp textract_fp tinsert_fp set_ffts set_cross_block wait_cross_block set_intra_block wait_intra_block
    declare_local_array local_array_get local_array_set subset
    tmatmul.mx.bias tgemv.mx tgemv.mx.acc tgemv.mx.bias
    """.split()
)


def ops_of_the_language() -> set[str]:
    """Names, without other spellings of the same op and without what is no op of this tree."""
    found: set[str] = set()
    for line in OPS.read_text().splitlines():
        line = line.strip()
        if line and line[0] not in "#[" and " = " not in line and " ! " not in line:
            found.update(line.split())
    return found


def test_every_op_runs(request):
    folder = Path(__file__).parent
    asked = {
        Path(item.path).name for item in request.session.items if Path(item.path).parent == folder
    }
    if asked != {path.name for path in folder.glob("test_*.py")}:
        pytest.skip("only a part of the tests was asked for")
    # The kernels run in a suite of their own.
    in_kernels = set()
    for file in KERNELS.glob("*.pto"):
        in_kernels |= set(re.findall(r"\bpto\.([a-z]\w*(?:\.[a-z]\w*)*)", file.read_text()))
    ops, ran = ops_of_the_language(), native.executed | in_kernels
    assert sorted(ops - ran - set(WITHOUT_CODE) - WITHOUT_TEST - set(NEVER_RUN)) == []
    # The lists do not outlive their reason.
    assert sorted(set(WITHOUT_CODE) & ran) == []
    assert sorted((set(WITHOUT_CODE) | WITHOUT_TEST) - ops) == []


def test_the_native_target_knows_the_ops_of_the_language():
    """Its dispatch table: all ops but those that are named here with a reason."""
    assert native.ops() == ops_of_the_language() - set(WITHOUT_CODE)


def test_what_has_no_code_is_refused():
    with pytest.raises(
        native.CompileError, match="pto.section.simt. is a program of A5.s SIMT unit"
    ):
        native.Code(
            'module attributes {pto.target_arch = "a5"} { func.func @f() attributes '
            "{pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
            "pto.section.simt <<<1, 4, 1>>> { pto.barrier <PIPE_V> }\n return } }"
        )
