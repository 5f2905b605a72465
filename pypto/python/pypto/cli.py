"""The command `pto`: `doctor`, `knobs`, `cache`, `run`."""

from __future__ import annotations

import argparse
import runpy
import sys

from pypto import __version__


def main(argv: list[str] | None = None) -> int:
    """Runs a command line and gives its exit code."""
    parser = argparse.ArgumentParser(
        prog="pto",
        description="Tile programs for Ascend-like NPUs, on this machine.",
        epilog="Environment variables: `pto knobs`.",
    )
    parser.add_argument("--version", action="version", version=f"pto {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    commands.add_parser("doctor", help="what is installed, what this CPU offers, what is missing")
    commands.add_parser("knobs", help="the environment variables, their values and what they do")
    cached = commands.add_parser("cache", help="compiled programs on disk")
    cached.add_argument("action", choices=["show", "clear"], nargs="?", default="show")
    runner = commands.add_parser("run", help="run a Python file; errors in programs show as text")
    runner.add_argument("file")
    runner.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return 2
    return _COMMANDS[options.command](options)


def _doctor(options: argparse.Namespace) -> int:
    from pypto import doctor

    findings = doctor.examine()
    for finding in findings:
        print(finding)
    return any(finding.state == "missing" for finding in findings)


def _knobs(options: argparse.Namespace) -> int:
    import os

    from pypto import knobs

    width = max(len(knob.env) for knob in knobs.KNOBS)
    bad = 0
    for knob in knobs.KNOBS:
        try:
            value = knobs.get(knob.env)
        except ValueError as error:
            print(f"{knob.env:<{width}}  ! {error}")
            bad = 1
            continue
        text = {True: "1", False: "0", "": "(empty)"}.get(value, str(value))
        mark = "*" if os.environ.get(knob.env) else " "
        print(f"{knob.env:<{width}} {mark} {text}")
        choices = f" ({', '.join(knob.choices)})" if knob.choices else ""
        print(f"{'':<{width}}   {knob.help}{choices}")
    print("* set in the environment")
    return bad


def _cache(options: argparse.Namespace) -> int:
    from pypto import cache, knobs

    if options.action == "clear":
        cache.clear()
    entries, size = cache.size()
    limit = knobs.get("PTO_CACHE_SIZE")
    state = "" if cache.enabled() else " (off: PTO_CACHE=0)"
    print(f"{cache.folder()}: {entries} programs, {size} of {limit} bytes{state}")
    return 0


def _run(options: argparse.Namespace) -> int:
    from pypto.errors import Error, render

    sys.argv = [options.file, *options.arguments]
    try:
        runpy.run_path(options.file, run_name="__main__")
    except Error as error:
        from pypto import knobs

        if knobs.get("PTO_BACKTRACE"):
            raise
        print(render(error), file=sys.stderr)
        return 1
    return 0


_COMMANDS = {"doctor": _doctor, "knobs": _knobs, "cache": _cache, "run": _run}
