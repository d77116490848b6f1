"""Models of library functions and objects for which an effect of the catalogue is not enough."""
