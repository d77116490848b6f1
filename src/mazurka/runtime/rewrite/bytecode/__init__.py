"""Rewriting the instructions of code without source, so that its accesses can be observed.

What `rewrite.source` does to the source of a module is done here to a code object: wherever it may
touch shared data, it calls the same events (`python.events`), with the operands that lie on the
stack at that moment.  Nothing has to be guessed or evaluated twice, and who runs the code, in which
thread and namespace, does not matter.

`rewriting` is the way in.  `assembly` takes code objects apart and puts them together, `stack` says
what lies on the stack before each instruction, `builder` puts calls between instructions, `rules`
says which.
"""
