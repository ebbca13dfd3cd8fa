"""The two extension modules that everything else stands on.

``acl`` is the vendor's interface; ``_native`` tells what it does not: figures, live blocks, a fresh start.
"""

from __future__ import annotations

_HELP = "build belay with scripts/build and source set_env.sh of the install tree, which sets PYTHONPATH"

try:
    import acl
except ImportError as error:
    raise ImportError(f"belay needs the module 'acl', which cannot be imported ({error}); {_HELP}") from error

if not hasattr(acl, "rt"):
    raise ImportError(f"the module 'acl' from {getattr(acl, '__file__', 'nowhere')} is another acl; {_HELP}")

try:
    from . import _native as native
except ImportError as error:
    raise ImportError(f"belay's extension cannot be imported ({error}); {_HELP}") from error

__all__ = ["acl", "native"]
