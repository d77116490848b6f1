"""Executions as partial orders of events: size follows the accesses, not depth times state."""
