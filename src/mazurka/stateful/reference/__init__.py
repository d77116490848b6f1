"""Each algorithm once more, plain, on the interpreter: the ones to read first, with the proofs.

Slow.  Tests hold the compiled searches against them, and so does `--self-check`.
"""
