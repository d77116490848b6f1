"""One exploration by several processes that share what they have visited.

`parallel` leads: it scouts alone, starts a crew of processes, and tells the result.  Each of them
runs `process`, learns the `lessons` of the others, and does the `search` on the shared `table`.
"""
