"""One file a strategy; `mazurka.search.registry` finds them."""
