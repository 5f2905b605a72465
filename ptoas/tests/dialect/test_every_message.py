"""Every message of the dialect and its passes is given in some test: what the tests make the tools say is held
against the texts in the code, each alternative of a text for itself.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import test_messages
import test_op_constraints
import test_rules
from tools_of_tree import ROOT, tool

LIBRARY = ROOT / "ptoas/lib/Dialect/PTO"
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Texts that nothing written can bring about, and why.
OUT_OF_REACH = {
    "a view extent must not be negative, got ": "the parser of extents knows no sign",
    # What a plan is checked for; the planner is wrong if it is said.
    "memory plan: address .*? is not legal": "the planner keeps to the memory",
    "memory plan: shares bytes with a tile that is still in use": "the planner keeps tiles apart",
    "the other tile": "as above",
}


# ---- texts in the code --------------------------------------------------------------------------
def statements(code: str) -> Iterator[tuple[int, str]]:
    """Line and rest of each statement that gives a message."""
    code = re.sub(r"(?m)^\s*//.*$", "", code)
    for start in re.finditer(
        r"\b(?:emit(?:Op)?Error|emitRemark|emitWarning|error|attachNote)\(", code
    ):
        end, quoted = start.end(), False
        while end < len(code) and (quoted or code[end] != ";"):
            quoted ^= code[end] == '"' and code[end - 1] != "\\"
            end += 1
        yield code.count("\n", 0, start.start()) + 1, code[start.end() : end]


def pieces(statement: str) -> list[str]:
    """What stands between the << of a statement."""
    found, depth, quoted = [""], 0, False
    for at, sign in enumerate(statement):
        quoted ^= sign == '"' and statement[at - 1] != "\\"
        depth += not quoted and sign in "([{"
        depth -= not quoted and sign in ")]}"
        if not quoted and depth <= 0 and statement[at : at + 2] == "<<":
            found.append("")
        else:
            found[-1] += sign
    return [piece.removeprefix("<") for piece in found]


def strings(piece: str) -> list[str]:
    return [text.replace('\\"', '"').replace("\\n", "\n") for text in STRING.findall(piece)]


def texts_of(statement: str) -> list[str]:
    """Patterns of the messages that a statement gives: one, or one for each word that it chooses between."""
    parts: list[str | list[str]] = []
    for piece in pieces(re.sub(r'"\s*\n\s*"', "", statement)):
        bare = STRING.sub('""', piece)
        if re.search(r'[?:] *""', bare):
            chosen = re.findall(r'[?:]\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)', piece)
            parts.append(["".join(strings(choice)) for choice in chosen])
        elif not re.sub(r'""|[\s()]', "", bare):
            parts.append("".join(strings(piece)))
    choices = [
        (at, word) for at, part in enumerate(parts) if isinstance(part, list) for word in part
    ]
    patterns = []
    for chosen in [choice for choice in choices if len(choice[1]) > 1] or [(-1, "")]:
        words = [chosen[1] if at == chosen[0] else part for at, part in enumerate(parts)]
        patterns.append(".*?".join(re.escape(w) for w in words if w and isinstance(w, str)))
    return [pattern for pattern in patterns if pattern]


# ---- messages of the tests ----------------------------------------------------------------------
def said(path: Path, flags: list[str]) -> str:
    command = [tool("pto-opt"), str(path), "-split-input-file", *flags]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    found = re.findall(r":\d+:\d+: (?:error|warning|remark|note): (.*)", run.stderr)
    return "\n".join(sorted(set(found)))


def all_said(folder: Path, runs: list[tuple[str, list[str]]]) -> str:
    found = []
    for text, flags in runs:
        file = folder / "said.mlir"
        file.write_text(re.sub(r"//.*expected-.*", "", text))
        found.append(said(file, flags))
    return "\n".join(found)


def broken_rules(folder: Path) -> str:
    """What rules say: the generated cases, and the lit tests without their expectations."""
    runs: list[tuple[str, list[str]]] = [
        ("\n// -----\n".join(test_messages.texts()), []),
        ("\n// -----\n".join(text for *_, text in test_rules.Cases().cases), []),
    ]
    for path in sorted((ROOT / "ptoas/test").glob("[IT]*/**/*.mlir")):
        text = path.read_text()
        for line in re.findall(r"RUN:.*?%pto-opt([^|\n]*)", text):
            given = {"%s", "-split-input-file", "-verify-diagnostics"}
            runs.append((text, [word for word in shlex.split(line) if word not in given]))
    # Too long for a file: huge-texts.pto makes it, too.
    cases = " ".join(f"case {i} {{ scf.yield }}" for i in range(1001))
    text = f"func.func @f(%i: index) {{ scf.index_switch %i {cases} default {{ }} return }}"
    runs.append((text, ["-pto-structure-control-flow"]))
    return all_said(folder, runs)


def broken_constraints(folder: Path) -> str:
    cases = test_op_constraints.cases(test_rules.gen_isa.Records())
    return all_said(folder, [("// -----\n".join(case.text for case in cases), [])])


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messages")
    return broken_rules(folder) + broken_constraints(folder)


@pytest.mark.parametrize("folder", ["IR", "Transforms"])
def test_every_message_is_given(folder, given):
    count, missing = 0, []
    for path in sorted((LIBRARY / folder).glob("*.cpp")):
        for line, statement in statements(path.read_text()):
            for pattern in texts_of(statement):
                count += 1
                plain = re.sub(r"\\(.)", r"\1", pattern)
                if plain not in OUT_OF_REACH and not re.search(pattern, given):
                    missing.append(f"{path.name}:{line}: {plain}")
    assert count > 50
    assert not missing, "\n".join(missing)


def test_texts_out_of_reach_are_in_the_code(given):
    code = [
        text
        for path in LIBRARY.glob("*/*.cpp")
        for _, statement in statements(path.read_text())
        for text in texts_of(statement)
    ]
    assert set(OUT_OF_REACH) <= {re.sub(r"\\(.)", r"\1", text) for text in code}
    assert not any(re.search(text, given) for text in OUT_OF_REACH)
