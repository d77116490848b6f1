"""Machine code for a program: packed states and the step function."""
