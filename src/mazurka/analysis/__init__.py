"""Static analyses of a program: which threads share which cells, and under which lock.

Searches use these results; the analyses themselves search nothing.  `locksets` finds which cells
threads share and which locks protect them, from the program's text alone.
"""
