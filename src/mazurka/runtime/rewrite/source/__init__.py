"""Rewriting source, so that its accesses can be observed: one subject a file.

Every construct that may touch shared data becomes a call of an event (`python.events`), which does
the same and reports it.  Rewritten code finds the events through one name in its module's namespace
(`core.sites.MARK`).  Evaluation order, line numbers, scopes and free variables stay as they
are, so that the code of a live function can be exchanged for the rewritten one.

Left as they are: names that a class binds for itself, or that are at the level of the module,
functions that look at the frame of their caller (`super`, `locals`, ...), and annotations of
functions with type parameters before Python 3.14.  From 3.14 on, annotations are evaluated when
somebody asks for them, in functions that the compiler makes; these are rewritten for whoever asks
for values, and left as they are for whoever asks for texts.

`statements` is the way in.  It builds on `expressions`, which makes the calls; `scopes` finds out
which names functions share.
"""
