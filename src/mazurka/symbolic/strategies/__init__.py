"""One file a strategy; `mazurka.search.registry` finds them."""

DEFAULT = "bmc"
"""The strategy where nobody has named one."""
