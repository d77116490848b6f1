"""The compiled parts of the stateless engine, in Numba's Python.

Each module with a function `run(address)` is a kernel; `address` is that of a block as
`mazurka.stateless.blocks` lays it out.  `mazurka.compiled.cache` compiles it once and keeps the
machine code on disk, so these modules, and with them Numba, are imported only when that is missing.
"""
