"""And-inverter graphs, and numbers as words of their literals: nothing here knows programs."""
