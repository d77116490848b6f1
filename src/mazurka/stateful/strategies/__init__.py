"""One file a strategy; `mazurka.search.registry` finds them."""

DEFAULT = "auto"
"""`mazurka.stateful.auto` chooses where nobody has named a strategy."""
