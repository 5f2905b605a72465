"""Tells CMake where torch_npu is installed (an empty line: nowhere); fails on a torch that pypto._torch_npu
cannot be built for.

The checks are explicit, not `assert`: they hold under PYTHONOPTIMIZE as well.
"""

import importlib.util
import os
import sys


def main() -> int:
    try:
        import torch
    except ImportError as error:
        print(f"{sys.executable} has no torch: {error}", file=sys.stderr)
        return 3
    if not torch._C._GLIBCXX_USE_CXX11_ABI:
        print(
            f"torch {torch.__version__} uses the C++ library's old ABI (_GLIBCXX_USE_CXX11_ABI=0); "
            "pypto._torch_npu needs a torch that was built with the C++11 ABI",
            file=sys.stderr,
        )
        return 4
    spec = importlib.util.find_spec("torch_npu")
    print(os.path.dirname(spec.origin) if spec and spec.origin else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
