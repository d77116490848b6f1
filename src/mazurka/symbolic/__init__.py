"""The symbolic engine: programs as circuits, and solvers over them."""
