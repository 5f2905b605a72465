"""`python -m simpler_setup.build_runtimes`: there is one runtime for all platforms, and it is part of the installation.

The command is kept for scripts that call it: it checks the names, makes sure that the runtime can be loaded, and lists
what there is.
"""

from __future__ import annotations

import argparse
import sys

from simpler_setup.platform_names import PLATFORMS, parse_platform
from simpler_setup.runtime_builder import RuntimeBuilder

RUNTIMES = ("tensormap_and_ringbuffer", "host_build_graph")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="build_runtimes", description="Lists the runtimes; nothing has to be built."
    )
    parser.add_argument("--platforms", nargs="*", default=list(PLATFORMS), metavar="NAME")
    parser.add_argument("--list", action="store_true", help="only the names")
    options = parser.parse_args(arguments)
    try:
        for platform in options.platforms:
            parse_platform(platform)
            for runtime in RUNTIMES:
                name = f"{platform}/{runtime}"
                print(
                    name
                    if options.list
                    else f"{name}: {RuntimeBuilder(platform).get_binaries(runtime).host}"
                )
    except (ValueError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
