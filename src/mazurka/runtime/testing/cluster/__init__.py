"""One exploration by the workers of a cluster, which explore branches of the tree of runs.

`exploration` leads.  On each worker's machine `worker` starts a process of its own for the test,
which runs `process`: a worker of a cluster has threads that are nobody's business here.
`thread_numbers` has all processes call threads the same.
"""
