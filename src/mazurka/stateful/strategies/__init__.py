"""One file a strategy; `mazurka.stateful.strategy` finds them."""
