"""The synchronization primitives of the standard library under control, one file each."""
