"""The compiled parts of the searches, in Numba's Python.

Each module that is a search defines `run(address)`, where `address` is that of a block as
`mazurka.stateful.blocks` lays it out.  `mazurka.compiled.cache` compiles it once and keeps
the machine code on disk, so these modules, and with them Numba, are imported only when that is
missing.
"""
