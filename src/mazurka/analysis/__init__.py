"""What can be said about a program before it is searched: who shares what, under which lock.

Searches make use of these results; none of them searches anything itself.  `locksets` finds what
threads share and which locks protect it, from the program's text alone.
"""
