"""How Python spells the operations on locks, queues and threads that the kit models.

Each module has the constructors of one kind of object and its methods: it matches the arguments of
a call as Python does, refuses what models cannot say, and leaves the rest to the kit.
"""
