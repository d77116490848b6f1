"""The values that expressions can have: intervals, sets, abstract interpretation, footprints."""
