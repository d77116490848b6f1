"""The module level of a model: what Python runs from top to bottom before the threads start.

Enter by `declarations`, which goes through it.  `module_run` and `beforehand` run its statements,
`signatures` evaluates what Python evaluates at `def` and `class`, `thread_list` reads `threads`.
"""
