"""Workers on several machines, whatever they do.

`crew` is what engines see of them.  `connection` reaches a cluster through a process of its own,
the *driver*: Ray's code cannot be interrupted while it starts or waits, and leaves processes behind
where it is cut short.  So Ray is never loaded into the process of the command.

| process | module | what it does |
|---|---|---|
| the command | `connection`, `line` | asks, and can give up at any moment |
| the supervisor | `supervisor` | ends all processes when the command is done, or gone |
| the driver | `driver`, `ray_crew` | starts or joins a cluster, and passes on what is asked |
| the workers | `ray_crew` | actors of Ray |

`ray_crew` is the only module that knows Ray.
"""
