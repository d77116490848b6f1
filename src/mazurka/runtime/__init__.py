"""Real Python threads under control.

Every thread that a test starts is a real thread of the operating system, and exactly one of them
runs at a time.  Before each operation on something that threads share, the running thread asks the
search which thread goes on (`stateless.runs`), and hands over directly to the chosen one.
"""
