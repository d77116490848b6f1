"""From one recorded run to a report that people read.

The way of a failing run: `recording` runs the program once more and writes a `story` (who did what,
where, and how it ended), with the places and values of `effects`, the names of `labels` and the
calls of `library_steps`.  `failure` puts into words what threads wait for, and what goes wrong.
`rows` makes one row of the steps of a thread on a line, and `report` draws them, with all
other `findings`, for the `result` of the exploration.
"""
