"""One run of a real program: the scheduler, its threads, their operations, names and ends.

Begin with `operations`, what a thread can stand before, and `tasks`, threads and the threads of the
operating system that carry them.  `scheduler.Scheduler.point` is where all comes together: a thread
arrives before an operation, the search is asked who goes on, and the thread that runs hands over.

`host` is what a run knows of the program whose run it is.  `spinning` finds threads that go round a
loop and wait, `daemons` those that would go on for ever.  `failures`, with
`assertions`, says how a run ended while its frames are still there.  `names`, `sites`, `values` and
`insides` name and show things without running code of the program; `patches`
changes the interpreter, and puts it back; `collection` pauses the garbage collector.
"""
