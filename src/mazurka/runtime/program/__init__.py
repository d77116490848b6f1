"""A test function as a program that can be run again and again."""
