"""Which steps make one transition of a circuit: one module each."""
