"""Kernel mode's process: one borrowed device context, one Worker, the calls in flight. Internal.

| file | what it holds |
|---|---|
| `session.py` | configuration, preflight, runtime capability, the session that binds a Worker to torch's context |
| `context.py` | the process manager: states, shared registration, cleanup of pending tickets |
| `owner.py` | the thread that owns the Worker's life |
| `callable.py` | identity of artifacts, registration records |
| `pending.py` | tickets: what a call in flight keeps alive, and the result of its callback |
| `teardown.py` | the hooks that close kernel mode before torch_npu goes away |
"""

from __future__ import annotations
