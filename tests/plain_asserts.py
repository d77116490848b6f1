"""Leaves the assertions of Mazurka and of Hypothesis as they are.

`tests/conftest.py` imports this before anything else.
pytest rewrites the assertions of all packages that bring a plugin, so that they explain themselves
when they fail.  For their hundreds of modules that takes longer than compiling them, in each
process, and every assertion that holds takes longer, too.  There is no setting for it.  Where
pytest keeps its marks elsewhere, they stay, and tests only begin later.
"""

from __future__ import annotations

import sys

for finder in sys.meta_path:
    marked = getattr(finder, "_must_rewrite", None)
    known = getattr(finder, "_marked_for_rewrite_cache", None)
    if isinstance(marked, set) and isinstance(known, dict):
        marked -= {"mazurka", "hypothesis"}
        known.clear()
