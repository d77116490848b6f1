"""One file a strategy; `mazurka.search.registry` finds them."""

DEFAULT = "optimal-dpor"
"""The strategy where nobody has named one: it begins the fewest runs."""
