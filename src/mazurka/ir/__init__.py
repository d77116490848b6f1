"""The intermediate representation: programs, their meaning, and their native code."""
