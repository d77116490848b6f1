"""From a front end's raw program to one that can be searched, one pass a file."""
