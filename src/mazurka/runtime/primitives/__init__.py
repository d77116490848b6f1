"""The synchronization primitives of the standard library under control, one module each.

A module holds all that Mazurka knows of its primitive, and declares it in a record,
`PRIMITIVE = Primitive(...)`.  `registry` finds the modules of this package and collects the
records; the other rooms ask it, and know no primitive by name unless it is special to them.
"""
