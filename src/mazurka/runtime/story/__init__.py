"""From one recorded run to a report that people read.

The way of a failing run: `recording` runs the program once more and writes a `story` (who did what,
where, and how it ended), with the places and values of `effects`, the names of `labels` and the
calls of `library_steps`.  `failure` puts into words what threads wait for, and what goes wrong.
`diagnosing` finds out what that is due to: it has the run recorded with more details
(`detailed_run`), and looks for the `critical_order` of its steps in runs with `moved_steps`.
`rows` makes one row of the steps of a thread on a line, and `report` draws them, with all
other `findings`, for the `result` of the exploration.
"""
