"""Hostile input: damaged files and values for everything that Mazurka reads.

`mutations` damages a text, `inputs` knows what Mazurka reads and makes damaged input of each kind,
`children` reads one input in a forked process with limits and judges how that ended.
`benchmarks/hostile.py` runs as many inputs as you like, `test_hostile_input.py` a few hundred.
"""
