"""What values expressions can have: intervals, sets, abstract interpretation, footprints."""
