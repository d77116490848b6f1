"""Places that threads share and that no object of the program stands for: files, settings.

`operations` is how a thread stands before an access to places.  `file_functions` and `settings`
say what functions of C code do to which of them; `files` finds the places of paths and open files.
"""
