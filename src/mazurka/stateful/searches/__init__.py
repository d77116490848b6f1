"""The Python side of the compiled searches, one file each."""
