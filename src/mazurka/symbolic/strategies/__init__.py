"""One file a strategy; `mazurka.search.registry` finds them."""

DEFAULT = "portfolio"
"""The strategy where nobody has named one."""
