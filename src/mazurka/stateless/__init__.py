"""Searches over schedules: a program is run again and again, and no state is stored.

`runs` is what programs and searches know of each other, `search` the loop that all searches share.
`bounded` has the searches with a bound on preemptions, `reduction` those that reverse races,
`models` the programs that are models; real threads are in `mazurka.runtime`.
"""
