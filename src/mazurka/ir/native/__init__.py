"""A program as machine code: packed states and the step function."""
