"""Round trip of ops that are written exactly as they are printed.

`check_text.py PTO_OPT FILE`: the printed module must be FILE again, apart from the names of values
and of type aliases, comments and blank lines; and what is printed must print the same once more.
"""

import re
import subprocess
import sys


def ops(text: str) -> list[str]:
    """The lines of a module with aliases replaced and values numbered in order of appearance."""
    aliases: dict[str, str] = {}
    numbers: dict[str, str] = {}
    lines = []
    for line in text.splitlines():
        line = line.split("//")[0].strip()
        alias = re.fullmatch(r"(!\w+) = (.*)", line)
        if alias:
            aliases[alias[1]] = re.sub(r"!\w+\b(?!\.)", lambda m: aliases.get(m[0], m[0]), alias[2])
            continue
        line = re.sub(r"!\w+\b(?!\.)", lambda m: aliases.get(m[0], m[0]), line)
        if line.startswith("func.func"):
            numbers.clear()
        # Several results of one op are printed as one name with a number behind it.
        line = re.sub(
            r"^((?:%\w+, )+%\w+) = ",
            lambda m: f"{m[1].split(',')[0]}:{m[1].count(',') + 1} = ",
            line,
        )
        line = re.sub(
            r'"[^"]*"|%\w+',
            lambda m: m[0] if m[0][0] == '"' else numbers.setdefault(m[0], f"%{len(numbers)}"),
            line,
        )
        if line and line != "module {":
            lines.append(line)
    return [line for line in lines if line != "}"]


def main() -> int:
    tool, path = sys.argv[1:]
    written = open(path).read()
    printed = subprocess.run([tool, path], check=True, capture_output=True, text=True).stdout
    again = subprocess.run([tool], input=printed, check=True, capture_output=True, text=True).stdout
    if printed != again:
        print(f"{path}: printed twice, the module differs\n{printed}\n--- and again ---\n{again}")
        return 1
    left, right = ops(written), ops(printed)
    for a, b in zip(left, right):
        if a != b:
            print(f"{path}: written and printed text differ:\n  written: {a}\n  printed: {b}")
            return 1
    if len(left) != len(right):
        print(f"{path}: {len(left)} lines are written, {len(right)} printed")
        return 1
    return 0


sys.exit(main())
