"""From a recorded run to a report that people read."""
