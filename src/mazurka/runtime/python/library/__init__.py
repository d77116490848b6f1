"""Models of parts of the standard library that no row of the catalogue describes: one file each."""
