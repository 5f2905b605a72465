"""`python -m pypto …` is `pto …`."""

from __future__ import annotations

import sys

from pypto.cli import main

sys.exit(main())
