"""One run of a real program: the scheduler, its threads, operations, names and ends."""
