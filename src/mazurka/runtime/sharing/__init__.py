"""What threads can meet in: locations, the operations on them, and code that nobody watches.

`locations` decides which accesses are scheduling points, and proves that no others are needed;
`accesses` has the operations that stand for them, and `names` the names of objects, the same in
all equivalent runs.  `monitoring` lists what instrumented code calls and nobody watches.
"""
