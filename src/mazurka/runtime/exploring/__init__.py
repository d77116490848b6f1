"""Explore a test: run it under many schedules, and explain the first failure.

`entry` has the ways in.  `exploration` is the way through: `guard` checks that the test does the
same again, a search of `mazurka.stateless` runs the `observed_program`, with `races` as failures
where that is asked; `minimize` simplifies the schedule that fails.  `tokens` writes a failing
schedule as text, and follows it.  `workers` does the same with several processes.
"""
